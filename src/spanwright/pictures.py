"""The one style of all pictures that matplotlib draws (extra `report`): that of the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spanwright.errors import MissingExtraError
from spanwright.palette import SYSTEM_COLOURS

INK, QUIET, RULE, GRID, SURFACE = "#1b2430", "#566273", "#c9d1da", "#e6eaef", "#ffffff"
DIVERGING = ("#9f4a12", "#e8a87c", "#f7f8fa", "#7fb0e0", "#1f5fa8")
"""From low over the middle, which is pale, to high: orange and blue, which everybody can tell apart."""
_STYLE: Mapping[str, Any] = {
    "figure.facecolor": SURFACE,
    "figure.titlesize": 12,
    "figure.titleweight": "bold",
    "figure.constrained_layout.use": True,
    "savefig.dpi": 150,
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "text.parse_math": False,
    "axes.facecolor": SURFACE,
    "axes.edgecolor": RULE,
    "axes.labelcolor": QUIET,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": RULE,
    "ytick.color": RULE,
    "xtick.labelcolor": QUIET,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "errorbar.capsize": 3,
    "patch.linewidth": 0,
}


@contextmanager
def styled(task: str = "a picture") -> Iterator[None]:
    """Draw in the style of the report; what is drawn and saved inside has it, and nothing outside changes."""
    check_drawing(task)
    from cycler import cycler
    from matplotlib import rc_context

    with rc_context({**_STYLE, "axes.prop_cycle": cycler(color=[light for light, _ in SYSTEM_COLOURS])}):
        yield


def check_drawing(task: str = "a picture") -> None:
    """Refuse what could not be drawn."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtraError(task, "matplotlib", "report") from None


def new_figure(width: float, height: float) -> Any:
    """An empty figure of that size in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Any, path: Path) -> None:
    """Write a figure; the bytes of a PNG depend on nothing but the picture."""
    # A file that is not complete yet has an ending of its own after that of the picture.
    kind = Path(path.name.removesuffix(".partial")).suffix.lower().removeprefix(".")
    options = {"metadata": {"Software": None}} if kind == "png" else {}
    figure.savefig(path, format=kind, **options)


def scale(colours: Sequence[str]) -> Any:
    """A map of numbers to colours, even between those that are given."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("spanwright", list(colours))


def heat_map(axes: Any, values: Any, *, colours: Sequence[str], limits: tuple[float, float]) -> Any:
    """Cells in colours with thin gaps between them; what comes back gives the ink for each value."""
    image = axes.imshow(values, cmap=scale(colours), vmin=limits[0], vmax=limits[1], aspect="auto")
    axes.grid(False)
    axes.spines[:].set_visible(False)
    rows, columns = len(values), len(values[0])
    axes.set_xticks([number - 0.5 for number in range(columns + 1)], minor=True)
    axes.set_yticks([number - 0.5 for number in range(rows + 1)], minor=True)
    axes.grid(which="minor", color=SURFACE, linewidth=1.5)
    axes.tick_params(which="minor", length=0)

    def ink(value: float) -> str:
        red, green, blue, _ = image.cmap(image.norm(value))
        return SURFACE if 0.299 * red + 0.587 * green + 0.114 * blue < 0.55 else INK

    return ink
