"""Corpus files to documents and back: one module per format."""
