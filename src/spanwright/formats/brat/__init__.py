"""BRAT standoff."""
