"""A search for settings: trials of one recipe, of which the best on dev is kept."""

from spanwright.tuning.plan import TuningPlan, load_plan, make_plan
from spanwright.tuning.search import TrialWatcher, tune
from spanwright.tuning.study import TrialOutcome, Tuned

__all__ = ["TrialOutcome", "TrialWatcher", "Tuned", "TuningPlan", "load_plan", "make_plan", "tune"]
