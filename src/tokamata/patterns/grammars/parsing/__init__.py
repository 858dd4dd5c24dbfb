"""Derivations of texts: by the rules of a grammar, and as trees of lark."""
