"""Python types as sets of texts, in JSON or in Python's own syntax, and back to values.

Way of the data: type ─ :mod:`.reading` ─▶ :mod:`.shapes` ─ :mod:`.schema` ─▶ JSON Schema, whose texts
:mod:`.values` reads; or ─ :mod:`.python_syntax` ─▶ expression, whose texts :mod:`.python_source` parses and
:mod:`.python_values` reads.  What
pydantic defines, pydantic describes and reads (:mod:`.pydantic_models`).

Source: *Automata-based constraints for language model decoding* (2024), section 5.2, which has dataclasses as
constructor calls.
"""
