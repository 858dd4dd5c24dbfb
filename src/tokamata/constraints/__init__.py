"""Constraints: their algebra, and what makes them of texts, grammars, JSON, types and tools."""
