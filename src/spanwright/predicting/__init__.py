"""Using models on text."""
