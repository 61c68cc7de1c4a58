"""The report: one HTML page about one system or several side by side. Needs no torch."""

from spanwright.reporting.content import Content, Identifiers, System, gather
from spanwright.reporting.page import Origin, Source, render_page, write_page
from spanwright.reporting.passages import Selection, select_passages
from spanwright.reporting.pictures import Picture, read_picture

__all__ = [
    "Content",
    "Identifiers",
    "Origin",
    "Picture",
    "Selection",
    "Source",
    "System",
    "gather",
    "read_picture",
    "render_page",
    "select_passages",
    "write_page",
]
