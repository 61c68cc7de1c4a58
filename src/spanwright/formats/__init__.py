"""Corpus files: what a format is, how files are recognised, read and written; a room for each format."""
