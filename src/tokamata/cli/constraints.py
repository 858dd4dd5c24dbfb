"""The constraint of a command, from its options: a pattern, a JSON Schema, a Python type, or a grammar."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from tokamata.constraints.constraint import Constraint
from tokamata.constraints.grammar_constraints import grammar
from tokamata.constraints.json_constraints import json, json_schema
from tokamata.constraints.text_constraints import regex
from tokamata.constraints.type_constraints import type as type_constraint
from tokamata.errors import TokamataError, about

__all__ = ["Given", "OptionError", "Requested", "requested_constraint", "schema_text", "styles_of"]


class OptionError(TokamataError, ValueError):
    """Options that contradict each other, or name something that does not exist."""


class Given(NamedTuple):
    """The options of which one says what to write; the others are ``None``.

    Attributes:
        pattern: a regular expression.
        schema: JSON Schema, as a file or as text.
        named_type: a type, as ``module:Class`` or ``file.py:Class``.
        grammar: a file.
    """

    pattern: str | None
    schema: str | None
    named_type: str | None
    grammar: Path | None


class Requested(NamedTuple):
    """The constraint that a command was given.

    Attributes:
        constraint: the constraint.
        what: ``"pattern"``, ``"schema"``, ``"type"`` or ``"grammar"``.
        given: the value of the option.
    """

    constraint: Constraint[Any]
    what: str
    given: str


def styles_of(order: str | None, whitespace: str | None, spelling: str | None) -> dict[str, str | None]:
    """The options about how JSON is written, by the arguments of :func:`tokamata.json_schema`."""
    return {"property_order": order, "whitespace": whitespace, "spelling": spelling}


def requested_constraint(
    given: Given,
    syntax: str | None,
    lexer: str | None,
    styles: dict[str, str | None],
    *,
    default_is_json: bool = False,
) -> Requested:
    """Read the one of the options that was given.

    Args:
        given: the options.
        syntax: of types alone.
        lexer: of grammars alone.
        styles: from :func:`styles_of`; ``None`` where an option was not given.
        default_is_json: without any of them, all JSON is meant.

    Raises:
        OptionError: several of them were given, or none without a default; or the file or the type does not
            exist.
        TokamataError: from making the constraint.
    """
    options = ("--regex", "--schema", "--type", "--grammar")
    found = [option for option, value in zip(options, given, strict=True) if value is not None]
    if len(found) != 1 and (found or not default_is_json):
        shown = f", not both {found[0]} and {found[1]}" if found else ": the constraint"
        raise OptionError(f"give one of {', '.join(options[:-1])} and {options[-1]}{shown}")
    style: dict[str, Any] = {name: value for name, value in styles.items() if value is not None}
    if syntax is not None and given.named_type is None:
        raise OptionError("--syntax goes with --type")
    if lexer is not None and given.grammar is None:
        raise OptionError("--lexer goes with --grammar")
    if style and ((given.schema is None and given.named_type is None) or syntax == "python"):
        raise OptionError("--order, --whitespace and --spelling say how JSON is written; leave them out here")
    if given.pattern is not None:
        return Requested(regex(given.pattern), "pattern", given.pattern)
    if given.grammar is not None:
        return Requested(_read_grammar(given.grammar, lexer), "grammar", str(given.grammar))
    if given.schema is not None:
        text = schema_text(given.schema)
        with about("" if text == given.schema else f"--schema {given.schema!r:.200}"):
            return Requested(json_schema(text, **style), "schema", given.schema)
    if given.named_type is None:
        return Requested(json(), "JSON", "any JSON")
    if syntax is not None:
        style["syntax"] = syntax
    return Requested(type_constraint(_found_type(given.named_type), **style), "type", given.named_type)


def _read_grammar(path: Path, lexer: Any) -> Constraint[Any]:
    syntax: Any = "gbnf" if path.suffix in (".gbnf", ".ebnf") else "lark"
    try:
        return grammar(path, syntax=syntax, lexer=lexer)
    except OSError as error:
        raise OptionError(
            f"--grammar {str(path)!r:.200} cannot be read: {error.strerror}; give the file of a grammar"
        ) from None


def schema_text(given: str) -> str:
    """A schema in the option itself, or in the file that it names."""
    if given.lstrip()[:1] == "{" or given.strip() in ("true", "false"):
        return given
    try:
        return Path(given).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is no text in UTF-8"
        raise OptionError(f"--schema {given!r:.200} cannot be read: {reason}; give a file, or JSON") from None


def _found_type(given: str) -> Any:
    """The type that an option names."""
    place, _, name = given.rpartition(":")
    if not place or not name:
        example = f"{given}:Class" if given.endswith(".py") else ":".join(given.rsplit(".", 1))
        hint = f"; perhaps {example!r:.200}" if "." in given else ""
        raise OptionError(f"--type is module:Class or file.py:Class, not {given!r:.200}{hint}")
    try:
        found: Any = _module(place)
    except OptionError:
        raise
    except Exception as error:  # whatever the caller's own module raises
        raise OptionError(
            f"the module {place!r:.200} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    for part in name.split("."):
        if not hasattr(found, part):
            near = get_close_matches(part, [one for one in dir(found) if one[:1] != "_"], 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise OptionError(f"{place!r:.200} has no {name!r:.200}{hint}")
        found = getattr(found, part)
    return found


def _module(place: str) -> ModuleType:
    if not place.endswith(".py"):
        if "" not in sys.path:
            sys.path.insert(0, "")  # as python -m has it
        return importlib.import_module(place)
    path = Path(place)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise OptionError(f"there is no file {place!r:.200}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where forward references are looked up
    spec.loader.exec_module(module)
    return module
