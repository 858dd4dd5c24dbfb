"""Decoding: a language model writes text under a constraint."""

from tokamata.decoding.generate import Settings, Stream, generate, stream
from tokamata.decoding.results import Generation, Step, Timing
from tokamata.decoding.sampling import Sampling
from tokamata.decoding.value_probabilities import Probability, ValueProbabilities, probabilities

__all__ = [
    "Generation",
    "Probability",
    "Sampling",
    "Settings",
    "Step",
    "Stream",
    "Timing",
    "ValueProbabilities",
    "generate",
    "probabilities",
    "stream",
]
