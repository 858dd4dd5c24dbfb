"""Whether masks lead a small model into other answers: questions with known answers, with and without masks.

Read in this order: ``questions.py`` (what is asked), ``arms.py`` (what is compared), ``batches.py`` (how
texts are written), ``scoring.py`` and ``chance.py`` (how they are judged), ``tables.py`` (the report).
"""
