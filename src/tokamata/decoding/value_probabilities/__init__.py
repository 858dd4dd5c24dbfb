"""Probabilities of the values of a constraint with finitely many texts."""
