"""Which texts to annotate next."""
