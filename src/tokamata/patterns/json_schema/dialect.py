"""What a draft of JSON Schema says of its keywords: a table, and where subschemas sit.

The drafts themselves are in :mod:`.drafts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["LIST", "MAPPING", "MAPPING_OR_NAMES", "ONE", "ONE_OR_LIST", "Dialect", "subschemas"]

# How a keyword holds subschemas.
ONE, LIST, MAPPING, ONE_OR_LIST, MAPPING_OR_NAMES = range(5)


@dataclass(frozen=True, eq=False)
class Dialect:
    """One draft, or what a metaschema makes of it.

    Attributes:
        name: what messages call it.
        handlers: what to do with a keyword, each a :data:`.keyword_reader.Handler`.
        places: where subschemas sit, by keyword.
        in_place: the keywords whose subschemas are about the same value as the schema.
        id_keyword: what identifies a schema.
        legacy_ids: ``"#name"`` as an id makes an anchor, and there are no other anchors.
        lone_references: what stands beside ``$ref`` is ignored.
        sees_contains: items that ``contains`` finds count as evaluated.
        prefix_keyword: what holds the schemas of the first items.
        rest_keyword: what holds that of the further ones, beside the former.
        asserts_formats: whether ``format`` is an assertion whatever the caller says.
    """

    name: str
    handlers: Mapping[str, Callable[..., None]]
    places: Mapping[str, int]
    in_place: frozenset[str]
    id_keyword: str = "$id"
    legacy_ids: bool = False
    lone_references: bool = False
    sees_contains: bool = False
    prefix_keyword: str = "items"
    rest_keyword: str = "additionalItems"
    asserts_formats: bool = False
    unevaluated: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "unevaluated", "unevaluatedProperties" in self.places)


def subschemas(schema: dict[str, Any], dialect: Dialect) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Where each subschema stands, and what stands there; takes no offence at wrong shapes."""
    places = dialect.places
    for keyword, value in schema.items():
        place = places.get(keyword)
        if place is None:
            continue
        if isinstance(value, dict) and place in (MAPPING, MAPPING_OR_NAMES):
            for name, inner in value.items():
                if place == MAPPING or not isinstance(inner, list):
                    yield (keyword, name), inner
        elif isinstance(value, list) and place in (LIST, ONE_OR_LIST):
            for index, inner in enumerate(value):
                yield (keyword, str(index)), inner
        elif place in (ONE, ONE_OR_LIST):
            yield (keyword,), value
