"""A validator of texts that are graphs of RDF: SHACL.

Texts are written by a model that strangers may have prompted, so nothing in them is fetched: a text in
JSON-LD may not name contexts of its own, and ontologies are not imported.
"""

# The packages are extras, hence `Any` for their objects.

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tokamata.calls.arguments import checked_choice, checked_instance
from tokamata.errors import ArgumentError, MissingExtraError
from tokamata.validators.validator import Validator

__all__ = ["shacl"]


def shacl(
    shapes: str, *, text_format: str = "json-ld", context: Mapping[str, Any] | None = None
) -> Validator:
    """Validates texts that are graphs by shapes of SHACL, as pyshacl does.

    Args:
        shapes: the shapes, in Turtle.
        text_format: the format of the texts: ``"json-ld"``, ``"turtle"`` or ``"nt"``.
        context: for JSON-LD: what the names of members mean.  The texts themselves may have no ``@context``.

    Raises:
        MissingExtraError: pyshacl is not installed.
        ArgumentError: the shapes are not Turtle, or ``context`` is used with another format.
    """
    checked_instance("shapes", shapes, str, "shapes in Turtle")
    checked_choice("text_format", text_format, ("json-ld", "turtle", "nt"))
    checked_instance("context", context, (Mapping, type(None)), "a mapping, or None")
    if context is not None and text_format != "json-ld":
        raise ArgumentError("context", "a mapping", f'None with text_format="{text_format}"')
    try:
        import pyshacl
        import rdflib
    except ImportError as error:
        raise MissingExtraError("pyshacl", "validators", "validating with SHACL") from error
    try:
        graph = rdflib.Graph().parse(data=shapes, format="turtle")
        pyshacl.validate(rdflib.Graph(), shacl_graph=graph, do_owl_imports=False)
    except Exception as error:  # both packages raise many types
        raise ArgumentError("shapes", "a text that is none", "shapes in Turtle", str(error)) from error
    return _Shacl(pyshacl, rdflib, graph, text_format, context)


class _Shacl(Validator):
    def __init__(
        self, pyshacl: Any, rdflib: Any, shapes: Any, text_format: str, context: Mapping[str, Any] | None
    ) -> None:
        self._pyshacl, self._rdflib, self._shapes = pyshacl, rdflib, shapes
        self._format, self._context = text_format, context

    def refusal(self, text: str, value: Any) -> str | None:
        options: dict[str, Any] = {}
        if self._format == "json-ld":
            try:
                if _names_context(json.loads(text)):
                    return "the text has an @context of its own"
            except (ValueError, RecursionError) as error:
                return str(error)
            options["context"] = dict(self._context or {})
        try:
            graph = self._rdflib.Graph().parse(data=text, format=self._format, **options)
        except Exception as error:  # rdflib's parsers raise many types
            return f"the text is no graph in {self._format}: {error}"
        try:
            conforms, _, report = self._pyshacl.validate(
                graph, shacl_graph=self._shapes, do_owl_imports=False
            )
        except Exception as error:  # a pattern that is none, or a number that is too large
            return f"pyshacl cannot judge the text: {error}"
        return None if conforms else str(report)


def _names_context(value: Any) -> bool:
    """Whether some object of a JSON value has a member that JSON-LD reads as a context."""
    open_values = [value]
    while open_values:
        one = open_values.pop()
        if isinstance(one, dict):
            if "@context" in one or "@import" in one:
                return True
            open_values += one.values()
        elif isinstance(one, list):
            open_values += one
    return False
