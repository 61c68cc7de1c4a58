"""What a trained model makes of spans: where their vectors lie, and how their scores are spread."""

from spanwright.analysis.inspection import Inspection, inspect_spans
from spanwright.analysis.pictures import draw_inspection
from spanwright.analysis.spans import SpanSample, collect_spans

__all__ = ["Inspection", "SpanSample", "collect_spans", "draw_inspection", "inspect_spans"]
