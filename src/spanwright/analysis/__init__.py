"""What a trained model makes of spans: their vectors, how scores are spread, and what is written of them."""

from spanwright.analysis.generation import (
    GenerationScores,
    WritingScores,
    WrittenSpan,
    left_out,
    rewritten,
    score_written,
    writes_synonyms,
)
from spanwright.analysis.inspection import Inspection, inspect_spans
from spanwright.analysis.pictures import draw_inspection
from spanwright.analysis.spans import SpanSample, collect_spans

__all__ = [
    "GenerationScores",
    "Inspection",
    "SpanSample",
    "WritingScores",
    "WrittenSpan",
    "collect_spans",
    "draw_inspection",
    "inspect_spans",
    "left_out",
    "rewritten",
    "score_written",
    "writes_synonyms",
]
