"""Scores of predicted entities against gold ones. Needs no torch."""

from spanwright.evaluation.matching import Pair, Pairing, pair_documents
from spanwright.evaluation.scores import Averages, Counts, Scores, evaluate

__all__ = ["Averages", "Counts", "Pair", "Pairing", "Scores", "evaluate", "pair_documents"]
