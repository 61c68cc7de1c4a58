"""What the auto-encoders of spans (Joint-IB) learn: texts to write, and vectors of their words."""
