"""Decoding: a language model writes text under a constraint."""

from tokamata.decoding.generate import Settings, Stream, generate, stream
from tokamata.decoding.results import Generation, Step, Timing
from tokamata.decoding.sampling import Sampling
from tokamata.decoding.unbiased import Sample, Samples, sample

__all__ = [
    "Generation",
    "Sample",
    "Samples",
    "Sampling",
    "Settings",
    "Step",
    "Stream",
    "Timing",
    "generate",
    "sample",
    "stream",
]
