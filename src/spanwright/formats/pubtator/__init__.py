"""PubTator."""
