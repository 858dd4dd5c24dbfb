"""Attacks on the proofs that no text yields a token: texts drawn to make the program write it.

    python -m fuzz.never_written --seed 7 --texts 20000 gpt2 qwen ...

For each tokenizer of ``tests/data/manifests``: the proved tokens' own texts, whole and in parts, between
other tokens, marks and spaces; and probe texts.  A token that occurs refutes its proof, and the program exits
with 1.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from itertools import islice

from tests.support.tokenizers.manifest_sources import NAMES, tokenizer_of
from tokamata.guard.manifests.subject import Subject
from tokamata.guard.manifests.unwritten import fates
from tokamata.guard.probe_texts import texts
from tokamata.tokenization.unicode_set import adversaries


def attacks(seed: int, proved: Sequence[str], tokens: Sequence[bytes | None]) -> Iterator[str]:
    """An endless stream of texts with parts of the proved tokens."""
    draw = random.Random(seed)
    others = [token.decode("utf-8", "ignore") for token in tokens if token]
    marks = [one.text for one in adversaries() if one.text]
    between = ["", "", "", " ", "\n", "a", "1", "'", "  "]
    while True:
        parts = []
        for _ in range(draw.randrange(1, 6)):
            text = draw.choice(proved) if proved and draw.random() < 0.6 else draw.choice(others)
            if draw.random() < 0.2 and text:
                text = text[draw.randrange(len(text)) :]
            parts += [text, draw.choice(marks) if draw.random() < 0.1 else draw.choice(between)]
        yield "".join(parts)


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(prog="fuzz.never_written", description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--texts", type=int, default=20_000, help="of each tokenizer")
    arguments = parser.parse_args()
    refuted = 0
    for name in arguments.names:
        subject = Subject(tokenizer_of(name))
        if subject.tables[0] is None or subject.program is None:
            print(f"{name}: {subject.no_program or subject.tables[1]}")
            continue
        proved, rest = fates(subject, set())
        tokens = subject.vocabulary.tokens
        shown = [(tokens[token] or b"").decode("utf-8", "ignore") for token in proved]
        drawn = [
            *islice(attacks(arguments.seed, shown, tokens), arguments.texts),
            *islice(texts(arguments.seed, tokens), arguments.texts // 4),
        ]
        written = {token for ids in subject.program.encode_many(drawn) for token in ids}
        hit = written & set(proved)
        refuted += len(hit)
        print(
            f"{name}: {len(proved)} proved, {len(rest)} not settled, {len(drawn):,} texts, {len(hit)} refuted"
        )
        for token in sorted(hit)[:10]:
            print(f"  {token} {subject.vocabulary.name(token)}: {proved[token]}")
    return 1 if refuted else 0


if __name__ == "__main__":
    sys.exit(main())
