"""Random patterns, and oracles of patterns."""
