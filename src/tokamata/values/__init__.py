"""Values of texts: what a text that was written stands for, and when its parts are whole.

Way of the data: constraint ─ :func:`tokamata.constraint.form_of` ─▶ form (:mod:`.forms`) ─▶ the value of a
text, or, while the text is written, events (:mod:`.events`).
"""
