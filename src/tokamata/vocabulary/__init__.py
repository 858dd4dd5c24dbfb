"""From any tokenizer to the exact bytes of every token.

``vocabulary.py`` holds the public class; ``sources.py`` finds out what a source is; each
family of tokenizers has one module, which returns a ``TokenTable`` (``token_table.py``).
"""

from __future__ import annotations

from tokamata.vocabulary.vocabulary import Vocabulary

__all__ = ["Vocabulary"]
