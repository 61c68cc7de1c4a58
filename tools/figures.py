"""Draws the figures of the pages about papers, as SVG: python tools/figures.py"""

from __future__ import annotations

from html import escape
from pathlib import Path

OUT = Path(__file__).resolve().parents[1] / "docs" / "images" / "papers"
INK, SOFT = "#24292f", "#6e7781"
BLUE, ORANGE, GREEN, VIOLET = "#2a6fb0", "#c2610c", "#1a7f5a", "#8250a8"
FILLS = {
    BLUE: "#e6f0fa",
    ORANGE: "#fcefe3",
    GREEN: "#e3f4ec",
    VIOLET: "#f2eaf8",
    SOFT: "#f3f4f6",
    INK: "#fff",
}


class Figure:
    """Shapes on a white card."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.size, self.title, self.shapes = (width, height), title, list[str]()

    def box(self, x: float, y: float, w: float, h: float, text: str = "", colour: str = SOFT) -> None:
        """A rounded box with a text of one or several lines."""
        self.shapes.append(
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="6" fill="{FILLS[colour]}" stroke="{colour}" '
            'stroke-width="1.5"/>'
        )
        lines = text.split("\n")
        for number, line in enumerate(lines):
            self.text(x + w / 2, y + h / 2 + 5 + (number - (len(lines) - 1) / 2) * 17, line, colour=INK)

    def text(
        self, x: float, y: float, text: str, *, colour: str = SOFT, anchor: str = "middle", size: int = 14
    ) -> None:
        """A line of text."""
        self.shapes.append(
            f'<text x="{x}" y="{y}" fill="{colour}" font-size="{size}" text-anchor="{anchor}">'
            f"{escape(text)}</text>"
        )

    def arrow(self, x1: float, y1: float, x2: float, y2: float, colour: str = SOFT) -> None:
        """An arrow from one point to another."""
        self.shapes.append(
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="1.5" '
            'marker-end="url(#head)"/>'
        )

    def dot(self, x: float, y: float, text: str, colour: str, anchor: str = "start") -> None:
        """A point with its name."""
        self.shapes.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{colour}"/>')
        self.text(x + (10 if anchor == "start" else -10), y + 5, text, colour=colour, anchor=anchor, size=13)

    def ring(self, x: float, y: float, r: float, colour: str) -> None:
        """A dashed circle."""
        self.shapes.append(
            f'<circle cx="{x}" cy="{y}" r="{r}" fill="none" stroke="{colour}" stroke-dasharray="5 4" '
            'stroke-width="1.5"/>'
        )

    def write(self, name: str) -> None:
        """Write the figure as a file."""
        width, height = self.size
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            'font-family="system-ui, sans-serif">'
            f"<title>{escape(self.title)}</title>"
            f'<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0L10 5L0 10z" fill="{SOFT}"/></marker></defs>'
            f'<rect width="{width}" height="{height}" rx="8" fill="#fff"/>'
        )
        (OUT / f"{name}.svg").write_text("\n".join([head, *self.shapes, "</svg>"]) + "\n", encoding="utf-8")


def binder() -> None:
    figure = Figure(760, 320, "BINDER: spans and descriptions of types meet in one space")
    figure.box(20, 30, 200, 44, "Aspirin reduces the risk\nof heart attack", INK)
    figure.box(45, 110, 150, 38, "encoder of texts", BLUE)
    figure.box(45, 185, 150, 38, "vectors of spans", BLUE)
    figure.arrow(120, 74, 120, 108)
    figure.arrow(120, 148, 120, 183)
    figure.box(540, 30, 200, 44, "Disease: names of\nillnesses and symptoms", INK)
    figure.box(565, 110, 150, 38, "encoder of types", ORANGE)
    figure.box(565, 185, 150, 38, "vectors of types", ORANGE)
    figure.arrow(640, 74, 640, 108)
    figure.arrow(640, 148, 640, 183)
    figure.box(250, 60, 260, 240, "", SOFT)
    figure.arrow(195, 204, 248, 204)
    figure.arrow(565, 204, 512, 204)
    figure.ring(380, 165, 80, ORANGE)
    figure.dot(380, 170, "Disease", ORANGE)
    figure.dot(340, 135, "heart attack", BLUE)
    figure.dot(300, 262, "the risk", BLUE)
    figure.dot(490, 80, "Aspirin", BLUE, "end")
    figure.text(380, 288, "dashed: similarity of [CLS], the threshold", size=12)
    figure.write("binder")


def dspert() -> None:
    figure = Figure(760, 330, "DSpERT: a span goes through the blocks and asks its own words in each")
    words = ("lowers", "the", "risk", "of", "heart", "attack")
    for level in range(4):
        y = 270 - level * 75
        figure.text(40, y + 22, f"block {level}" if level else "lower layer", size=12)
        for place, word in enumerate(words):
            inside = place in (4, 5)
            figure.box(100 + place * 72, y, 62, 32, word, BLUE if inside else SOFT)
        figure.box(600, y, 110, 32, "heart attack", ORANGE)
        figure.arrow(524, y + 16, 598, y + 16, BLUE)
        if level:
            figure.arrow(655, y + 73, 655, y + 34, ORANGE)
            figure.arrow(419, y + 73, 419, y + 34)
    figure.text(655, 24, "span vector", colour=ORANGE)
    figure.text(440, 24, "keys and values: its words", colour=BLUE, size=12)
    figure.write("dspert")


def bundling() -> None:
    figure = Figure(760, 300, "Bundling: a span model and a tagger share one encoder")
    figure.box(280, 235, 200, 44, "risk of heart attack", INK)
    figure.box(280, 165, 200, 40, "one encoder", BLUE)
    figure.arrow(380, 235, 380, 207)
    figure.box(60, 90, 250, 44, "tagger of words\nO  O  B-Disease  I-Disease", GREEN)
    figure.box(450, 90, 250, 44, "scorer of spans\n[heart attack] Disease", ORANGE)
    figure.arrow(340, 165, 250, 136)
    figure.arrow(420, 165, 510, 136)
    figure.box(230, 18, 300, 40, "loss = w · tags + (1 − w) · spans", SOFT)
    figure.arrow(210, 90, 290, 60)
    figure.arrow(550, 90, 470, 60)
    figure.write("bundling")


def joint_ib() -> None:
    figure = Figure(760, 330, "Joint-IB: span vectors are compressed, and written as words again")
    figure.box(20, 150, 120, 40, "encoder", BLUE)
    figure.box(190, 140, 130, 60, "span vector of\nheart attack", BLUE)
    figure.arrow(140, 170, 188, 170)
    figure.box(390, 40, 90, 60, "mean\ndeviation", ORANGE)
    figure.box(530, 50, 70, 40, "draw", ORANGE)
    figure.box(650, 50, 90, 40, "Disease", INK)
    figure.arrow(320, 155, 388, 80)
    figure.arrow(480, 70, 528, 70)
    figure.arrow(600, 70, 648, 70)
    figure.text(480, 25, "bottleneck: keeps what types need", colour=ORANGE, size=13)
    figure.box(390, 200, 90, 40, "mean", VIOLET)
    figure.arrow(320, 185, 388, 215)
    figure.box(530, 160, 210, 40, "writes: heart attack", VIOLET)
    figure.box(530, 240, 210, 40, "writes: myocardial infarction", VIOLET)
    figure.arrow(480, 212, 528, 185)
    figure.arrow(480, 228, 528, 255)
    figure.text(560, 310, "auto-encoders of mentions and synonyms", colour=VIOLET, size=13)
    figure.write("joint-ib")


def cvae() -> None:
    figure = Figure(760, 330, "CVAE-NER: corpora with types of their own share an encoder")
    for place, (name, types) in enumerate(
        (("BioRED", "Gene, Disease ..."), ("NLMGene", "Gene"), ("BC5CDR", "Disease"))
    ):
        figure.box(20, 40 + place * 90, 130, 52, f"{name}\n{types}", INK)
        figure.arrow(150, 66 + place * 90, 198, 156)
    figure.box(200, 130, 120, 60, "encoder and\ncorpus token", BLUE)
    figure.box(370, 130, 110, 60, "span vector", BLUE)
    figure.arrow(320, 160, 368, 160)
    figure.box(560, 30, 180, 56, "scorer: rows of the\ncorpus's own types", GREEN)
    figure.arrow(480, 145, 558, 75)
    figure.box(560, 140, 180, 44, "latent vector", ORANGE)
    figure.box(560, 250, 180, 44, "span vector, rebuilt", ORANGE)
    figure.arrow(480, 162, 558, 162)
    figure.arrow(650, 184, 650, 248)
    figure.box(350, 245, 160, 54, "condition:\nlabel, shared label", VIOLET)
    figure.arrow(510, 262, 558, 182, VIOLET)
    figure.arrow(510, 275, 558, 272, VIOLET)
    figure.write("cvae")


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    for draw in (binder, dspert, bundling, joint_ib, cvae):
        draw()
