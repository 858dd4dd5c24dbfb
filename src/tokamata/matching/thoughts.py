"""Which constraints begin with a thought, and what the engine gets.

Problem.  A budget leaves room for the shortest answer, so a model that thinks as long as it may has no room
for a longer one.  The engine keeps room for more while the thought is open (``core/matching/thought.hpp``).
It needs to know which texts end the thought, and how long answers are.

How.  A constraint with a thought says so (:class:`tokamata.values.denotation.Thought`).  What stands
before it in a concatenation is a part of the thought: so it is where a text begins with the end of a prompt.
Within other operations, a thought has no room of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import tokamata._core as _core
from tokamata.values.control_names import VocabularyTokens
from tokamata.values.denotation import Denotation, Thought, remade

if TYPE_CHECKING:
    from tokamata.resources.limits import Watch
    from tokamata.vocabulary import Vocabulary

__all__ = ["thought_for_core", "thought_of"]

_ForCore: TypeAlias = "tuple[_core.Expression, bytes, int | None, int, bytes] | None"


def thought_of(whole: Denotation[Any]) -> Thought | None:
    """The first thought of a constraint, with all that stands before it; ``None`` if it has none.

    Without recursion: constraints nest deeper than Python's stack.
    """
    before: list[Denotation[Any]] = []
    waiting = [whole]
    while waiting:
        one = waiting.pop()
        if one._thought is not None:
            return one._thought._replace(parts=(*before, *one._thought.parts))
        if one._operator in ("+", "captured"):
            waiting += reversed(one._operands)
        else:
            before.append(one)
    return None


def thought_for_core(whole: Denotation[Any], vocabulary: Vocabulary, watch: Watch) -> _ForCore:
    """The same for the engine, with the control tokens of a vocabulary."""
    thought = thought_of(whole)
    if thought is None:
        return None
    expressions = []
    for part in thought.parts:
        option = remade(part, VocabularyTokens(vocabulary), watch) if part._is_spelled else None
        expressions.append(_core.scope(part._expression if option is None else option.expression))
    ended = _core.concat([*expressions, _core.text()])
    answer = thought.answer_tokens or 0
    return ended, thought.end.encode(), thought.most_tokens, answer, thought.typical.encode()
