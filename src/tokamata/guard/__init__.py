"""Theorems about tokenizers and chat templates; see docs/guard.md."""

from tokamata.guard.boundaries import Boundary, boundary
from tokamata.guard.encoding import encode
from tokamata.guard.seams import Seams, Stretch, seams
from tokamata.guard.verdicts import Outcome, Verdict, Witness

__all__ = [
    "Boundary",
    "Outcome",
    "Seams",
    "Stretch",
    "Verdict",
    "Witness",
    "boundary",
    "encode",
    "seams",
]
