"""What a tokenizer does, measured on its running program; one question per file.

Data flow: a source ─ :mod:`.subject` ─▶ a :class:`.subject.Subject` (tokens, running program, file) ─ one
function per question ─▶ :class:`.facts.Fact` ─ ``guard/manifest.py`` ─▶ a manifest.
"""
