"""Small pieces of HTML, for what notebooks show: the colours of the command line, and nothing from elsewhere.

    panel("2 edits, cost 7", lines([span("[1, 2"), span("]", WRITTEN)]))

What is not made here is escaped: a :class:`Markup` comes from these functions alone, so what a model wrote
cannot become an element.  Styles stand at each element, since notebooks remove style sheets.  There are no
scripts, links or pictures.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import NewType

from tokamata.display.texts import shown_text

__all__ = [
    "BAD",
    "DIM",
    "DOUBTED",
    "GOOD",
    "REMOVED",
    "WRITTEN",
    "Markup",
    "clipped",
    "lines",
    "panel",
    "span",
]

Markup = NewType("Markup", str)

# The colours that rich gives to the command line; texts on a ground have their own colour, for dark pages.
REMOVED = "background:#c50f1f;color:#fff;text-decoration:line-through"
WRITTEN = "background:#13a10e;color:#000"
DOUBTED = "background:#c19c00;color:#000"
GOOD = "color:#13a10e;font-weight:bold"
BAD = "color:#c50f1f;font-weight:bold"
DIM = "opacity:.6"
_MOST_CHARACTERS = 4000  # of one piece of text


def span(text: str, style: str = "", title: str = "") -> Markup:
    """A piece of text.

    Args:
        text: the text, of any length; of a long one the middle is left out.
        style: CSS, one of this module.
        title: shown beside the pointer.
    """
    attributes = f' style="{style}"' if style else ""
    if title:
        attributes += f' title="{_escaped(title)}"'
    shown = _escaped(clipped(text))
    return Markup(f"<span{attributes}>{shown}</span>" if attributes else shown)


def clipped(text: str, most: int = _MOST_CHARACTERS) -> str:
    """A text of at most about so many characters."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} … {len(text) - most:,} characters … {text[-half:]}"


def lines(pieces: Iterable[Markup]) -> Markup:
    """Pieces one after another, with their own line ends and spaces."""
    style = "white-space:pre-wrap;overflow-wrap:anywhere;margin:.3em 0;line-height:1.5;text-align:left"
    return Markup(f'<pre style="{style}">{"".join(pieces)}</pre>')


def panel(title: str, *parts: Markup) -> Markup:
    """A box with a title."""
    box = "border:1px solid rgba(128,128,128,.5);border-radius:4px;padding:.3em .6em;max-width:60em"
    heading = f'<div style="{DIM}">{_escaped(clipped(title))}</div>'
    return Markup(f'<div style="{box}">{heading}{"".join(parts)}</div>')


def _escaped(text: str) -> str:
    return html.escape(shown_text(text))
