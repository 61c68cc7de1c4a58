"""What learns beside the span scores: the tagger, the writer of Joint-IB, the conditional auto-encoder."""
