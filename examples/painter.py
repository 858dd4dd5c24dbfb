"""A type for the command line: ``tokamata generate --type examples/painter.py:Painter --prompt …``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import Enum


class Style(Enum):
    """A style of painting."""

    CUBISM = "cubism"
    EXPRESSIONISM = "expressionism"
    IMPRESSIONISM = "impressionism"


@dataclass
class Painter:
    """A painter."""

    name: str
    born: date
    style: Style
    died: date | None
