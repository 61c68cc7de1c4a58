"""Column files: CoNLL and its relatives."""
