"""Transforms: span vectors to span vectors, between a representation and a scorer. None is the identity."""
