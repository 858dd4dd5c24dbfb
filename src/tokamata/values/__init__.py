"""The values of texts, and events for parts that are complete while a text is written.

Data flow: constraint ─▶ form (:mod:`.forms`) ─▶ the value of a text, or, while the text is written, events
(:mod:`.events`).
"""
