"""Scorers: span vectors to scores, scores to losses and to predictions."""
