"""Pipelines: the steps of a tokenizer, read from the files of each family of tokenizers.

Data flow: file ─ :mod:`.tokenizer_json` (:mod:`.byte_pairs`, :mod:`.word_piece`) or :mod:`.ranks` ─▶ a
:class:`.pipeline.Pipeline` ─ ``tokenization/tables.py`` ─▶ the tables of the engine.
"""
