"""The README.md of a model directory. It begins with the metadata that the Hugging Face Hub reads."""

from __future__ import annotations

import html
import re
from typing import Any

from spanwright.errors import counted
from spanwright.labels import LabelSpace
from spanwright.model_files.digests import TRAINING_IDS
from spanwright.settings import Settings

_TASK = "token-classification"
_METRICS = ("precision", "recall", "f1")
_INHERITED = "The weights inherit the terms of the encoder and of the training corpora: check both."


def model_card(settings: Settings, labels: LabelSpace, facts: dict[str, Any]) -> str:
    """What a stranger must know to use a model: types, data, scores, settings, how to load it."""
    name, summary = facts.get("name", settings.name), facts.get("summary", settings.description)
    sections = [
        _metadata(name, facts),
        f"# {name} on {settings.encoder.name}",
        f"A named entity recognition model made with Spanwright. {summary}.",
        "## Types\n\n" + "\n".join(f"- {_in_one_line(name)}" for name in dict.fromkeys(labels.types)),
        "## Use\n\n```python\nimport spanwright\n\n"
        f'tagger = spanwright.load("{facts.get("name", "path/of/this/folder")}")\n'
        'for entity in tagger.tag("Your text.").entities:\n    print(entity)\n```',
        _intended_use(facts),
        _limits(settings),
        _corpora(facts.get("corpora", {})),
        _data(facts.get("data", {})),
        _tests(facts.get("tests", {})),
        _scores(facts.get("scores", {})),
        _confidence(facts.get("confidence", {})),
        _speed(facts.get("speed", {})),
        _pruning(facts.get("pruning", {})),
        "## Licence\n\n" + facts.get("licence", _INHERITED),
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


def _intended_use(facts: dict[str, Any]) -> str:
    """What a model is made for, and what for it is not, where its makers say so."""
    if "use" not in facts:
        return ""
    weak = [f"- {text}" for text in facts.get("weak", ())]
    return "\n".join(
        ["## Intended use", "", facts["use"], "", "What it is bad at, or not made for:", "", *weak]
    )


def _corpora(corpora: dict[str, Any]) -> str:
    """Where each training corpus is from, and how many of its documents were left out."""
    if not corpora:
        return ""
    rows = [
        f"| {name} | {entry['source']} | {entry['terms']} | {entry['documents']:,} | {entry['left_out']:,} |"
        for name, entry in corpora.items()
    ]
    header = [
        "## Corpora",
        "",
        "Left out: documents for training that stand in the test split of any of these corpora, as the same "
        "article, the same text or nearly the same text. The ids of all training documents are in "
        f"`{TRAINING_IDS}`.",
        "",
    ]
    columns = "| corpus | source | terms | training documents | left out |"
    return "\n".join([*header, columns, "|---|---|---|---:|---:|", *rows])


def _tests(tests: dict[str, Any]) -> str:
    """The scores on test splits, each with its interval, and those of each type."""
    if not tests:
        return ""
    rows, types = [], []
    for split, entry in tests.items():
        low, high = (f"{100 * limit:.1f}" for limit in entry["interval"])
        ratios = " | ".join(f"{100 * entry[metric]:.1f}" for metric in _METRICS)
        rows.append(f"| {split} | {entry['documents']:,} | {ratios} ({low} to {high}) |")
        types += [(found["f1"], split, name, found["gold"]) for name, found in entry["types"].items()]
    header = [
        "## Tests",
        "",
        "Strict: exact characters and type, every gold entity counted, answered as the corpus would; F1 with "
        "its 95 % interval over documents. Measured with the 8-bit graph.",
        "",
    ]
    by_type = [f"| {name} | {split} | {gold:,} | {100 * f1:.1f} |" for f1, split, name, gold in sorted(types)]
    return "\n".join(
        [
            *header,
            *("| test split | documents | precision | recall | F1 |", "|---|---:|---:|---:|---:|", *rows),
            *("", "By type, the lowest first:", ""),
            *("| type | test split | entities | F1 |", "|---|---|---:|---:|", *by_type),
        ]
    )


def _speed(speed: dict[str, Any]) -> str:
    if not speed:
        return ""
    return (
        f"## Speed\n\n{speed['words_per_second']:,.0f} words per second from text to entities, on "
        f"{counted(speed['threads'], 'thread')} of {speed['machine']}, with the 8-bit graph."
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
        origin = (
            f"The network's own: {predictions}, are too few for a calibration or gave none that is better."
        )
    else:
        origin = (
            f"Calibrated ({confidence['calibration']}) on the {predictions}: the share to expect correct."
        )
    rows = [
        f"| {'dev (in-sample: fitted on it)' if split == 'dev' else split} | "
        f"{100 * error['before']:.1f} | {100 * error['after']:.1f} |"
        for split, error in confidence["calibration_error"].items()
    ]
    header = ["## Confidence", "", origin, "", "Expected calibration error in percent, ten bins:", ""]
    return "\n".join([*header, "| split | before | after |", "|---|---|---|", *rows])
