"""The rules of the engine for a grammar with a lexer, kept on disk.

To find them takes seconds for the grammar of a programming language; to make them again from the steps that
made them (:mod:`.expressions`) takes a tenth of that.  A kept file has no code and nothing pickled::

    sha256 of the rest | the program, as JSON

Its name depends on all that the program does: the rules and terminals that were read, the lexer, and the code
that combines them.  So files that a grammar imports, and the version of lark, are in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import tokamata._core as _core
from tokamata.patterns.grammars.lexer.competition import LexerName
from tokamata.patterns.grammars.lexer.lexed import without_lexer
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.patterns.grammars.rules.expressions import journal_of, made_by
from tokamata.patterns.grammars.rules.lowering import lower_grammar
from tokamata.resources import kept_files
from tokamata.resources.later import Later
from tokamata.resources.limits import Watch
from tokamata.resources.logs import LOG

__all__ = ["EngineRules", "engine_rules"]

_KIND = "grammars"
_DIGEST = 32
LEAST_SECONDS = 0.2  # what takes less is found again


class EngineRules(NamedTuple):
    """A grammar without a lexer, as the engine has it.

    Attributes:
        expression: its texts.
        grammar: its rules, which are found when they are first needed.
    """

    expression: _core.Expression
    grammar: Later[trees.Grammar]


def engine_rules(grammar: trees.Grammar, lexer: LexerName, watch: Watch) -> EngineRules:
    """The texts of a grammar under a lexer; read from the disk, if an earlier process has kept them.

    Args, Raises: as :func:`.without_lexer` and :func:`.lower_grammar`.
    """
    given = [terminal.expression for terminal in grammar.terminals]
    path = _path_of(grammar, lexer)
    if path is not None and (expression := _load(path, given, watch)) is not None:
        return EngineRules(expression, Later(lambda watch: without_lexer(grammar, lexer, watch)))
    begin = time.thread_time()
    with journal_of(given) as journal:
        exact = without_lexer(grammar, lexer, watch)
        expression = lower_grammar(exact, watch)
    spent = time.thread_time() - begin
    LOG.debug("read the rules of a grammar with %d terminals in %.3f s", len(given), spent)
    is_slow = spent >= LEAST_SECONDS
    if path is not None and is_slow and (program := journal.program(expression)) is not None:
        body = json.dumps(program, separators=(",", ":")).encode()
        kept_files.write(path, lambda file: file.write(hashlib.sha256(body).digest() + body))
    return EngineRules(expression, Later.found(exact))


def _load(path: Path, given: list[_core.Expression], watch: Watch) -> _core.Expression | None:
    """The kept expression; ``None`` if there is none."""
    try:
        data = path.read_bytes()
    except OSError:
        return None  # nothing is kept
    body = memoryview(data)[_DIGEST:]
    if hashlib.sha256(body).digest() != data[:_DIGEST]:
        kept_files.note_damage(path)
        return None
    try:
        expression = made_by(json.loads(bytes(body)), given, watch)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        kept_files.note_damage(path)  # although its digest fits
        return None
    kept_files.note_use(path)
    return expression


def _path_of(grammar: trees.Grammar, lexer: str) -> Path | None:
    """The file for a grammar; ``None`` if it is not to be kept."""
    folder = kept_files.folder_of(_KIND)
    if folder is None:
        return None
    patterns = [terminal.pattern for terminal in grammar.terminals]
    if any(pattern is None or pattern.automaton is not None for pattern in patterns):
        return None  # it has no plain form
    if any(isinstance(node, trees.Embedded) for node in trees.children_first(grammar.rules.values())):
        return None
    digest = hashlib.sha256()
    for part in _parts(grammar):
        digest.update(repr(part).encode(errors="surrogatepass"))
    return folder / kept_files.key_of([_code(), lexer.encode(), digest.digest()])


def _parts(grammar: trees.Grammar) -> Iterator[object]:
    """All that the rules of the engine depend on.

    Rules have numbers, in the order in which they are met: lark numbers the states of its parser, which are
    in their names.
    """
    yield [(terminal.name, terminal.texts, terminal.pattern) for terminal in grammar.terminals]
    yield [terminal.name for terminal in grammar.ignored]
    yield grammar.context is None, sorted(grammar.context or ())
    yield [sorted(field) if isinstance(field, frozenset) else field for field in grammar.indentation or ()]
    contexts: dict[frozenset[str] | None, int] = {None: 0}
    rules = {grammar.start: 0}
    for rule in (order := [grammar.start]):
        nodes = trees.children_first([grammar.rules[rule]])
        places = {id(node): place for place, node in enumerate(nodes)}
        for node in nodes:
            if isinstance(node, (trees.Block, trees.Reference)) and node.rule not in rules:
                rules[node.rule] = len(order)
                order.append(node.rule)
            if isinstance(node, trees.Terminal) and node.context not in contexts:
                contexts[node.context] = len(contexts)
                yield sorted(node.context or ())
        yield [_plain(node, places, contexts, rules) for node in nodes]


def _plain(
    node: trees.Node,
    places: dict[int, int],
    contexts: dict[frozenset[str] | None, int],
    rules: dict[str, int],
) -> object:
    """A node, with numbers for its children, its context and its rule."""
    kind = type(node).__name__
    if isinstance(node, trees.Terminal):
        return kind, node.name, contexts[node.context], node.is_bracketed
    if isinstance(node, (trees.Block, trees.Reference)):
        return kind, rules[node.rule]
    if isinstance(node, trees.Lookahead):
        return kind, sorted(node.terminals)
    assert isinstance(node, (trees.Choice, trees.Sequence)), node
    return kind, [places[id(child)] for child in node.children]


@cache
def _code() -> bytes:
    """Identifies this build of the engine and of the code that reads grammars."""
    home = Path(__file__).parent
    files = [Path(_core.__file__), *sorted(home.rglob("*.py"))]
    stats = [(os.path.relpath(path, home), path.stat().st_mtime_ns, path.stat().st_size) for path in files]
    return repr(stats).encode()
