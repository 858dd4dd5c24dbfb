"""Decoding: from a constraint and a language model to text."""

from tokamata.decoding.generate import Generation, Step, Stream, Timing, generate, stream
from tokamata.decoding.sampling import Sampling

__all__ = ["Generation", "Sampling", "Step", "Stream", "Timing", "generate", "stream"]
