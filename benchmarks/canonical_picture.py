"""The README's picture of canonical tokenization: one text in two ways, with what the model thinks of each.

    python benchmarks/canonical_picture.py --picture docs/canonical_two_ways.svg

Gemma 3 270M writes a text greedily under a pattern, in any tokens that spell it.  Under each token stands the
probability that the model gives it without the pattern, behind all before it; below, the same for the tokens
that the tokenizer itself writes for the same text.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import torch
from canonical_study_scoring import token_log_probabilities
from running import use_one_thread

import tokamata as tk
from tokamata.decoding.hosts import vocabulary_of
from tokamata.integrations.models import default_model_folder, load_model

PROMPT = 'A painter as JSON: {"name": "Paul Klee",'
PATTERN = r' "born": [12][0-9]{3}\}'

INK, FAINT, SHARED, WRITTEN, OWN = "#222222", "#666666", "#eeeeee", "#f5c9a8", "#b5d9ee"
_LETTER, _BOX, _MARGIN = 52, 40, 28  # pixels


@dataclass(frozen=True)
class Token:
    """One token of the text.

    Attributes:
        text: its letters.
        log_probability: in nats, by the model alone, given the prompt and all tokens before it.
        is_shared: whether the other way has the same token at the same place.
    """

    text: str
    log_probability: float
    is_shared: bool


def main() -> int:
    """The program; returns its exit status: 1 where there is nothing to show, 2 without the model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path, required=True, metavar="FILE", help="an .svg to write")
    parser.add_argument("--prompt", default=PROMPT, help=f"(default: {PROMPT})")
    parser.add_argument("--regex", default=PATTERN, help=f"(default: {PATTERN})")
    options = parser.parse_args()
    use_one_thread()
    torch.set_num_threads(1)
    try:
        written, own = two_ways(options.prompt, options.regex)
    except tk.TokamataError as error:
        print(error, file=sys.stderr)
        return 2
    for way in (written, own):
        print("  ".join(f"{token.text!r} {percent(token.log_probability)}" for token in way))
    if all(token.is_shared for token in written):
        print("these are the tokenizer's own tokens: there is nothing to show", file=sys.stderr)
        return 1
    options.picture.parent.mkdir(parents=True, exist_ok=True)
    options.picture.write_text(picture(options.prompt, options.regex, written, own), encoding="utf-8")
    return 0


def two_ways(prompt: str, pattern: str) -> tuple[list[Token], list[Token]]:
    """The greedy text in the tokens that were written, and in the tokenizer's own.

    Raises:
        MissingExtraError: the model is not installed.
    """
    model, tokenizer = load_model(default_model_folder())
    vocabulary = vocabulary_of(model, tokenizer)
    result = tk.generate(model, tokenizer, prompt, tk.regex(pattern), max_new_tokens=60, greedy=True)
    given = result.prompt_tokens
    both = [given + result.tokens, tokenizer(prompt + result.text)["input_ids"]]
    assert both[1][: len(given)] == given, "the end of the prompt is written otherwise: choose another"
    scores = token_log_probabilities(model.float(), both)
    texts = [[(vocabulary[token] or b"").decode() for token in tokens[len(given) :]] for tokens in both]
    places = [set(_places(way)) for way in texts]
    written, own = (
        [
            Token(text, score, place in places[1 - index])
            for place, text, score in zip(_places(way), way, scores[index][len(given) - 1 :], strict=True)
        ]
        for index, way in enumerate(texts)
    )
    return written, own


def _places(texts: Sequence[str]) -> list[tuple[int, str]]:
    """Each token with the number of letters before it."""
    return [(sum(map(len, texts[:index])), text) for index, text in enumerate(texts)]


def percent(log_probability: float) -> str:
    """A probability in per cent: whole from 1 % on, else to one digit that is not 0."""
    value = 100 * math.exp(log_probability)
    return f"{value:.{max(0, -math.floor(math.log10(value)))}f} %"


def times(ratio: float) -> str:
    """A large factor, to two digits."""
    unit = 10 ** max(0, math.floor(math.log10(ratio)) - 1)
    return f"{round(ratio / unit) * unit:,}"


def picture(prompt: str, pattern: str, written: Sequence[Token], own: Sequence[Token]) -> str:
    """An SVG: the two rows above each other, letter by letter, on white with round corners."""
    letters = sum(len(token.text) for token in written)
    width, height = letters * _LETTER + 2 * _MARGIN, 342
    ratio = math.exp(
        math.fsum(t.log_probability for t in own) - math.fsum(t.log_probability for t in written)
    )
    comparison = (
        f"{times(ratio)} times as probable" if ratio >= 1 else f"{times(1 / ratio)} times less probable"
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="system-ui, sans-serif" font-size="15" fill="{INK}">',
        f'<rect x="1" y="1" width="{width - 2}" height="{height - 2}" rx="14" fill="white" '
        'stroke="#cccccc"/>',
        _given(34, "prompt", prompt),
        _given(56, "pattern", pattern),
        _line(98, "any tokens that spell a text of the pattern: what Gemma 3 270M writes"),
        *_row(written, 112, WRITTEN),
        _line(216, "canonical: the one way in which its tokenizer writes this text"),
        *_row(own, 230, OWN),
        _line(318, f"The same text. Written canonically, the model holds it {comparison}.", FAINT),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _line(y: int, text: str, colour: str = INK) -> str:
    return f'<text x="{_MARGIN}" y="{y}" fill="{colour}" xml:space="preserve">{escape(text)}</text>'


def _given(y: int, name: str, text: str) -> str:
    """What the model is given: its name, and it."""
    place = f'x="{_MARGIN + 70}" y="{y}" font-family="monospace" xml:space="preserve"'
    return f"{_line(y, name, FAINT)}<text {place}>{escape(text)}</text>"


def _row(tokens: Sequence[Token], y: int, colour: str) -> list[str]:
    """The boxes of a row, and under each its probability."""
    parts, at = [], _MARGIN
    for token in tokens:
        width = len(token.text) * _LETTER
        middle = at + width / 2
        text, under = escape(token.text.replace(" ", "␣")), percent(token.log_probability)
        weight = "" if token.is_shared else ' font-weight="bold"'
        parts += [
            f'<rect x="{at + 2}" y="{y}" width="{width - 4}" height="{_BOX}" rx="6" '
            f'fill="{SHARED if token.is_shared else colour}"/>',
            f'<text x="{middle:g}" y="{y + 26}" text-anchor="middle" font-family="monospace" font-size="19">'
            f"{text}</text>",
            f'<text x="{middle:g}" y="{y + _BOX + 17}" text-anchor="middle" font-size="12"{weight}>'
            f"{under}</text>",
        ]
        at += width
    return parts


if __name__ == "__main__":
    sys.exit(main())
