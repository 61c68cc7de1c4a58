"""Small layers that several parts have."""
