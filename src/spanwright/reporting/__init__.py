"""The report: one HTML page about one system or several side by side. Needs no torch."""

from spanwright.reporting.content import Content, System, gather
from spanwright.reporting.page import Origin, Source, render, write_page
from spanwright.reporting.passages import Selection, select_passages

__all__ = [
    "Content",
    "Origin",
    "Selection",
    "Source",
    "System",
    "gather",
    "render",
    "select_passages",
    "write_page",
]
