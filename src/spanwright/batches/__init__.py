"""From documents to batches of arrays: words, pieces, windows, candidate spans, golds, order."""
