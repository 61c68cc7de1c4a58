"""Auxiliaries: parts beside the scorer that share its encoder and add a loss of their own."""
