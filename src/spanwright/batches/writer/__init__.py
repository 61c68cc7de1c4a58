"""Gold spans as words, and the words that auto-encoders of spans (Joint-IB) can write."""
