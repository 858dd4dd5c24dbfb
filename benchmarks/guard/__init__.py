"""Measures of the guard: proofs about tokenizers and chat templates."""
