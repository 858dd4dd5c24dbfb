"""Sampling without bias: distances to the target law, and what they cost."""
