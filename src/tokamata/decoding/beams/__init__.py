"""Beam search: the most probable texts of a constraint."""

from tokamata.decoding.beams.results import Beam, Beams
from tokamata.decoding.beams.searching import beam_search

__all__ = ["Beam", "Beams", "beam_search"]
