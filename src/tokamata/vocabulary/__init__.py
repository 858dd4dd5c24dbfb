"""Reads the exact bytes of every token from any tokenizer.

``vocabulary.py`` has the public class; ``sources.py`` detects the type of a source; each
family of tokenizers has one module, which returns a ``TokenTable`` (``token_table.py``).
"""

from __future__ import annotations

from tokamata.vocabulary.token_types import TokenTypes
from tokamata.vocabulary.vocabulary import Vocabulary

__all__ = ["TokenTypes", "Vocabulary"]
