"""Whether masks lead a small model into other answers: questions with known answers, with and without masks.

Read in this order: ``questions.py`` (texts and known answers), ``arms.py`` (engines and their options),
``batches.py`` (the loop that writes), ``scoring.py`` and ``chance.py`` (the judges), ``tables.py`` (report).
"""
