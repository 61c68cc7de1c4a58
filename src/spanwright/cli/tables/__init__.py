"""Everything that is drawn for the terminal as a table."""
