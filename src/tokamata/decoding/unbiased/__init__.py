"""Sampling from a model's distribution given a constraint, without the bias of masks alone."""

from tokamata.decoding.unbiased.call import sample
from tokamata.decoding.unbiased.results import Sample, Samples

__all__ = ["Sample", "Samples", "sample"]
