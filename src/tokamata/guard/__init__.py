"""Theorems about tokenizers and chat templates; see docs/guard.md."""
