"""Pre-tokenizers as automata: where a text is split before the model of a tokenizer encodes its pieces.

Way of the data: regex ─ :mod:`.regex` ─▶ threads ─ :mod:`.matching` ─▶ leftmost matches ─ :mod:`.machine` ─▶
hypotheses about the ends of pre-tokens.
"""
