"""Probabilities of the fields of a text."""
