"""Joint-IB's auto-encoders, which write the words of gold spans and of their synonyms."""
