"""Decoding: a language model writes text under a constraint."""

from tokamata.decoding.async_streams import AsyncStream, astream
from tokamata.decoding.beams.results import Beam, Beams
from tokamata.decoding.beams.searching import beam_search
from tokamata.decoding.field_probabilities.fields import FieldProbabilities, FieldProbability
from tokamata.decoding.generate import Settings, generate, stream
from tokamata.decoding.policy import Policy
from tokamata.decoding.results import Abstention, Generation, Refusal, Step, Switch, Timing
from tokamata.decoding.sampling import Sampling
from tokamata.decoding.streams import Stream
from tokamata.decoding.unbiased import Sample, Samples, sample
from tokamata.decoding.value_probabilities.asking import probabilities
from tokamata.decoding.value_probabilities.results import Probability, ValueProbabilities
from tokamata.decoding.wanted import Wanted

__all__ = [
    "Abstention",
    "AsyncStream",
    "Beam",
    "Beams",
    "FieldProbabilities",
    "FieldProbability",
    "Generation",
    "Policy",
    "Probability",
    "Refusal",
    "Sample",
    "Samples",
    "Sampling",
    "Settings",
    "Step",
    "Stream",
    "Switch",
    "Timing",
    "ValueProbabilities",
    "Wanted",
    "astream",
    "beam_search",
    "generate",
    "probabilities",
    "sample",
    "stream",
]
