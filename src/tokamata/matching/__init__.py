"""Constraints composed with a vocabulary: what compiling makes, matchers, masks, and files of both."""
