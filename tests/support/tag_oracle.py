"""What the JSON form of structural tags denotes, by definition: every split of a text is tried.

Free text is followed by phrases, and the first of them that ends, ends the free text; of two that end at one
position, the longer one counts.  :func:`ends` checks that on the whole text, not on its pieces.

A text may be :class:`Written` with control tokens in place of names.  These stand only where the form spells
a text, for one of the names that are found in it from left to right, the longest at each position.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

Format = dict[str, Any]
Place = tuple[int, int | None]  # an end, and where the free text began that ends there, if it does


class Written(str):
    """A text as it is spelled, with what was written as control tokens.

    Attributes:
        spans: where each control token begins and ends.
        names: of all control tokens.
    """

    spans: tuple[tuple[int, int], ...]
    names: tuple[str, ...]

    def __new__(cls, pieces: list[str], names: tuple[str, ...]) -> Written:
        """``pieces``: texts, of which those with more than one letter are control tokens."""
        text = super().__new__(cls, "".join(pieces))
        ends = list(accumulate(map(len, pieces)))
        text.spans = tuple(
            (end - len(piece), end) for piece, end in zip(pieces, ends, strict=True) if len(piece) > 1
        )
        text.names = names
        return text


def _controls(text: str, begin: int, end: int) -> set[tuple[int, int]]:
    """The control tokens that a part of a text has, or begins or ends within."""
    spans = text.spans if isinstance(text, Written) else ()
    return {span for span in spans if span[0] < end and span[1] > begin}


def _stands(text: str, piece: str, at: int) -> bool:
    """Whether a text that the form spells stands at a position."""
    if not text.startswith(piece, at):
        return False
    if not isinstance(text, Written):
        return True
    names = "|".join(re.escape(name) for name in sorted(text.names, key=len, reverse=True))
    named = {(at + found.start(), at + found.end()) for found in re.finditer(names, piece)}
    return _controls(text, at, at + len(piece)) <= named


def is_text_of(form: Format, text: str) -> bool:
    """Whether a text is one of a format."""
    return any(end == len(text) for end, _ in ends(form, text, 0, ()))


def _is_first(text: str, begin: int, end: int, phrase: str, phrases: tuple[str, ...]) -> bool:
    """Whether ``phrase``, which ends at ``end``, is the first of the phrases in the text from ``begin``."""
    for other in phrases:
        at = text.find(other, begin, end)
        if at >= 0 and (at + len(other) < end or len(other) > len(phrase)):
            return False
    return True


def ends(form: Format, text: str, begin: int, after: tuple[str, ...]) -> set[Place]:
    """Where texts of a format end that begin at a position; ``after`` are the phrases that may follow it."""
    return set(_READERS[form["type"]](form, text, begin, after))


def _const(form: Format, text: str, begin: int, _: Any) -> Iterator[Place]:
    if _stands(text, form["value"], begin):
        yield begin + len(form["value"]), None


def _regex(form: Format, text: str, begin: int, _: Any) -> Iterator[Place]:
    for end in range(begin, len(text) + 1):
        if re.fullmatch(form["pattern"], text[begin:end]) and not _controls(text, begin, end):
            yield end, None


def _free(text: str, begin: int, never: tuple[str, ...]) -> Iterator[Place]:
    for end in range(begin, len(text) + 1):
        if any(phrase in text[begin:end] for phrase in never) or _controls(text, begin, end):
            return
        yield end, begin


def _any_text(form: Format, text: str, begin: int, after: tuple[str, ...]) -> Iterator[Place]:
    for end, start in _free(text, begin, (*form.get("excludes", ()), *after)):
        if end - begin <= form.get("max_chars", len(text)):
            yield end, start


def _sequence(form: Format, text: str, begin: int, after: tuple[str, ...]) -> set[Place]:
    places: set[Place] = {(begin, None)}
    for index, element in enumerate(form["elements"]):
        follows = after if index + 1 == len(form["elements"]) else ()
        places = {place for at, _ in places for place in ends(element, text, at, follows)}
    return places


def _or(form: Format, text: str, begin: int, after: tuple[str, ...]) -> set[Place]:
    return {place for element in form["elements"] for place in ends(element, text, begin, after)}


def _repeated(form: Format, text: str, begin: int, after: tuple[str, ...]) -> set[Place]:
    default = {"optional": (0, 1), "plus": (1, -1), "star": (0, -1)}
    low, high = default.get(form["type"]) or (form["min"], form["max"])
    found: set[Place] = set()
    places: set[Place] = {(begin, None)}
    seen: set[frozenset[Place]] = set()
    count = 0
    while places and (high == -1 or count <= high):
        if count >= low:
            found |= places
            if frozenset(places) in seen:
                break
            seen.add(frozenset(places))
        places = {place for at, _ in places for place in ends(form["content"], text, at, after)}
        count += 1
    return found


def _tag(form: Format, text: str, begin: int, after: tuple[str, ...]) -> Iterator[Place]:
    if not _stands(text, form["begin"], begin):
        return
    some = [form["end"]] if isinstance(form["end"], str) else form["end"]
    phrases = (*(end for end in some if end), *(after if "" in some else ()))
    for at, start in ends(form["content"], text, begin + len(form["begin"]), phrases):
        for end in some:
            stop = at + len(end)
            if end == "":
                yield at, start
            elif _stands(text, end, at) and (start is None or _is_first(text, start, stop, end, phrases)):
                yield stop, None


def _dispatched(
    text: str, begin: int, branches: list[tuple[str, Format]], after: tuple[str, ...], form: Format
) -> set[Place]:
    """Free text with branches: each has the trigger that its texts begin with."""
    phrases = (*(trigger for trigger, _ in branches), *form.get("excludes", ()), *after)
    found: set[Place] = set()
    waiting = [(begin, form.get("at_least_one", False))]
    seen = set()
    while waiting:
        at, is_first = waiting.pop()
        if (at, is_first) in seen:
            continue
        seen.add((at, is_first))
        if not is_first:
            found.update(_free(text, at, phrases))
        for trigger, branch in branches:
            for start in [at] if is_first else [end for end, _ in _free(text, at, phrases)]:
                stop = start + len(trigger)
                if not text.startswith(trigger, start):
                    continue
                if not is_first and not _is_first(text, at, stop, trigger, phrases):
                    continue
                if form.get("stop_after_first"):
                    found |= ends(branch, text, start, after)
                else:
                    waiting += [(end, False) for end, _ in ends(branch, text, start, ())]
    return found


def _triggered(form: Format, text: str, begin: int, after: tuple[str, ...]) -> set[Place]:
    branches = [
        (next(trigger for trigger in form["triggers"] if tag["begin"].startswith(trigger)), tag)
        for tag in form["tags"]
    ]
    return _dispatched(text, begin, branches, after, form)


def _dispatch(form: Format, text: str, begin: int, after: tuple[str, ...]) -> set[Place]:
    branches = [
        (trigger, {"type": "tag", "begin": trigger, "content": content, "end": ""})
        for trigger, content in form["rules"]
    ]
    return _dispatched(text, begin, branches, after, form | {"stop_after_first": not form.get("loop", True)})


def _separated(form: Format, text: str, begin: int, outer: tuple[str, ...]) -> Iterator[Place]:
    if not form.get("at_least_one"):
        yield begin, None
    waiting, seen = [begin], set()
    while waiting:
        at = waiting.pop()
        for end in {end for tag in form["tags"] for end, _ in ends(tag, text, at, outer)}:
            yield end, None
            after = end + len(form["separator"])
            is_more = _stands(text, form["separator"], end) and not form.get("stop_after_first")
            if is_more and after not in seen:
                seen.add(after)
                waiting.append(after)


_READERS: dict[str, Any] = {
    "const_string": _const,
    "regex": _regex,
    "any_text": _any_text,
    "sequence": _sequence,
    "or": _or,
    "optional": _repeated,
    "plus": _repeated,
    "star": _repeated,
    "repeat": _repeated,
    "tag": _tag,
    "triggered_tags": _triggered,
    "dispatch": _dispatch,
    "tags_with_separator": _separated,
}
