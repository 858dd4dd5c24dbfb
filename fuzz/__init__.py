"""Fuzzers, and exhaustive comparisons that take minutes: `python -m fuzz.fuzz_patterns --seconds 3600`."""
