"""Beam search: the most probable texts of a constraint."""
