"""Pre-tokenizers as automata, which split a text before the model of a tokenizer encodes its pieces.

Data flow: regex ─ :mod:`.regex` ─▶ threads ─ :mod:`.matching` ─▶ leftmost matches ─ :mod:`.machine` ─▶
hypotheses about the ends of pre-tokens.
"""
