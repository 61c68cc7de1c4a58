"""Starting from a trained model: which of its weights a new model takes.

The encoder and its tokenizer are those of the old model. Every other part takes the weights of the old one if
it is the same part, of the same size, and reads what the old one read. Rows that stand for types are taken by
the names of types, those of widths as far as both have them; all else starts from scratch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from spanwright import artifact
from spanwright.artifact import TrainedModel
from spanwright.errors import SettingsError
from spanwright.formats.io.whole_files import digest_of_files
from spanwright.labels import LabelSpace
from spanwright.model_files.digests import REQUIRED
from spanwright.model_files.folders import model_folder
from spanwright.parts.beside.tagger import WordTagger
from spanwright.parts.model import SpanModel
from spanwright.parts.part import Part, Row, Rows
from spanwright.parts.spans.scorers.scorer import Scorer
from spanwright.parts.spans.transforms.transformed import Transformed
from spanwright.settings import Settings

_OF_TYPES = ("type", "begin", "inside")


@dataclass(slots=True)
class Taken:
    """What a new model has from the one that its training starts from."""

    model: str
    parts: list[str] = field(default_factory=list)
    fresh: dict[str, str] = field(default_factory=dict)
    """Parts that start from scratch, and why."""
    types: dict[str, str] = field(default_factory=dict)
    """Types whose rows are taken, and those of the old model that they are from."""
    new_types: list[str] = field(default_factory=list)


def model_digest(model: str | Path) -> str:
    """What identifies a model: a digest of its files."""
    folder = model_folder(model)
    return digest_of_files(folder / name for name in REQUIRED)


def load_start(settings: Settings) -> TrainedModel | None:
    """The model that settings start from, if they do."""
    if settings.start is None:
        return None
    model, known = settings.start.model, settings.start.digest
    if known is not None and known != model_digest(model):
        raise SettingsError(
            f"start.model {model!r} is not the model whose digest is start.digest; leave out "
            f"start.digest, or start from the same model"
        )
    start = artifact.load(model)
    theirs, ours = start.settings.encoder.name, settings.encoder.name
    if theirs != ours:
        raise SettingsError(
            f"start.model {model!r} has the encoder {theirs!r}, but encoder.name is {ours!r}; weights fit "
            f"their own encoder and tokenizer only: give --encoder {theirs}"
        )
    return start


def take(model: TrainedModel, start: TrainedModel, name: str) -> Taken:
    """Give a new model the weights of the one that it starts from, as far as they fit."""
    known = KnownRows(model.labels, start.labels)
    taken = Taken(name, ["encoder"])
    _copy_rows(model.network.encoder, start.network.encoder, known)
    for new, old in (
        (_span_parts(model.network), _span_parts(start.network)),
        *(({name: part}, _word_parts(start.network)) for name, part in _word_parts(model.network).items()),
    ):
        _take_in_order(new, old, known, taken)
    names = zip(model.labels.names, known.types, strict=True)
    found = {name: start.labels.names[type_] if type_ is not None else None for name, type_ in names}
    by_type = {"scorer", "tagger"} & set(taken.parts)
    taken.types = {name: origin for name, origin in found.items() if origin is not None and by_type}
    taken.new_types = [name for name in found if name not in taken.types]
    return taken


def _take_in_order(
    new: Mapping[str, nn.Module], old: Mapping[str, nn.Module], known: KnownRows, taken: Taken
) -> None:
    """Take parts of which each reads what the one before it makes, until one starts from scratch."""
    before = None
    for name, part in new.items():
        reason = f"the {before} before it does" if before else _misfit(part, old.get(name), known)
        if reason is not None:
            taken.fresh[name], before = reason, before or name
            continue
        _copy(part, old[name], known)
        taken.parts.append(name)


def _span_parts(network: SpanModel) -> dict[str, nn.Module]:
    """The parts that make and score span vectors, each from what the one before it makes."""
    if network.spans is None:
        return {}
    made = network.spans.representation
    if not isinstance(made, Transformed):
        return {"representation": made, "scorer": network.spans.scorer}
    transforms = {f"transform {number}": part for number, part in enumerate(made.transforms, start=1)}
    return {"representation": made.representation, **transforms, "scorer": network.spans.scorer}


def _word_parts(network: SpanModel) -> dict[str, nn.Module]:
    """The parts that read nothing but the encoder."""
    parts = {"pruner": network.spans.pruner if network.spans else None, "tagger": network.tagger}
    return {name: part for name, part in parts.items() if part is not None}


def _misfit(new: nn.Module, old: nn.Module | None, known: KnownRows) -> str | None:
    """Why a part cannot take the weights of another; None if it can."""
    if old is None:
        return "there is none"
    if type(new) is not type(old):
        return "it is of another kind there"
    if getattr(new, "ingredients", None) != getattr(old, "ingredients", None):
        return "its ingredients differ"
    rows, ours, theirs = rows_of(new), new.state_dict(), old.state_dict()
    if not rows and _judges_types(new) and not known.same_types:
        return "its rows do not name their types"
    if ours.keys() != theirs.keys():
        return "it has other weights there"
    for name, tensor in ours.items():
        axes = len(rows.get(name, ()))
        if tensor.shape[axes:] != theirs[name].shape[axes:]:
            return f"{name} is {_sizes(tensor)}, and {_sizes(theirs[name])} there"
    return None


def _judges_types(part: nn.Module) -> bool:
    return isinstance(part, Scorer | WordTagger) and bool(part.terms)


def _sizes(tensor: Tensor) -> str:
    return " x ".join(map(str, tensor.shape)) or "one number"


def rows_of(part: nn.Module) -> Rows:
    """What the rows of all weights in a part stand for."""
    return {
        f"{place}.{name}" if place else name: axes
        for place, inner in part.named_modules()
        if isinstance(inner, Part)
        for name, axes in inner.named_rows().items()
    }


def _copy(new: nn.Module, old: nn.Module, known: KnownRows) -> None:
    """Copy the weights of a part that fits, but of those with rows only what both have."""
    rows, theirs = rows_of(new), old.state_dict()
    with torch.no_grad():
        for name, tensor in new.state_dict().items():
            if name not in rows:
                tensor.copy_(theirs[name])
    _copy_rows(new, old, known)


def _copy_rows(new: nn.Module, old: nn.Module, known: KnownRows) -> None:
    """Copy the rows that both parts have."""
    ours, theirs, rows = new.state_dict(), old.state_dict(), rows_of(old)
    for name, axes in rows_of(new).items():
        if name not in rows:
            continue
        pairs = [known.places(mine, other) for mine, other in zip(axes, rows[name], strict=True)]
        source = theirs[name]
        for axis, (_, places) in enumerate(pairs):
            source = source.index_select(axis, places)
        with torch.no_grad():
            ours[name][torch.meshgrid(*(places for places, _ in pairs), indexing="ij")] = source


class KnownRows:
    """Which rows of an old model the rows of a new one are, by the names of types and corpora."""

    def __init__(self, new: LabelSpace, old: LabelSpace) -> None:
        self.types = [_known_type(new, old, position) for position in range(len(new))]
        """For each type its id in the old model; None for types that it does not know."""
        self.same_types = new.keys == old.keys
        self._corpora = [old.corpora.index(name) if name in old.corpora else None for name in new.corpora]
        self._none = [self._none_of(new, old, corpus) for corpus in range(len(new.sizes))]

    def places(self, new: Sequence[Row], old: Sequence[Row]) -> tuple[Tensor, Tensor]:
        """The places of the new rows that are known, and those of the old rows that they are."""
        position = {row: place for place, row in enumerate(old)}
        origins = [self._old(row) for row in new]
        known = [(place, position[row]) for place, row in enumerate(origins) if row in position]
        places, others = ([pair[side] for pair in known] for side in (0, 1))
        return torch.tensor(places, dtype=torch.long), torch.tensor(others, dtype=torch.long)

    def _old(self, row: Row) -> Row | None:
        """The row of the old model that a row is, if it may have it."""
        kind, number = row
        if kind in _OF_TYPES:
            found = self.types[number]
        elif kind == "corpus":
            found = self._corpora[number]
        else:
            found = self._none[number] if kind == "none" else number
        return None if found is None else (kind, found)

    def _none_of(self, new: LabelSpace, old: LabelSpace, corpus: int) -> int:
        """The old corpus whose no entity serves a new one: its own, or that of most of its types."""
        if not old.corpus:
            return 0
        own = self._corpora[corpus] if new.corpus else None
        origins = Counter(
            old.corpus[found]
            for found, (_, place) in zip(self.types, new.keys, strict=True)
            if found is not None and place == corpus
        )
        return own if own is not None else origins.most_common(1)[0][0] if origins else 0


def same_name(first: str, second: str) -> bool:
    """Whether two types have one name, but for case and other signs, as `cell_line` and `CellLine` have."""
    ours, theirs = ("".join(filter(str.isalnum, name.casefold())) for name in (first, second))
    return first == second or ours == theirs != ""


def _known_type(new: LabelSpace, old: LabelSpace, position: int) -> int | None:
    """The old type of the same name, however it is written.

    Of several, one that is written the same, then that of the same corpus, then that of the first corpus,
    which answers where none is asked for.
    """
    name, corpus = new.keys[position]
    own = new.corpora[corpus] if new.corpus else None

    def distance(found: int) -> tuple[bool, bool, int]:
        theirs = old.corpora[old.corpus[found]] if old.corpus else None
        return old.types[found] != name, theirs != own, found

    named = [found for found, type_ in enumerate(old.types) if same_name(type_, name)]
    return min(named, key=distance, default=None)
