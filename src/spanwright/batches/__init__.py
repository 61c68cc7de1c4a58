"""From documents to batches of tensors: words, pieces, windows, candidate spans, golds, order."""
