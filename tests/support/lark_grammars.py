"""Lark grammars at random, and judges of their texts that share nothing with the engine."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import lark
from lark.lexer import Lexer, Token

__all__ = ["Judge", "judge_of", "random_lark"]

Judge = Callable[[str], bool]

_LOOKS = ["(?={})", "(?!{})", "(?<={})", "(?<!{})", r"\b", r"\B", "^", "$", "(?m:^)", "(?m:$)"]
_AROUND = ["a", "b", "ab", "[bc]", "a|bc"]
_TEXTS = ['"a"', '"ab"', '"b"', '"c"', '"ab"i']
_RUNS = ["a+", "b+", "[ab]+", "c+", " +", "[bc]*c", "a{2,}", "b+?"]
_IGNORED = ["/ +/", '" "', "/c/", "/[ b]+/", "/ c?/", "/ .*?b/"]


def random_lark(draw: random.Random, has_looks: bool, ignores_read: bool = False) -> str:
    """A grammar over ``a``, ``b``, ``c`` and the blank, whose terminals overlap; lark may refuse it.

    Args:
        draw: where the randomness comes from.
        has_looks: whether terminals have lookaround.
        ignores_read: whether what is ignored is drawn among the terminals that rules read.
    """
    terminals = [f"T{number}" for number in range(draw.randint(1, 3))]
    texts = _TEXTS[: draw.randint(0, len(_TEXTS))]
    rules = ["start", "x"][: draw.randint(1, 2)]
    symbols = terminals * 2 + texts * 2 + rules
    lines = []
    for rule in rules:
        alternatives = [
            " ".join(draw.choice(symbols) for _ in range(draw.choice([0, 1, 1, 2, 2, 3])))
            for _ in range(draw.randint(1, 3))
        ]
        lines.append(f"{rule}: {' | '.join(alternatives)}")
    for terminal in terminals:
        priority = draw.choice(["", "", "", ".1", ".2"])
        is_run = ignores_read and draw.random() < 0.5
        regex = draw.choice(_RUNS) if is_run else _random_regex(draw, 2, has_looks)
        lines.append(f"{terminal}{priority}: /{regex}/")
    if ignores_read:
        ignored = [
            draw.choice([*symbols[: -len(rules)], *_IGNORED]) for _ in range(draw.choice([1, 1, 2, 3]))
        ]
    else:
        ignored = [draw.choice(_IGNORED) for _ in range(draw.choice([0, 0, 1, 1, 2]))]
    lines += [f"%ignore {terminal}" for terminal in ignored]
    return "\n".join(lines)


def _random_regex(draw: random.Random, depth: int, has_looks: bool) -> str:
    choice = draw.random()
    if depth == 0 or choice < 0.3:
        return draw.choice(["a", "b", "c", "[ab]", "ab", "."])
    first = _random_regex(draw, depth - 1, has_looks)
    if choice < 0.5:
        return first + _random_regex(draw, depth - 1, has_looks)
    if choice < 0.65:
        return f"(?:{first}|{_random_regex(draw, depth - 1, has_looks)})"
    if choice < 0.9 or not has_looks:
        return f"(?:{first}){draw.choice(['*', '+', '?', '*?', '+?', '??', '{1,2}', '{1,2}?'])}"
    look = draw.choice(_LOOKS).format(draw.choice(_AROUND))
    return look + first if draw.random() < 0.5 else first + look


def judge_of(grammar: str, lexer: str) -> Judge:
    """Whether a text is one of a grammar: by lark itself, by its parser over tokens of a lexer of ours, or by
    the definition of ``"characters"``.

    Raises:
        Exception: whatever lark raises if it refuses the grammar.
    """
    if lexer == "characters":
        return _characters(grammar)
    how: Any = _longest(grammar) if lexer == "longest" else lexer
    parser = lark.Lark(grammar, parser="lalr" if lexer == "contextual" else "earley", lexer=how)

    def is_text(text: str) -> bool:
        try:
            parser.parse(text)
        except lark.UnexpectedInput:
            return False
        except RuntimeError as error:  # lark has found several derivations, and asks to report that
            if "multiple start symbol" not in str(error):
                raise
        return True

    return is_text


def _characters(grammar: str) -> Judge:
    """Where each rule may end, from each position, as a least fixed point; terminals by ``re.fullmatch``."""
    loaded = lark.Lark(grammar, parser="earley", lexer="dynamic")
    regexes = {found.name: re.compile(found.pattern.to_regexp()) for found in loaded.terminals}
    rules: dict[str, list[list[Any]]] = {}
    for rule in loaded.rules:
        rules.setdefault(rule.origin.name, []).append(rule.expansion)

    def is_text(text: str) -> bool:
        positions = range(len(text) + 1)

        def read(name: str, at: int) -> set[int]:
            return {end for end in positions[at + 1 :] if regexes[name].fullmatch(text[at:end])}

        def after_ignored(begins: set[int]) -> set[int]:
            found, newest = set(begins), set(begins)
            while newest:
                newest = {end for at in newest for name in loaded.ignore_tokens for end in read(name, at)}
                newest -= found
                found |= newest
            return found

        after = {(name, at): after_ignored(read(name, at)) for name in regexes for at in positions}
        ends: dict[tuple[str, int], set[int]] = {(rule, at): set() for rule in rules for at in positions}

        def ends_of(expansion: list[Any], at: int) -> set[int]:
            found = {at}
            for symbol in expansion:
                of_symbol = after if symbol.is_term else ends
                found = {end for begin in found for end in of_symbol[symbol.name, begin]}
            return found

        changed = True
        while changed:
            changed = False
            for (rule, at), known in ends.items():
                found = {end for expansion in rules[rule] for end in ends_of(expansion, at)}
                changed = changed or found != known
                ends[rule, at] = found
        return any(len(text) in ends["start", at] for at in after_ignored({0}))

    return is_text


def _longest(grammar: str) -> type[Lexer]:
    """A lexer that takes the longest text of any terminal; of several terminals, the first in order."""
    loaded = lark.Lark(grammar, parser="earley", lexer="dynamic")
    in_order = sorted(loaded.terminals, key=lambda found: (-found.priority, found.pattern.type == "re"))

    class Longest(Lexer):
        def __init__(self, _: object) -> None:
            pass

        def lex(self, data: Any, *_: object) -> Iterator[Token]:
            text, start = str(data), 0
            while start < len(text):
                ends = [_end(found.pattern, text, start) for found in in_order]
                end = max(ends, default=-1)
                if end <= start:
                    raise lark.UnexpectedCharacters(text, start, 1, 1)
                name = in_order[ends.index(end)].name
                if name not in loaded.ignore_tokens:
                    yield Token(name, text[start:end])
                start = end

    return Longest


def _end(pattern: Any, text: str, start: int) -> int:
    """Where a terminal ends at the latest; or, with lazy quantifiers, where ``re.match`` has it end."""
    regex = re.compile(pattern.to_regexp())
    if re.search(r"[*+?}]\?", pattern.to_regexp()):
        found = regex.match(text, start)
        return found.end() if found else -1
    ends = [end for end in range(start + 1, len(text) + 1) if regex.fullmatch(text, start, end)]
    return max(ends, default=-1)
