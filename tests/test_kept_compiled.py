"""Compiled constraints in files: the same masks after loading, less work, no harm by damaged files."""

from __future__ import annotations

import json
import os
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokamata as tk
import tokamata._core as _core
from tests.support.constraints import MAKERS, OPERATORS, SCHEMA
from tests.support.kept import Walk, file_of, mutated_steps, sections, try_everything, walks
from tests.support.masks import bits
from tests.support.tokenizers.random_tokenizers import with_every_byte
from tests.support.vocabularies import BYTES, bytes_and
from tokamata.calls.recipes import steps_of
from tokamata.matching import kept_compiled
from tokamata.matching.written_recipes import Unwritable, written

NAMES = {"<image>": 256, "<end>": 257, "<|vision_start|>": 258, "<|image_pad|>": 259, "<|vision_end|>": 260}
WORDS = [b"abc", b'{"', b"</", b'": ', b'", "', b"}]", b"12", "é".encode()]


def vocabulary() -> tk.Vocabulary:
    """Every byte, control tokens, and words."""
    tokens = [*BYTES, *(None for _ in NAMES), *WORDS]
    return tk.Vocabulary.load(tokens, stop="<end>", control_tokens=NAMES, width=300)


VOCABULARY = vocabulary()


def again(compiled: tk.CompiledConstraint[Any], path: Path, **options: Any) -> tk.CompiledConstraint[Any]:
    compiled.save(path)
    return tk.load(path, compiled.vocabulary, **options)


def used(constraint: tk.Constraint[Any], seed: int = 1, **options: Any) -> tk.CompiledConstraint[Any]:
    compiled = constraint.compile(VOCABULARY, **options)
    walks(compiled, seed)
    return compiled


def steps(work: Callable[[], object]) -> int:
    """The steps that the engine takes for it in this thread."""
    before = _core.steps_of_thread()
    work()
    return _core.steps_of_thread() - before


# ---- the same after loading ---------------------------------------------------------------------

# Some of their constraints are made of classes or functions of Python.
WITH_PYTHON = {"type", "tool_call", "tool_calls", "delimited_subsequence_of", "think_first", *OPERATORS}


@pytest.mark.parametrize("name", MAKERS)
def test_all_constraints_are_the_same(name: str, tmp_path: Path) -> None:
    saved = 0
    for made in MAKERS[name]():
        try:
            written(steps_of(made.constraint))
        except Unwritable:
            with pytest.raises(tk.CompiledFileError, match="a file cannot have") as caught:
                made.constraint.compile(VOCABULARY).save(tmp_path / "x")
            assert name in WITH_PYTHON
            assert caught.value.advice
            continue
        saved += 1
        compiled = used(made.constraint)
        twin = again(compiled, tmp_path / "x")
        assert (type(twin.constraint), repr(twin.constraint)) == (
            type(made.constraint),
            repr(made.constraint),
        )
        assert [twin.parse(text) for text in made.texts] == [compiled.parse(text) for text in made.texts]
        fresh = made.constraint.compile(VOCABULARY)
        for seed in (1, 2):  # what was used, and more
            assert walks(twin, seed) == walks(compiled, seed) == walks(fresh, seed)
    assert saved or name in WITH_PYTHON


CASES: dict[str, tk.Constraint[Any]] = {
    "regex": tk.regex(r"([a-c]{1,9}|\d+x)*=\w{3,7}"),
    "counts": tk.regex("[a-z]{1,40}(,[a-z]{2,30}){3}"),
    "lookahead": tk.regex("(?=.*ab)(?=.*ba)[ab]{3,12}"),
    "schema": tk.json_schema(SCHEMA),
    "names": tk.json_schema({"type": "object", "additionalProperties": {"enum": ["a", "ab", None]}}),
    "unique": tk.json_schema({"type": "array", "items": {"maxLength": 3}, "uniqueItems": True}),
    "ascii": tk.json_schema({"maxLength": 20}) & tk.regex("[ -~]*"),
    "left": tk.regex("[a-d]+") - tk.regex(".*(abc|bd).*"),
    "grammar": tk.grammar('root ::= item ("," item)*\nitem ::= [a-z]+ | "(" root ")"', syntax="gbnf"),
    "ambiguous": tk.grammar('root ::= root root | "(" root? ")" | "[" root? "]"', syntax="gbnf"),
    "tag": tk.triggered([tk.tag("<a>", tk.json(), "</a>"), tk.tag("<b>", None, "</b>")]),
    "control": tk.regex("[a-c]{2}") + tk.image() + tk.json(),
    "edges": tk.text_token() + tk.regex("[a-c]+") + tk.paragraph_token(),
    "thought": tk.think_first(tk.json_schema(SCHEMA)),
    "operators": (tk.literal("a") | tk.json()).optional().separated_by(tk.literal(";"), 1, 3)
    + ~tk.regex(".*b"),
}
NO_BUDGETS = {"ascii"}  # their masks within a budget meet limits, with a file or without


@pytest.mark.parametrize("name", CASES)
def test_what_was_used_is_known(name: str, tmp_path: Path) -> None:
    constraint, own = CASES[name], vocabulary()  # which has no segments yet
    compiled = constraint.compile(own)
    cold = steps(lambda: walks(compiled, 1))
    expected = walks(compiled, 1)
    twin = again(compiled, tmp_path / "x")
    assert twin.memory_bytes > constraint.compile(own).memory_bytes
    warm = steps(lambda: walks(twin, 1))
    assert walks(twin, 1) == expected
    assert 2 * warm < cold
    budgets = () if name in NO_BUDGETS else (3, 10, 40)
    for tokens, _ in expected[:: len(expected) // 12]:
        masks: list[list[object]] = []
        for one in (twin, constraint.compile(own)):
            matcher = one.matcher()
            assert matcher.advance_all(tokens)
            masks.append([_masks_within(matcher, budget) for budget in budgets])
            masks[-1] += [matcher.forced_tokens(), matcher.is_accepting]
            if budgets:
                masks[-1].append(len(matcher.shortest_completion()))
        assert masks[0] == masks[1], tokens
    assert walks(again(twin, tmp_path / "y"), 3) == walks(constraint.compile(own), 3)


def _masks_within(matcher: tk.Matcher, budget: int) -> object:
    row = np.zeros((300 + 31) // 32, np.int32)
    try:
        matcher.fill_mask(row, budget)
    except tk.BudgetError as error:
        return error.needed
    return frozenset(bits(row))


def test_states_after_a_collection(tmp_path: Path) -> None:
    """Masks that were kept while states were freed are those of their states alone."""
    for name in ("schema", "unique", "grammar", "regex"):
        constraint = CASES[name]
        small = constraint.compile(VOCABULARY, limits=tk.Limits(states=400))
        held = []
        for seed in range(30):
            draw, matcher = random.Random(seed), small.matcher()
            for _ in range(12):
                mask = sorted(bits(matcher.mask) - {257})
                if not mask or not matcher.advance(draw.choice(mask)):
                    break
            held = [*held[-2:], matcher]
        twin = again(small, tmp_path / "x")
        for seed in range(5):
            assert walks(twin, seed) == walks(constraint.compile(VOCABULARY), seed)


def test_options_travel_and_limits_do_not(tmp_path: Path) -> None:
    tokens: list[bytes | None] = [*BYTES, b" a", b"b", None]
    limits = tk.Limits(states=5000)
    compiled = tk.regex("( ?[ab])*").compile(tk.Vocabulary.load(tokens, stop=258), start_of_text=True)
    twin = again(compiled, tmp_path / "x", limits=limits)
    assert (twin._start_of_text, twin.tokenization, twin.limits) == (True, "any", limits)
    assert b"limits" not in (tmp_path / "x").read_bytes()


def test_canonical_tokenization(tmp_path: Path) -> None:
    _, vocabulary = with_every_byte(random.Random(3))
    for constraint in (tk.json_schema(SCHEMA), tk.regex("(ab|abc|c)+ [a-z]{2,5}")):
        compiled = constraint.compile(vocabulary, tokenization="canonical")
        expected = walks(compiled)
        twin = again(compiled, tmp_path / "x")
        assert twin.tokenization == "canonical"
        assert walks(twin) == expected


def test_masks_are_evicted_like_others(tmp_path: Path) -> None:
    compiled = used(CASES["counts"], limits=tk.Limits(memory_bytes=1 << 24))
    compiled.save(tmp_path / "x")
    before = compiled.memory_bytes
    for memory_bytes in (before // 4, before // 2, before):
        limits = tk.Limits(memory_bytes=max(memory_bytes, 1 << 19))
        twin = tk.load(tmp_path / "x", VOCABULARY, limits=limits)
        assert twin.memory_bytes <= limits.memory_bytes
        assert walks(twin, 2) == walks(compiled, 2)
        assert twin.memory_bytes <= limits.memory_bytes


def test_saving_while_matchers_run(tmp_path: Path) -> None:
    constraint = CASES["schema"]
    compiled, done = constraint.compile(VOCABULARY), threading.Event()
    failed: list[BaseException] = []

    def run(seed: int) -> None:
        try:
            while not done.is_set():
                walks(compiled, seed := seed + 10)
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=run, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    twins = [again(compiled, tmp_path / "x") for _ in range(8)]
    done.set()
    for thread in threads:
        thread.join()
    assert not failed
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    for seed, twin in enumerate(twins):
        assert walks(twin, seed) == walks(constraint.compile(VOCABULARY), seed)


# ---- what is refused ----------------------------------------------------------------------------


def test_other_vocabularies_are_refused(tmp_path: Path) -> None:
    compiled = used(tk.regex("[a-z]+"))
    compiled.save(tmp_path / "x")
    tokens = [*BYTES, *(None for _ in NAMES), *WORDS]
    renamed = {**NAMES, "<picture>": 256}
    del renamed["<image>"]
    others = [
        tk.Vocabulary.load([*tokens[:-1], b"x"], stop="<end>", control_tokens=NAMES, width=300),
        tk.Vocabulary.load(tokens, stop=[258], control_tokens=NAMES, width=300),
        tk.Vocabulary.load(tokens, stop="<end>", control_tokens=NAMES, width=301),
        tk.Vocabulary.load(tokens, stop="<end>", control_tokens=renamed, width=300),
    ]
    for other in others:
        with pytest.raises(tk.CompiledFileError, match="another vocabulary"):
            tk.load(tmp_path / "x", other)
    assert walks(tk.load(tmp_path / "x", vocabulary())) == walks(compiled)
    with pytest.raises(tk.ArgumentError, match="vocabulary"):
        tk.load(tmp_path / "x", "tokenizer.json")  # type: ignore[arg-type]


def test_masks_of_other_versions_count_as_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = used(CASES["regex"])
    monkeypatch.setattr(kept_compiled, "__version__", "0.0.1")
    compiled.save(tmp_path / "x")
    monkeypatch.undo()
    twin = tk.load(tmp_path / "x", VOCABULARY)
    assert twin.memory_bytes == CASES["regex"].compile(VOCABULARY).memory_bytes
    assert walks(twin) == walks(compiled)


def test_paths(tmp_path: Path) -> None:
    compiled = used(tk.regex("[a-z]+"))
    with pytest.raises(FileNotFoundError):
        tk.load(tmp_path / "none", VOCABULARY)
    with pytest.raises(FileNotFoundError):
        compiled.save(tmp_path / "none" / "x")
    for call in (compiled.save, lambda path: tk.load(path, VOCABULARY)):
        with pytest.raises(tk.CompiledFileError, match="regular file"):
            call(tmp_path)
        with pytest.raises(tk.ArgumentError, match="path"):
            call(7)  # type: ignore[arg-type]
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(tk.CompiledFileError, match="regular file"):
        tk.load(tmp_path / "pipe", VOCABULARY)
    (tmp_path / "file").write_bytes(b"kept")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with pytest.raises(tk.CompiledFileError, match=r"a link to .*file"):
        compiled.save(tmp_path / "link")
    assert (tmp_path / "file").read_bytes() == b"kept"
    compiled.save(str(tmp_path / "file"))
    assert walks(tk.load(tmp_path / "link", VOCABULARY)) == walks(compiled)
    assert {path.name for path in tmp_path.iterdir()} == {"file", "link", "pipe"}


def test_cancelling_and_limits(tmp_path: Path) -> None:
    cancel = tk.CancelToken()
    compiled = used(CASES["schema"])
    compiled.save(tmp_path / "x")
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        compiled.save(tmp_path / "y", cancel=cancel)
    assert not (tmp_path / "y").exists()
    with pytest.raises(tk.Cancelled):
        tk.load(tmp_path / "x", VOCABULARY, cancel=cancel)
    with pytest.raises(tk.LimitExceeded, match="seconds"):
        tk.load(tmp_path / "x", VOCABULARY, limits=tk.Limits(seconds=1e-9))
    with pytest.raises(tk.LimitExceeded, match="depth"):
        tk.load(tmp_path / "x", VOCABULARY, limits=tk.Limits(depth=1))
    with pytest.raises(tk.LimitExceeded, match="memory_bytes"):
        tk.load(tmp_path / "x", VOCABULARY, limits=tk.Limits(memory_bytes=1 << 10))
    few = tk.load(tmp_path / "x", VOCABULARY, limits=tk.Limits(states=60))
    assert few.states <= 60
    assert walks(tk.load(tmp_path / "x", VOCABULARY), 2) == walks(compiled, 2)


# ---- damaged files ------------------------------------------------------------------------------


def small_file(path: Path) -> tuple[bytes, Walk]:
    compiled = tk.regex("a{1,3}|bc").compile(bytes_and(b"aa"))
    expected = walks(compiled)
    compiled.save(path)
    return path.read_bytes(), expected


def loaded_or_refused(
    data: bytes, path: Path, vocabulary: tk.Vocabulary
) -> tk.CompiledConstraint[Any] | None:
    path.write_bytes(data)
    try:
        return tk.load(path, vocabulary)
    except tk.CompiledFileError:
        return None


def test_every_changed_byte_and_every_cut(tmp_path: Path) -> None:
    data, expected = small_file(tmp_path / "x")
    vocabulary = bytes_and(b"aa")
    changed = [data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :] for at in range(len(data))]
    cut = [data[:length] for length in range(len(data))]
    refused = 0
    for one in [*changed, *cut, data + b"\0"]:
        twin = loaded_or_refused(one, tmp_path / "y", vocabulary)
        refused += twin is None
        if twin is not None:
            assert walks(twin) == expected
    recipe = data.index(b"}", data.index(b'"steps"')) + 1
    assert 2 * (recipe - 40) < refused < 2 * (recipe + 40)  # without masks it is a constraint still


def test_masks_of_any_bytes_do_no_harm(tmp_path: Path) -> None:
    """What digests do not catch: every changed byte of small masks, and random ones of larger ones."""
    draw = random.Random(20261126)
    data, _ = small_file(tmp_path / "x")
    vocabulary = bytes_and(b"aa")
    _, masks = sections(data)
    mutants = [
        masks[:at] + bytes([value]) + masks[at + 1 :]
        for at in range(len(masks))
        for value in (masks[at] ^ 1 << draw.randrange(8), draw.choice((0, 0x7F, 0x80, 0xFF)))
    ]
    mutants += [masks[:at] for at in range(len(masks))] + [masks + b"\0"]
    for mutant in mutants:
        compiled = tk.regex("a{1,3}|bc").compile(vocabulary)
        if compiled._core.read_masks(mutant, 1.0, None) is not None:
            try_everything(compiled, draw)
    read = 0
    for name in ("schema", "unique", "ambiguous", "control", "edges", "lookahead"):
        constraint = CASES[name]
        kept = used(constraint)._core.kept_masks(None)
        for _ in range(25):
            mutant = bytearray(kept)
            for _ in range(draw.choice((1, 1, 3))):
                at = draw.randrange(8, len(mutant))
                mutant[at] = draw.choice((0, 1, 2, mutant[at] ^ 1 << draw.randrange(8), 0x80, 0xFF))
            compiled = constraint.compile(VOCABULARY)
            if compiled._core.read_masks(bytes(mutant), 1.0, None) is not None:
                read += 1
                try_everything(compiled, draw)
    assert read > 0


def varint(value: int) -> bytes:
    found = b""
    while value >= 0x80:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])


def test_hostile_numbers_in_masks() -> None:
    compiled = tk.regex("ab").compile(VOCABULARY)
    kept = compiled._core.kept_masks(None)
    head = kept[:8] + varint(10)
    many = [1, 1 << 7, (1 << 32) - 1, 1 << 32, 1 << 40, (1 << 63) - 1, (1 << 64) - 1]
    for count in many:
        for tail in (b"", b"\0" * 100, b"\1" * 100, b"\xff" * 100):
            for before in (head, head + b"\0", head + b"\0\0", head + b"\0\0\1\0"):
                assert compiled._core.read_masks(before + varint(count) + tail, 1.0, None) is None
    tiny = tk.regex("ab").compile(VOCABULARY, limits=tk.Limits(memory_bytes=1 << 20))
    full = head + varint(0) + varint(1 << 20) + b"\1\0\0\0\0\0" * (1 << 20)  # empty masks, of 200 bytes each
    assert tiny._core.read_masks(full, 1.0, None) == 0
    assert tiny.memory_bytes < 1 << 20


def test_states_that_do_not_exist_count_as_damage() -> None:
    for text, symbols in (
        ("ab", [97, 97]),
        ("ab", [97, 98, 99]),
        ("ab", [257]),
        ("ab", [1 << 31]),
        ("ab", [256, 256, 99]),
    ):
        compiled = tk.regex(text).compile(VOCABULARY)
        empty = b"\1\0\0\0\0\0"
        states = (
            varint(2) + b"\0\0\0" + b"\1" + varint(len(symbols)) + b"".join(map(varint, symbols)) + b"\1\0\0"
        )
        assert (
            compiled._core.read_masks(
                compiled._core.kept_masks(None)[:8] + varint(10) + b"\0" + b"\1" + empty + states + b"\0",
                1.0,
                None,
            )
            is None
        )


# ---- hostile recipes ----------------------------------------------------------------------------


def recipes() -> Iterator[tuple[str, Any]]:
    """Steps that nobody writes."""
    nested: Any = []
    for _ in range(100):
        nested = ["tuple", [nested]]
    yield "not a list", {"steps": 7}
    yield "none", []
    yield "a name that is not in the table", [["call", "os.system", ["touch x"], {}]]
    yield "a path of a name", [["call", "tokamata.constraints.constraint:_joined", ["+"], {}]]
    yield "a name of another type", [["call", ["regex"], ["a"], {}]]
    yield "an option that does not exist", [["call", "regex", ["a"], {"shell": True}]]
    yield "arguments of other types", [["call", "regex", [["list"]], {}]]
    yield "too many arguments", [["call", "regex", ["a"] * 50, {}]]
    yield "a step to come", [["call", "joined", ["+", ["step", 1]], {}], ["call", "literal", ["a"], {}]]
    yield "a step before the first", [["call", "joined", ["+", ["step", -1]], {}]]
    yield "itself", [["call", "joined", ["+", ["step", 0]], {}]]
    yield "a step past the last", [["call", "literal", ["a"], {}], ["call", "joined", ["+", ["step", 9]], {}]]
    yield "no constraint", [["call", "invert", [5], {}]]
    yield "a rule", [["call", "rule", ["a"], {}]]
    yield "a list", [["list", [1]]]
    yield (
        "an operator that does not exist",
        [["call", "literal", ["a"], {}], ["call", "joined", ["^", ["step", 0]], {}]],
    )
    yield "an operand of another type", [["call", "joined", ["+", 3, "a"], {}]]
    yield "a dict as a key", [["dict", [[["tuple", []], 1]]], ["call", "json_schema", [["step", 0]], {}]]
    yield "nested tuples", [["call", "regex", [nested], {}]]
    yield "bytes of other digits", [["call", "json_schema", [["bytes", "xx"]], {}]]
    yield (
        "a file that is elsewhere",
        [["call", "grammar", [["file", "/etc/x", "%import .passwd.A\nstart: A", []]], {"syntax": "lark"}]],
    )
    yield "a number of 5,000 digits", [["call", "repeat", [["step", 0], 10**4000], {}]]


@pytest.mark.parametrize("what", dict(recipes()))
def test_hostile_recipes(what: str, tmp_path: Path) -> None:
    recipe, masks = sections(small_file(tmp_path / "x")[0])
    data = file_of({**recipe, "steps": dict(recipes())[what]}, masks)
    (tmp_path / "x").write_bytes(data)
    with pytest.raises((tk.CompiledFileError, tk.GrammarError)) as caught:
        tk.load(tmp_path / "x", bytes_and(b"aa"))
    assert "root:" not in str(caught.value)  # nothing of another file


@pytest.mark.parametrize(
    "text",
    [
        b"", b"[]", b"{}", b"null", b"\xff", b"[" * 100_000, b'{"a":' * 100_000,
        b'{"writer":[],"vocabulary":"","options":{},"steps":[]}',
        b'{"writer":[],"vocabulary":7,"options":{"start_of_text":1,"tokenization":"any"},"steps":[]}',
        b'{"writer":[],"vocabulary":7,"options":{"start_of_text":true,"tokenization":[]},"steps":[]}',
    ],
    ids=range(10),
)  # fmt: skip
def test_other_heads(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(file_of(text, b""))
    with pytest.raises(tk.CompiledFileError):
        tk.load(tmp_path / "x", VOCABULARY)


def test_recipes_that_grow_are_bounded(tmp_path: Path) -> None:
    recipe, masks = sections(small_file(tmp_path / "x")[0])
    doubling: list[Any] = [["call", "json_schema", [True], {}]]
    doubling += [["call", "json_folded", ["&", ["step", n], ["step", n]], {}] for n in range(40)]
    laughs: list[Any] = [["list", ["a"]]]
    laughs += [["list", [["step", n]] * 10] for n in range(12)]
    laughs += [["dict", [["enum", ["step", 12]]]], ["call", "json_schema", [["step", 13]], {}]]
    text: list[Any] = [["call", "literal", ["a" * 1000], {}]]
    text += [["call", "joined", ["+", *[["step", n]] * 50], {}] for n in range(10)]
    for one in (doubling, laughs, text):
        (tmp_path / "x").write_bytes(file_of({**recipe, "steps": one}, masks))
        with pytest.raises(tk.LimitExceeded, match="memory_bytes"):
            tk.load(tmp_path / "x", bytes_and(b"aa"), limits=tk.Limits(memory_bytes=1 << 25))


def test_masks_that_are_larger_than_they_say(tmp_path: Path) -> None:
    data, expected = small_file(tmp_path / "x")
    recipe, masks = sections(data)
    vocabulary = bytes_and(b"aa")
    for content, length in (
        (bytes(1 << 26), None),
        (bytes(1 << 26), 7),
        (masks, 1 << 62),
        (masks, len(masks) + 1),
    ):
        (tmp_path / "x").write_bytes(file_of(recipe, content, length))
        twin = tk.load(tmp_path / "x", vocabulary, limits=tk.Limits(memory_bytes=1 << 24))
        assert walks(twin) == expected


def test_changed_recipes_make_a_constraint_or_are_refused(tmp_path: Path) -> None:
    """Random changes of JSON, with digests that fit: only errors of tokamata come out."""
    draw = random.Random(20261126)
    names = ("schema", "tag", "grammar", "left", "thought")
    recipe, _ = sections(small_file(tmp_path / "x")[0])
    seeds = [json.dumps(written(steps_of(CASES[name]))) for name in names]
    vocabulary, limits = bytes_and(b"aa"), tk.Limits(seconds=1.0, memory_bytes=1 << 26)
    made = 0
    for _ in range(300):
        steps = mutated_steps(json.loads(draw.choice(seeds)), draw)
        (tmp_path / "x").write_bytes(file_of({**recipe, "steps": steps}, b""))
        try:
            tk.load(tmp_path / "x", vocabulary, limits=limits)
        except tk.TokamataError:
            continue
        made += 1
    assert made > 20
