"""Training: one loop, exact resume, a journal of everything."""
