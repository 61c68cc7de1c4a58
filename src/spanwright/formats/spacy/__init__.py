"""spaCy's binary files."""
