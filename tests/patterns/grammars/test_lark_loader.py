"""The loader of Lark files: what lark's own loads, and files for which that takes exponential time."""

from __future__ import annotations

import itertools
import random
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import lark
import pytest
from lark.load_grammar import TERMINALS, load_grammar

import tokamata as tk
from tests.support.paths import DATA
from tokamata.patterns.grammars.files import lark_definitions, lark_loader
from tokamata.patterns.grammars.files.grammar_files import GrammarFile
from tokamata.patterns.grammars.files.lark_files import _imports
from tokamata.resources import bounded_steps as steps
from tokamata.resources.limits import Limits, Watch

FOLDER = DATA / "grammars"
FILES = [*sorted(FOLDER.rglob("*.lark")), *sorted((Path(lark.__file__).parent / "grammars").glob("*.lark"))]


def _file(path: Path | None) -> GrammarFile | None:
    return None if path is None else GrammarFile(str(path), path.read_text(encoding="utf-8"), {})


def compiled(text: str, path: Path | None = None) -> Any:
    """What our loader makes of a file: terminals, rules, ignored names; and the steps that it takes."""
    imports = _imports(_file(path))
    with steps.bounded(Watch()):
        grammar = lark_loader.loaded(text, str(path or "none"), imports)
        found = grammar.compile(["start"], ())
        return *found, steps._use.steps


def compiled_by_lark(text: str, path: Path | None = None) -> Any:
    load: Any = load_grammar
    grammar, _ = load(text, str(path or "none"), _imports(_file(path)), False)
    return grammar.compile(["start"], ())


def shown(found: Any) -> Any:
    """All that lark's parsers see of terminals, rules and ignored names."""
    terminals, rules, ignored, *_ = found
    return (
        [(terminal.name, terminal.pattern, terminal.priority) for terminal in terminals],
        [
            (
                rule.origin.name,
                [(symbol, getattr(symbol, "filter_out", None)) for symbol in rule.expansion],
                (rule.order, rule.alias, rule.options.keep_all_tokens, rule.options.expand1),
                (rule.options.priority, rule.options.template_source, rule.options.empty_indices),
            )
            for rule in rules
        ],
        ignored,
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_are_loaded_as_by_lark(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert shown(compiled(text, path)) == shown(compiled_by_lark(text, path))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_loaded_file_is_compiled_again_alike(path: Path) -> None:
    check_compiled_again(path.read_text(encoding="utf-8"), path)


@pytest.mark.parametrize(
    "text",
    [
        'start: b{_A}\na{p}: p [p]\n!b{p}: a{p} p [p] -> x\n_A: "a"\n',
        '!start: x _A [_A]\nx: _A [_A] "b"\n_A: "a"\n',
    ],
)
def test_what_a_rule_shows_is_noted_in_copies(text: str) -> None:
    """``!`` shows the terminals of one rule, which another rule may share with it."""
    assert shown(compiled(text)) == shown(compiled_by_lark(text))
    check_compiled_again(text)


def check_compiled_again(text: str, path: Path | None = None) -> None:
    """The definitions of a file stay the same when they are compiled, and when parsers are made of them."""
    with steps.bounded(Watch()):
        grammar = lark_loader.loaded(text, str(path or "none"), _imports(_file(path)))
        first = shown(grammar.compile(["start"], ()))
        for lexer in ("dynamic", "contextual"):  # of files without a rule "start", or that are not LALR, none
            with suppress(lark_loader.GroupsTooLarge, lark.exceptions.GrammarError):
                lark_loader.parser_of(grammar, None, "start", lexer)
        assert shown(grammar.compile(["start"], ())) == first


def random_file(draw: random.Random) -> str:
    """A grammar with groups, repetitions, placeholders, aliases, templates, priorities and inlined rules."""

    def item(depth: int) -> str:
        kinds = ["text", "terminal", "rule", "group", "maybe", "repeat", "repeat", "template"]
        kind = draw.choice(kinds if depth else kinds[:3])
        if kind == "group":
            return f"({body(depth - 1)})"
        if kind == "maybe":
            return f"[{body(depth - 1)}]"
        if kind == "repeat":
            return item(depth - 1) + draw.choice(["?", "?", "*", "+", "~2", "~0..2", "~1..2"])
        if kind == "template":
            return f"pair{{{draw.choice(['A', 'x', '_y', 'z'])}}}"
        return draw.choice({"text": ['"a"', '"b"'], "terminal": ["A", "_B"]}.get(kind, ["x", "_y", "z"]))

    def body(depth: int) -> str:
        return " | ".join(
            " ".join(item(depth) for _ in range(draw.randint(1, 3))) for _ in range(draw.randint(1, 2))
        )

    def named(text: str) -> str:
        return f"{text} -> {draw.choice('uv')}" if draw.random() < 0.3 else text

    lines = [
        f"start: {body(2)}",
        f"{draw.choice(['', '?', '!'])}x{draw.choice(['', '.2'])}: {named(body(1))}",
        f'_y: "b" | {body(1)}',
        f"z: {body(0)}",
        "pair{p}: p p",
        'A: "a" | C C',
        '_B: C "b"',
        f'C: "c" | "c"{draw.choice(["?", "~1..2"])} "d"',
    ]
    return "\n".join(lines)


def test_random_files_are_loaded_as_by_lark() -> None:
    outcomes = {"loaded": 0, "refused": 0}
    for seed in range(80):
        text = random_file(random.Random(seed))
        try:
            expected = shown(compiled_by_lark(text))
        except lark.exceptions.GrammarError as error:
            with pytest.raises(lark.exceptions.GrammarError, match=re.escape(str(error)[:20])):
                compiled(text)
            outcomes["refused"] += 1
            continue
        assert shown(compiled(text)) == expected, text
        outcomes["loaded"] += 1
    assert outcomes["loaded"] > 40


def test_groups_that_become_rules_change_no_text_and_no_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lark_loader, "_MOST_SYMBOLS", 0)
    compared = 0
    for seed in range(14):
        source = random_file(random.Random(seed)).replace("-> u", "").replace("-> v", "")
        try:
            theirs = lark.Lark(source, ambiguity="explicit")
        except lark.exceptions.GrammarError:
            continue
        with steps.bounded(Watch()):
            ours = lark.Lark(lark_loader.loaded(source, "none", []))
        for length in range(5):
            for letters in itertools.product("abc", repeat=length):
                text = "".join(letters)
                try:
                    expected: Any = theirs.parse(text)
                except lark.UnexpectedInput:
                    with pytest.raises(lark.UnexpectedInput):
                        ours.parse(text)
                    continue
                except RuntimeError:  # of lark's forest, for rules that derive themselves
                    continue
                found = ours.parse(text)
                if not any(tree.data == "_ambig" for tree in expected.iter_subtrees()):
                    assert found == expected, (source, text)
                    compared += 1
    assert compared > 30


@pytest.mark.parametrize("name", lark_definitions._LINEAR)
def test_line_breaks_are_those_of_lark(name: str) -> None:
    for length in range(7):
        for letters in itertools.product("\r\n |", repeat=length):
            text = "".join(letters)
            found = re.match(lark_definitions._LINEAR[name], text)
            expected = re.match(TERMINALS[name], text)
            assert (found and found.end()) == (expected and expected.end())


# ---- files of exponential size ----


def alternatives(count: int) -> str:
    return "start: " + " ".join(['("a"|"b")'] * count)


def options(count: int) -> str:
    return "start: " + " ".join(f'"{chr(97 + number % 26)}"?' for number in range(count))


def placeholders(count: int) -> str:
    return "start: " + " ".join(["[A | B C]"] * count) + '\nA: "a"\nB: "b"\nC: "c"'


def repetitions(count: int) -> str:
    body = '"a"'
    for _ in range(count):
        body = f"({body})~0..8"
    return f"start: {body}"


def long_repetitions(count: int) -> str:
    return "start: " + " ".join(['("a"|"b")~3..70'] * count)


def lists(count: int) -> str:
    body = '("a"|"b")'
    for _ in range(count):
        body = f'({body} ("a"|"b"))*'
    return f"start: {body}"


def templates(count: int) -> str:
    lines = [f"t{number}{{x}}: t{number + 1}{{x}} | t{number + 1}{{x}} x" for number in range(count)]
    return "\n".join(["start: t0{A}", *lines, f"t{count}{{x}}: x", 'A: "a"'])


def unused(count: int) -> str:
    return "\n".join(['start: "a"', *(f'r{n}: r{n + 1} "b"' for n in range(count)), f'r{count}: "c"'])


def brackets(count: int) -> str:
    return "start: " + '("a") ' * count


def blank_lines(count: int) -> str:
    return 'start: "a"' + "\n" * 1000 * count + 'b: "b"'


FAMILIES = [alternatives, options, placeholders, repetitions, long_repetitions, lists, templates, unused]


@pytest.mark.parametrize("family", [*FAMILIES, brackets, blank_lines], ids=lambda family: family.__name__)
def test_the_loader_is_linear(family: Any) -> None:
    *_, few = compiled(family(16))
    *_, many = compiled(family(64))
    assert many < 6 * few


@pytest.mark.parametrize(
    ("family", "text"),
    [
        (alternatives, "ab" * 12),
        (options, "acx"),
        (placeholders, "abca"),
        (repetitions, ""),
        (lists, "abb"),
        (templates, "aa"),
    ],
)
def test_files_of_exponential_size_are_read(family: Any, text: str) -> None:
    constraint = tk.grammar(family(12 if family in (repetitions, lists) else 24))
    assert constraint.parse(text).data == "start"
    with pytest.raises(tk.ParseError):
        constraint.parse(text + "?")


def test_terminals_are_shared() -> None:
    def doubled(count: int) -> str:
        lines = [f"T{number}: T{number + 1} T{number + 1}" for number in range(count)]
        return "\n".join(["start: T0", *lines, f'T{count}: "a"'])

    terminals, *_ = compiled(doubled(5))
    assert terminals[0].pattern.value == "a" * 32
    with pytest.raises(tk.LimitExceeded, match="simplify the pattern") as caught:
        tk.grammar(doubled(24))
    assert caught.value.limit == "memory_bytes"
    with pytest.raises(lark_loader.TerminalTooLong):
        compiled(doubled(500))


def test_lalr_parsers_need_distributed_groups() -> None:
    assert tk.grammar(options(9), lexer="contextual").parse("ac").children == []
    with pytest.raises(tk.GrammarError, match="cannot distribute the groups of start") as caught:
        tk.grammar(options(24), lexer="contextual")
    assert "lexer='basic'" in caught.value.hint


# ---- limits ----

ENDLESS = 't{x}: x | t{t{x}}\nstart: t{A}\nA: "a"'  # of templates


def exponential_automaton(count: int) -> str:
    """A grammar of which the LR(0) automaton has 2^count states."""
    numbers = range(count)
    lines = ["start: " + " | ".join(f"a{n} X{n}" for n in numbers)]
    for n in numbers:
        others = [m for m in numbers if m != n]
        lines.append(f"a{n}: " + " | ".join([*(f"X{m} a{n}" for m in others), f"X{n} b{n}", f"X{n}"]))
        lines.append(f"b{n}: " + " | ".join([*(f"X{m} b{n}" for m in others), f"X{n}"]))
    return "\n".join([*lines, *(f'X{n}: "{chr(97 + n)}"' for n in numbers)])


SLOW = {
    "templates": (ENDLESS, "dynamic"),
    "LALR": (exponential_automaton(16), "contextual"),
    "long rule": ("start: " + '"a" ' * 3000, "contextual"),
}


class Counted(Watch):
    """Stops the work at its n-th check."""

    def __init__(self, checks: int) -> None:
        super().__init__()
        self.checks = checks

    def check(self) -> None:
        self.checks -= 1
        if self.checks < 0:
            raise tk.Cancelled("counted")


@pytest.mark.parametrize("name", SLOW)
def test_lark_stops_at_limits(name: str) -> None:
    source, lexer = SLOW[name]
    with pytest.raises(tk.LimitExceeded, match="seconds"):
        tk.grammar(source, lexer=lexer, limits=Limits(seconds=0.15))  # type: ignore[arg-type]
    with pytest.raises(tk.LimitExceeded, match="memory_bytes"):
        tk.grammar(source, lexer=lexer, limits=Limits(memory_bytes=2_000))  # type: ignore[arg-type]
    cancel = tk.CancelToken()
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        tk.grammar(source, lexer=lexer, cancel=cancel)  # type: ignore[arg-type]


def test_the_loader_is_stopped_anywhere() -> None:
    text = placeholders(8) + "\n%import common.NUMBER\nb: pair{A}\npair{x}: (x NUMBER?)~3..60"
    *_, count = compiled(text)
    checks = count // steps._STEPS_OF_A_CHECK
    assert checks > 20
    for stop in range(0, checks, 3):
        with pytest.raises(tk.Cancelled), steps.bounded(Counted(stop)):
            lark_loader.loaded(text, "none", []).compile(["start"], ())


def test_imports_are_bounded(tmp_path: Path) -> None:
    for number in range(40):
        imports = f"%import .f{number + 1}.start -> a\n%import .f{number + 2}.start -> b\n"
        (tmp_path / f"f{number}.lark").write_text(imports + "start: a b\n")
    for number in (40, 41):
        (tmp_path / f"f{number}.lark").write_text('start: "a"\n')
    with pytest.raises(tk.LimitExceeded, match="seconds"):
        tk.grammar(tmp_path / "f0.lark", limits=Limits(seconds=0.2))
    assert tk.grammar(tmp_path / "f34.lark").parse("a" * 21).data == "start"
