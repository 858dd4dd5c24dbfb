"""Throws random Lark grammars at the library, under each lexer; judged by lark and by a small lexer.

    python -m fuzz.fuzz_grammars --seconds 3600 --seed 1

The terminals overlap; half of the grammars have lookaround in them, and half ignore terminals that their
rules read.  Every text of at most five characters is judged; under "characters", every text of at most four.
What lark accepts under "dynamic_complete" must be accepted under "characters".
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import tokamata as tk
from fuzz import timed
from tests.support.lark_grammars import judge_of, random_lark
from tests.support.matchers import takes
from tests.support.vocabularies import BYTE_VOCABULARY

LIMITS = tk.Limits(seconds=10)


@dataclass
class Tally(timed.Tally):
    """What was done.

    Attributes:
        grammars: that were drawn.
        judged: of these, under each lexer, those that lark takes.
        texts: that were judged.
        stopped: by a limit.
    """

    grammars: int = 0
    judged: int = 0
    texts: int = 0
    stopped: int = 0


def run(seconds: float, seed: int) -> Tally:
    """Draws grammars until the time is up."""
    tally = Tally()
    texts = ["".join(text) for size in range(6) for text in itertools.product("abc ", repeat=size)]
    short = [text for text in texts if len(text) < 5]
    for turn in timed.turns(seconds):
        draw = random.Random(f"{seed}.{turn}")
        has_looks = draw.random() < 0.5
        grammar = random_lark(draw, has_looks, ignores_read=draw.random() < 0.5)
        tally.grammars += 1
        # Compilers' lexers have no lookaround to judge by, and a judge of "characters" takes long.
        others = () if has_looks else ("longest",) if turn % 4 else ("longest", "characters")
        for lexer in ("dynamic", "basic", "contextual", *others):
            try:
                judge = judge_of(grammar, lexer)
            except Exception:  # lark refuses some, with errors of many types
                continue
            tally.judged += 1
            judged_texts = short if lexer == "characters" else texts
            with timed.naming(f"turn {turn} of seed {seed}, {lexer}", grammar):
                try:
                    compiled = tk.grammar(grammar, lexer=lexer, limits=LIMITS).compile(BYTE_VOCABULARY)  # type: ignore[arg-type]
                except tk.EmptyConstraintError:
                    assert not any(judge(text) for text in judged_texts)
                except tk.LimitExceeded:
                    tally.stopped += 1
                else:
                    start = compiled.matcher()
                    for text in judged_texts:
                        assert takes(start, text.encode()) == judge(text), text
                    if lexer == "characters":
                        complete = judge_of(grammar, "dynamic_complete")
                        assert all(takes(start, text.encode()) for text in short if complete(text))
                tally.texts += len(judged_texts)
    return tally


if __name__ == "__main__":
    timed.main(__doc__ or "", run)
