"""Phrases that overlap against the plain definition; the limits of all that reads phrases, tags and triggers.

No test states a time: what is stopped would take minutes.
"""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Callable
from typing import Any

import pytest

import tokamata as tk
from tests.support.vocabularies import BYTE_VOCABULARY
from tokamata.patterns.phrase_trie import PhraseTrie
from tokamata.resources.limits import Limits, Watch


def some_phrases(draw: random.Random) -> list[str]:
    letters = draw.choice(["ab", "ab", "abc"])
    count = draw.randint(1, 5)
    return list(dict.fromkeys("".join(draw.choices(letters, k=draw.randint(1, 6))) for _ in range(count)))


def parts_of(phrase: str) -> set[tuple[str, bool]]:
    """The parts of a phrase, and whether each ends it."""
    size = len(phrase)
    return {(phrase[i:j], j == size) for i in range(size) for j in range(i + 1, size + 1)}


@pytest.mark.parametrize("seed", range(3))
def test_overlaps_of_phrases(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(400):
        phrases = some_phrases(draw)
        trie = PhraseTrie(phrases, Watch())
        excluded = {phrase for phrase in phrases if draw.random() < 0.3}
        wanted = [phrase for phrase in phrases if draw.random() < 0.8]
        groups = trie.by_heads(wanted)
        assert sorted(phrase for _, some in groups for phrase in some) == sorted(wanted)
        heads = {phrase: set(found) for found, some in groups for phrase in some}
        for phrase in phrases:
            inner = {part for part, is_last in parts_of(phrase) if not is_last} & set(phrases)
            anywhere = {part for part, _ in parts_of(phrase)} & excluded
            assert (trie.within(phrase, excluded) is None) == (not inner | anywhere)
            assert trie.within(phrase, excluded) in {None, *inner, *anywhere}
            if phrase in heads:
                begun = {
                    other[:at]
                    for other in phrases
                    for at in range(1, len(other))
                    if phrase.startswith(other[at:])
                }
                assert heads[phrase] == ({""} if inner else begun), (phrases, phrase)


def test_many_phrases_have_few_steps() -> None:
    """Their number is that of the characters, also where each contains the beginnings of all others."""
    counts = []
    for size in (50, 100, 200):
        phrases = ["a" * length + f"b{length}" for length in range(1, size)]
        trie = PhraseTrie(phrases, Watch())
        trie.by_heads(phrases)
        counts.append(trie.steps / sum(map(len, phrases)))
    assert max(counts) < 1.2 * min(counts)


# ---- limits -----------------------------------------------------------------------------------

ANY: dict[str, Any] = {"type": "any_text"}


def tag_of(begin: str, content: Any, end: Any) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def triggered_of(content: Any) -> dict[str, Any]:
    return {"type": "triggered_tags", "triggers": ["<"], "tags": [tag_of("<", content, ">")]}


WRAPPERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "tag": lambda inner: tag_of("<", inner, ">"),
    "two ends": lambda inner: tag_of("<", inner, ["aba", "xa"]),
    "an open end": lambda inner: tag_of("<", inner, ["aba", "xa", ""]),
    "sequence": lambda inner: {"type": "sequence", "elements": [inner]},
    "or": lambda inner: {"type": "or", "elements": [inner]},
    "star": lambda inner: {"type": "star", "content": inner},
    "triggered": triggered_of,
    "separated": lambda inner: {
        "type": "tags_with_separator",
        "separator": "",
        "tags": [tag_of("<", inner, ">")],
    },
    "dispatch": lambda inner: {"type": "dispatch", "rules": [["<", inner]]},
    "token dispatch": lambda inner: {"type": "token_dispatch", "rules": [["<", inner]]},
}


def nested(name: str, depth: int) -> dict[str, Any]:
    form = ANY
    for _ in range(depth):
        form = WRAPPERS[name](form)
    return {"format": form}


@pytest.mark.parametrize("name", WRAPPERS)
def test_forms_nest_as_deep_as_the_limits(name: str) -> None:
    """The content of a tag with two ends is read once, or for each end if it ends with free text."""
    tk.structural_tag(nested(name, 4 if name == "an open end" else 60)).compile(BYTE_VOCABULARY)
    tk.structural_tag(nested(name, 5), limits=Limits(depth=5))
    for form, limits in ((nested(name, 6), Limits(depth=5)), (nested(name, 3000), Limits())):
        with pytest.raises(tk.LimitExceeded) as caught:
            tk.structural_tag(form, limits=limits)
        assert caught.value.limit == "depth"
    deepest = tk.structural_tag(nested(name, 400))
    if name not in ("or", "sequence", "star"):
        with pytest.raises(tk.LimitExceeded):  # a tag is several operators deep
            deepest.compile(BYTE_VOCABULARY)


@pytest.mark.parametrize("depth", [10, 3000])
def test_forms_as_json_texts_nest_as_deep(depth: int) -> None:
    text = '{"format": ' + '{"type": "star", "content": ' * depth + json.dumps(ANY) + "}" * (depth + 1)
    if depth == 10:
        tk.structural_tag(text).parse("a")
        return
    with pytest.raises(tk.LimitExceeded):
        tk.structural_tag(text)


def test_a_form_within_itself() -> None:
    form: dict[str, Any] = {"type": "star"}
    form["content"] = form
    with pytest.raises(tk.LimitExceeded):
        tk.structural_tag({"format": form})


MANY = [f"<{number}>" for number in range(100)]
TAGS = [tk.tag(begin, None, ">") for begin in MANY]
# Each takes limits and a cancel token, and reads many phrases, tags or triggers.
READERS: dict[str, Callable[..., Any]] = {
    "text without": lambda **stops: tk.text_without(MANY, **stops),
    "a tag": lambda **stops: tk.tag("<", None, MANY, **stops),
    "triggered": lambda **stops: tk.triggered(TAGS, **stops),
    "tools": lambda **stops: tk.tool_calls([{"name": f"f{number}"} for number in range(100)], **stops),
    "ends": lambda **stops: tk.structural_tag({"format": tag_of("<", ANY, MANY)}, **stops),
    "tags": lambda **stops: tk.structural_tag(
        {
            "format": {
                "type": "triggered_tags",
                "triggers": MANY,
                "tags": [tag_of(one, ANY, ">") for one in MANY],
            }
        },
        **stops,
    ),
    "the older form": lambda **stops: tk.structural_tag(
        {"structures": [{"begin": one, "schema": {}, "end": ">"} for one in MANY], "triggers": MANY}, **stops
    ),
    "rules": lambda **stops: tk.structural_tag(
        {"format": {"type": "dispatch", "rules": [[one, ANY] for one in MANY]}}, **stops
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_reading_is_stopped(name: str) -> None:
    READERS[name]()
    with pytest.raises(tk.LimitExceeded) as caught:
        READERS[name](limits=Limits(seconds=1e-9))
    assert caught.value.limit == "seconds"
    cancel = tk.CancelToken()
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        READERS[name](cancel=cancel)
    with pytest.raises(tk.ArgumentError):
        READERS[name](limits=5)


@pytest.mark.parametrize("name", ["text without", "a tag", "triggered", "ends", "tags", "rules"])
def test_reading_holds_no_more_than_the_limit(name: str) -> None:
    with pytest.raises(tk.LimitExceeded) as caught:
        READERS[name](limits=Limits(memory_bytes=20_000))
    assert caught.value.limit == "memory_bytes"


def test_heads_are_bounded() -> None:
    """A phrase of n equal characters overlaps itself n - 1 times."""
    tk.tag("<", None, ["a" * 1000], limits=Limits(memory_bytes=4_000_000))
    with pytest.raises(tk.LimitExceeded) as caught:
        tk.tag("<", None, ["a" * 4000], limits=Limits(memory_bytes=4_000_000))
    assert caught.value.limit == "memory_bytes"


def test_another_thread_cancels() -> None:
    """The form is a tree of 2^30 tags, though its objects are few."""
    form = ANY
    for _ in range(30):
        form = {"type": "or", "elements": [tag_of("<", form, ">"), tag_of("(", form, ")")]}
    cancel = tk.CancelToken()
    timer = threading.Timer(0.05, cancel.cancel)
    timer.start()
    with pytest.raises(tk.Cancelled):
        tk.structural_tag({"format": form}, cancel=cancel)
    timer.join()
