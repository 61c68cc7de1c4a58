"""Spanwright inside other libraries."""
