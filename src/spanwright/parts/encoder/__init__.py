"""From pieces to word states: backbones, where their weights come from, adapters."""
