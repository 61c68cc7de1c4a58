"""Texts and bytes that break programs which are careless about Unicode, and strategies that mix texts."""

from __future__ import annotations

from hypothesis import strategies as st

NAUGHTY = (
    "\u05d0\u05d1\u05d2 \u0627\u0644\u062f\u0645",  # right to left
    "\u202edrawkcab\u202c",  # right-to-left override
    "👩\u200d🔬 👍🏽 🇦🇹",  # emoji of several characters
    "zero\u200bwidth\u200dspace\u2060",
    "\ufeffmark\ufeff",  # byte order mark
    "nul\x00byte \x00",
    "cafe\u0301 \u0301lone a\u0300\u0301\u0302\u0303",  # combining marks
    "𝔘𝔫𝔦 𐍈 𠀀",  # astral planes
    "a\r\nb\rc\n\n\x0bd\x0ce\x85f\u2028g\u2029h",  # line ends of all kinds
    "\xa0\u3000\u2003blank\u202f",
    "x" * 300,
    "ß ﬁ İ ı ǅ",  # characters that change length with their case
    "\u0e1c\u0e39\u0e49\u0e1b\u0e48\u0e27\u0e22 \u0915\u094d\u0937\u093f",  # Thai, Devanagari
    "中文蛋白p53とタンパク質",
    "\u1100\u1161\u11a8 한국어",  # Hangul, also as parts
    "\ufffd\ufffe\uffff\U0010ffff\ue000",  # replacement, noncharacters, private use
    "[CLS] [SEP] [UNK] </s> <pad> ##ing ▁x Ġy",
    "\x1b[31m\x07\x08\x7f",
    "5′-ATG-3′ TNF-α 1,25(OH)2D3 µg/mL κB½²",
    "\u0300",
    "\u200b",
    "   \t ",
)

_CHUNKS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(NAUGHTY),
    st.sampled_from([" ", "\n", ". A", "p53", "cells", "-", "2.5", "\u0301", "\u200b", "🧬"]),
)


def texts(max_chunks: int = 8) -> st.SearchStrategy[str]:
    """Any Unicode text without lone surrogates, rich in naughty ones."""
    return st.lists(_CHUNKS, max_size=max_chunks).map("".join)


BAD_BYTES = {
    "a continuation without a start": b"\x80",
    "a start without a continuation": b"\xc3",
    "two starts": b"\xc3\xc3",
    "an overlong slash": b"\xc0\xaf",
    "an overlong NUL": b"\xe0\x80\x80",
    "a high surrogate": b"\xed\xa0\x80",
    "a low surrogate": b"\xed\xbf\xbf",
    "a pair of surrogates": b"\xed\xa0\xbd\xed\xb8\x80",
    "beyond Unicode": b"\xf4\x90\x80\x80",
    "five bytes": b"\xf8\x88\x80\x80\x80",
    "0xff": b"\xff",
    "Latin-1": "é".encode("latin-1"),
    "UTF-16 with its mark": "é".encode("utf-16"),
    "a cut character": "蛋".encode()[:2],
}
"""Each begins with its first byte that is not UTF-8."""
