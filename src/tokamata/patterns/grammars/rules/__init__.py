"""The rules of a grammar: trees of them, and what rewrites these into rules of the engine."""
