"""Spellings of other languages, and of people, that stand for JSON: groups of rewrites."""
