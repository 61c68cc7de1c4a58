"""The README.md of a model directory. It begins with the metadata that the Hugging Face Hub reads."""

from __future__ import annotations

import html
import re
from typing import Any

from spanwright.labels import LabelSpace
from spanwright.settings import Settings

_TASK = "token-classification"
_METRICS = ("precision", "recall", "f1")


def model_card(settings: Settings, labels: LabelSpace, facts: dict[str, Any]) -> str:
    """What a stranger must know to use a model: types, data, scores, settings, how to load it."""
    sections = [
        _metadata(settings.name, facts),
        f"# {settings.name} on {settings.encoder.name}",
        f"A named entity recognition model made with Spanwright. {settings.description}.",
        "## Types\n\n" + "\n".join(f"- {_in_one_line(name)}" for name in labels.types),
        "## Use\n\n```python\nimport spanwright\n\n"
        'tagger = spanwright.load("path/of/this/folder")\n'
        'for entity in tagger.tag("Your text.").entities:\n    print(entity)\n```',
        _limits(settings),
        _data(facts.get("data", {})),
        _scores(facts.get("scores", {})),
        _confidence(facts.get("confidence", {})),
        _pruning(facts.get("pruning", {})),
        "## Licence\n\nThe weights inherit the terms of the encoder and of the training corpora: check both.",
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _metadata(name: str, facts: dict[str, Any]) -> str:
    """YAML between two lines of hyphens: what kind of model this is, its licence if known, its scores."""
    from huggingface_hub import EvalResult, ModelCardData

    results = [
        EvalResult(
            task_type=_TASK,
            dataset_type="unknown",
            dataset_name=_plain(split),
            dataset_split=_plain(split),
            metric_type=metric,
            metric_value=float(scores[metric]),
        )
        for split, scores in facts.get("scores", {}).items()
        for metric in _METRICS
    ]
    data = ModelCardData(
        library_name="spanwright",
        pipeline_tag=_TASK,
        tags=["spanwright", "named-entity-recognition"],
        license=facts.get("license"),
        metrics=list(_METRICS) if results else None,
        model_name=_plain(name) if results else None,
        eval_results=results or None,
    )
    return f"---\n{data.to_yaml()}\n---"


def _plain(name: str) -> str:
    """A name without what readers of YAML may take for more than a letter."""
    return re.sub(r"[^\w .-]+", "-", name).strip()


def _in_one_line(name: str) -> str:
    """A type as Markdown that shows its name and cannot begin anything else."""
    return html.escape(" ".join(name.split()), quote=False)


def _limits(settings: Settings) -> str:
    return (
        "## Limits\n\n"
        f"Spans of up to {settings.candidates.width_limit} words are candidates; longer entities and "
        f"discontinuous ones are never found. Overlaps in the answers: {settings.decoding}. Texts of any "
        f"length are read in overlapping windows of {settings.windows.pieces} pieces."
    )


def _data(data: dict[str, Any]) -> str:
    if not data:
        return ""
    rows = [
        f"| {split} | {report['documents']} | {report['words']} | {report['entities']} |"
        for split, report in data.items()
    ]
    return "\n".join(["## Data", "", "| split | documents | words | entities |", "|---|---|---|---|", *rows])


def _scores(scores: dict[str, Any]) -> str:
    if not scores:
        return ""
    rows = [
        f"| {split} | {100 * s['precision']:.1f} | {100 * s['recall']:.1f} | {100 * s['f1']:.1f} |"
        for split, s in scores.items()
    ]
    header = ["## Scores", "", "Strict: exact characters and type, every gold entity counted.", ""]
    return "\n".join([*header, "| split | precision | recall | F1 |", "|---|---|---|---|", *rows])


def _pruning(pruning: dict[str, Any]) -> str:
    """How many candidates and golds the pruner keeps."""
    if not pruning:
        return ""
    rows = [
        f"| {split} | {100 * report['kept_share']:.1f} | {100 * report['recall']:.2f} |"
        for split, report in pruning.items()
    ]
    header = [
        "## Candidate pruning",
        "",
        "What is kept, in percent; no recall is above that of the golds:",
        "",
    ]
    return "\n".join([*header, "| split | candidates | golds |", "|---|---|---|", *rows])


def _confidence(confidence: dict[str, Any]) -> str:
    """How confidences were calibrated, and how far they are from probabilities on each split."""
    if not confidence:
        return ""
    predictions = f"{confidence['dev_predictions']} predictions on dev, {confidence['dev_correct']} correct"
    if confidence["calibration"] == "none":
        told = f"The network's own: {predictions}, are too few for a calibration or gave none that is better."
    else:
        told = f"Calibrated ({confidence['calibration']}) on the {predictions}: the share to expect correct."
    rows = [
        f"| {'dev (in-sample: fitted on it)' if split == 'dev' else split} | "
        f"{100 * error['before']:.1f} | {100 * error['after']:.1f} |"
        for split, error in confidence["calibration_error"].items()
    ]
    header = ["## Confidence", "", told, "", "Expected calibration error in percent, ten bins:", ""]
    return "\n".join([*header, "| split | before | after |", "|---|---|---|", *rows])
