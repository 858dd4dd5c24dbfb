"""Probabilities of the values of a constraint with finitely many texts."""

from tokamata.decoding.value_probabilities.asking import probabilities
from tokamata.decoding.value_probabilities.results import Probability, ValueProbabilities

__all__ = ["Probability", "ValueProbabilities", "probabilities"]
