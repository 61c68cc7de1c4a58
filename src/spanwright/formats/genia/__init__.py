"""GENIA: term XML and JSON lines of tokens."""
