"""Decoding: a language model writes text under a constraint."""

from tokamata.decoding.generate import Settings, Stream, generate, stream
from tokamata.decoding.policy import Policy
from tokamata.decoding.results import Abstention, Generation, Step, Switch, Timing
from tokamata.decoding.sampling import Sampling

__all__ = [
    "Abstention",
    "Generation",
    "Policy",
    "Sampling",
    "Settings",
    "Step",
    "Stream",
    "Switch",
    "Timing",
    "generate",
    "stream",
]
