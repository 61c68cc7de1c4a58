"""From word states to scored spans: representations, transforms, scorers, pruning."""
