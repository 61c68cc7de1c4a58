"""Span representations: word states and spans to span vectors."""
