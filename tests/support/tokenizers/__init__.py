"""Tokenizers: real ones, and random ones."""
