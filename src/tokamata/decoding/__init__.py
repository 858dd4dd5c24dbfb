"""Decoding: a language model writes text under a constraint."""

from tokamata.decoding.beams import Beam, Beams, beam_search
from tokamata.decoding.generate import Settings, Stream, generate, stream
from tokamata.decoding.results import Generation, Step, Timing
from tokamata.decoding.sampling import Sampling
from tokamata.decoding.value_probabilities import Probability, ValueProbabilities, probabilities

__all__ = [
    "Beam",
    "Beams",
    "Generation",
    "Probability",
    "Sampling",
    "Settings",
    "Step",
    "Stream",
    "Timing",
    "ValueProbabilities",
    "beam_search",
    "generate",
    "probabilities",
    "stream",
]
