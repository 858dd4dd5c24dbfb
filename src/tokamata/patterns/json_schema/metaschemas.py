"""Which draft a schema is written in, by its ``$schema`` (core 8.1.1 and 8.1.2 of 2020-12).

A ``$schema`` that is no draft's own must be a metaschema in the caller's registry: its own ``$schema``
says the draft, its ``$vocabulary`` what of it is used.
"""

from __future__ import annotations

import re
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tokamata.errors import MissingExtraError
from tokamata.patterns.json_schema.dialect import Dialect
from tokamata.patterns.json_schema.drafts import (
    KNOWN_VOCABULARIES,
    LATEST,
    draft_named,
    with_vocabularies,
)
from tokamata.patterns.json_schema.faults import Fault

if TYPE_CHECKING:
    import referencing

__all__ = ["dialect_of", "shipped"]

_EXPECTED = (
    "the URI of draft 4, 6, 7, 2019-09 or 2020-12, such as "
    '"https://json-schema.org/draft/2020-12/schema", or that of a metaschema in registry='
)

_METASCHEMA = re.compile(r"https?://json-schema\.org/draft[-/]")


def dialect_of(schema: dict[str, Any], registry: referencing.Registry[Any] | None) -> Dialect:
    """The dialect of a schema that has ``$schema``."""
    name = schema["$schema"]
    metaschema, seen = schema, {""}
    used: dict[str, bool] | None = None
    while True:
        uri = metaschema.get("$schema", "")
        if type(uri) is not str or uri in seen:
            raise Fault(schema, "$schema", name, _EXPECTED)
        seen.add(uri)
        draft = draft_named(uri)
        if draft is None and uri.rstrip("#") in (
            "http://json-schema.org/schema",
            "https://json-schema.org/schema",
        ):
            draft = LATEST
        if draft is not None:
            return draft if used is None else with_vocabularies(draft, used)
        contents = _contents(uri, registry)
        if type(contents) is not dict:
            raise Fault(schema, "$schema", name, _EXPECTED)
        metaschema = contents
        if used is None:
            used = _vocabularies(schema, metaschema)


def shipped(uri: str) -> Any | None:
    """A metaschema that the package ``jsonschema-specifications`` carries, or ``None``.

    Raises:
        MissingExtraError: ``uri`` names a draft's metaschema, and the package is not installed.
    """
    if not _METASCHEMA.match(uri):
        return None
    try:
        registry = import_module("jsonschema_specifications").REGISTRY
    except ImportError as error:
        raise MissingExtraError(
            "jsonschema-specifications", "json-schema", f"a reference to the metaschema {uri!r:.200}"
        ) from error
    return _contents(uri, registry)


def _contents(uri: str, registry: referencing.Registry[Any] | None) -> Any | None:
    if registry is not None:
        with suppress(Exception):  # a retrieval of the caller's may raise anything
            return registry.get_or_retrieve(uri).value.contents
    return None


def _vocabularies(schema: dict[str, Any], metaschema: dict[str, Any]) -> dict[str, bool] | None:
    found = metaschema.get("$vocabulary")
    if type(found) is not dict:
        return None
    for uri, needed in found.items():
        if needed and uri.rsplit("/", 1)[-1] not in KNOWN_VOCABULARIES:
            expected = f"a metaschema whose vocabularies are known; it needs {uri:.200}"
            raise Fault(schema, "$schema", schema["$schema"], expected)
    return found
