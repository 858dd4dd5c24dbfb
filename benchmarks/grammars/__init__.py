"""Grammars of three languages, beside the peers."""
