"""The constraint of a request, and the check of a request before it reaches the engine.

vLLM describes a request by its kind, such as ``"json"``, and a text, such as a JSON Schema.  The front end
has no tokenizer when it checks a request.  Whether a constraint has any text does not depend on the
tokenizer, as long as that can spell all bytes.  So the check compiles the constraint for a vocabulary of the
256 bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tokamata.constraints.constraint import Constraint
from tokamata.constraints.grammar_constraints import grammar
from tokamata.constraints.json_constraints import json_schema
from tokamata.constraints.structural_tags import structural_tag
from tokamata.constraints.text_constraints import choice, regex
from tokamata.errors import ArgumentError, UnknownTokenError
from tokamata.resources.limits import Limits
from tokamata.resources.locks import Lock
from tokamata.vocabulary.single_bytes import single_bytes

__all__ = ["KINDS", "check_options", "check_request", "constraint_of"]

_MOST_CHECKED = 4096  # requests, most of which repeat earlier ones
# The front end answers no other request meanwhile; vLLM itself gives a regular expression five seconds.
_CHECK_LIMITS = Limits(seconds=5.0)
_GBNF_RULE = re.compile(r"^[ \t]*[A-Za-z][\w-]*[ \t]*::=", re.MULTILINE)
_OPTIONS = ("disable_any_whitespace", "disable_additional_properties", "whitespace_pattern")


def constraint_of(kind: str, text: str, limits: Limits | None = None) -> Constraint[Any]:
    """The constraint of a request.

    Args:
        kind: the name of a member of vLLM's ``StructuredOutputOptions``, in small letters.
        text: what vLLM gives with it: a JSON Schema, nothing for ``json_object``, a regular expression, the
            JSON list of the choices, a grammar, a structural tag.
        limits: bounds on reading it.

    Raises:
        ArgumentError: there is no constraint for this kind.
        TokamataError: the errors of the function that makes the constraint.
    """
    make = _MAKERS.get(kind)
    if make is None:
        expected = "one of " + ", ".join(_MAKERS)
        raise ArgumentError("structured_outputs", repr(kind), expected, "see docs/vllm.md")
    return make(text, limits)


def _schema(text: str, limits: Limits | None) -> Constraint[Any]:
    return json_schema(text, limits=limits)


def _object(_: str, limits: Limits | None) -> Constraint[Any]:
    return json_schema({"type": "object"}, limits=limits)


def _regex(text: str, limits: Limits | None) -> Constraint[Any]:
    return regex(text, limits=limits)


def _choice(text: str, _: Limits | None) -> Constraint[Any]:
    try:
        options = json.loads(text)
    except ValueError as error:
        raise ArgumentError("choice", repr(text[:80]), "the JSON text of a list", str(error)) from None
    return choice(options)


def _grammar(text: str, limits: Limits | None) -> Constraint[Any]:
    """Each rule of GBNF begins a line with ``name ::=``, which no line of a Lark file begins with."""
    return grammar(text, syntax="gbnf" if _GBNF_RULE.search(text) else "lark", limits=limits)


def _structural_tag(text: str, limits: Limits | None) -> Constraint[Any]:
    return structural_tag(text, limits=limits)


_MAKERS: dict[str, Callable[[str, Limits | None], Constraint[Any]]] = {
    "json": _schema,
    "json_object": _object,
    "regex": _regex,
    "choice": _choice,
    "grammar": _grammar,
    "structural_tag": _structural_tag,
}
KINDS = tuple(name.upper() for name in _MAKERS)
"""The members of vLLM's ``StructuredOutputOptions`` that have a constraint."""


class _Checked:
    """Which requests were found to be right, by digest: a request may have a schema of megabytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._digests: OrderedDict[bytes, None] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, digest: bytes) -> bool:
        with self._lock:
            if found := digest in self._digests:
                self._digests.move_to_end(digest)
            return found

    def add(self, digest: bytes) -> None:
        with self._lock:
            self._digests[digest] = None
            while len(self._digests) > self._most:
                self._digests.popitem(last=False)


_checked = _Checked(_MOST_CHECKED)


def check_request(kind: str, text: str) -> None:
    """Refuse a request that the engine could not serve.

    Raises:
        TokamataError: as :func:`constraint_of` and :meth:`tokamata.Constraint.compile`.
    """
    digest = hashlib.sha256(f"{kind} {text}".encode("utf-8", "surrogatepass")).digest()
    if digest in _checked:
        return
    constraint = constraint_of(kind, text, _CHECK_LIMITS)
    # A control token may be unknown here: only the engine knows those of the tokenizer.
    with suppress(UnknownTokenError):
        constraint.compile(single_bytes(), limits=_CHECK_LIMITS)
    _checked.add(digest)


def check_options(params: object) -> None:
    """Refuse options of a request that vLLM does not hand on to the engine.

    Args:
        params: vLLM's ``StructuredOutputsParams``.

    Raises:
        ArgumentError: one of them is set.
    """
    for name in _OPTIONS:
        if (given := getattr(params, name, None)) not in (None, False):
            hint = "vLLM gives it to no backend; write what you mean into the schema"
            raise ArgumentError(f"structured_outputs.{name}", repr(given), "left out", hint)
