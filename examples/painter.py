"""A type for the command line: ``tokamata generate --type examples/painter.py:Painter --prompt …``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import Enum


class Style(Enum):
    """How somebody paints."""

    CUBISM = "cubism"
    EXPRESSIONISM = "expressionism"
    IMPRESSIONISM = "impressionism"


@dataclass
class Painter:
    """Who paints."""

    name: str
    born: date
    style: Style
    died: date | None
