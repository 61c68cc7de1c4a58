"""Scores of predicted entities against gold ones, and what they are made of. Needs no torch."""

from spanwright.evaluation.bleu import corpus_bleu
from spanwright.evaluation.breakdowns import Breakdowns, break_down
from spanwright.evaluation.calibration import Calibration, fit_calibration, fit_isotonic, fit_temperature
from spanwright.evaluation.columns import Comparison, compare_documents
from spanwright.evaluation.criteria import CRITERIA, Criterion, CriterionScores, Matches, score
from spanwright.evaluation.effects import Effect, best, correlation, mean_slope, over_runs, slope, together
from spanwright.evaluation.matching import Pair, Pairing, pair_documents
from spanwright.evaluation.mistakes import Confusion, Example, Mistakes, find_confusions, find_mistakes
from spanwright.evaluation.reliability import (
    Bin,
    expected_calibration_error,
    log_loss,
    reliability_bins,
)
from spanwright.evaluation.scores import Averages, Counts, Scores, evaluate, strict_scores
from spanwright.evaluation.seeds import Spread, compare_runs, f1_interval, over_seeds
from spanwright.evaluation.significance import (
    Difference,
    Interval,
    confidence_intervals,
    paired_bootstrap,
    paired_randomisation,
)
from spanwright.evaluation.thresholds import Confidences, collect_confidences, tune_thresholds

__all__ = [
    "CRITERIA",
    "Averages",
    "Bin",
    "Breakdowns",
    "Calibration",
    "Comparison",
    "Confidences",
    "Confusion",
    "Counts",
    "Criterion",
    "CriterionScores",
    "Difference",
    "Effect",
    "Example",
    "Interval",
    "Matches",
    "Mistakes",
    "Pair",
    "Pairing",
    "Scores",
    "Spread",
    "best",
    "break_down",
    "collect_confidences",
    "compare_documents",
    "compare_runs",
    "confidence_intervals",
    "corpus_bleu",
    "correlation",
    "evaluate",
    "expected_calibration_error",
    "f1_interval",
    "find_confusions",
    "find_mistakes",
    "fit_calibration",
    "fit_isotonic",
    "fit_temperature",
    "log_loss",
    "mean_slope",
    "over_runs",
    "over_seeds",
    "pair_documents",
    "paired_bootstrap",
    "paired_randomisation",
    "reliability_bins",
    "score",
    "slope",
    "strict_scores",
    "together",
    "tune_thresholds",
]
