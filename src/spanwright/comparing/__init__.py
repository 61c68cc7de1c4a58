"""Recipes x corpora x seeds from one plan: resumable runs, tables, significance and pictures."""

from spanwright.comparing.comparison import ComparisonWatcher, SilentComparison, compare
from spanwright.comparing.outcomes import RunOutcome
from spanwright.comparing.plan import Plan, load_plan, make_plan
from spanwright.comparing.results import CorpusResult, RecipeResult, Results
from spanwright.comparing.runs import Run

__all__ = [
    "ComparisonWatcher",
    "CorpusResult",
    "Plan",
    "RecipeResult",
    "Results",
    "Run",
    "RunOutcome",
    "SilentComparison",
    "compare",
    "load_plan",
    "make_plan",
]
