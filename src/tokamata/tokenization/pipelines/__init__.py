"""Pipelines: what a tokenizer does to a text, read from the files of each family of tokenizers.

Way of the data: file ─ :mod:`.tokenizer_json` (:mod:`.byte_pairs`, :mod:`.word_piece`) or :mod:`.ranks` ─▶ a
:class:`.pipeline.Pipeline`, of which ``tokenization/tables.py`` makes the tables of the engine.
"""
