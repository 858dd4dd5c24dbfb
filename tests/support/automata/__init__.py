"""Explicit machines, as oracles and as what is tested."""
