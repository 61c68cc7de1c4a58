"""A search for settings: trials of one recipe, of which the best on dev is kept."""

from spanwright.tuning.outcomes import TrialOutcome, Tuned
from spanwright.tuning.plan import TuningPlan, load_plan, make_plan
from spanwright.tuning.search import TrialWatcher, tune

__all__ = ["TrialOutcome", "TrialWatcher", "Tuned", "TuningPlan", "load_plan", "make_plan", "tune"]
