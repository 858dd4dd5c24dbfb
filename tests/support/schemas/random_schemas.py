"""Random schemas of every draft, and random values that have a chance to be in them."""

from __future__ import annotations

import random
from typing import Any

DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
NAMES = ["a", "b", "c", "ab"]
PATTERNS = ["^a", "b$", "a|c", "^..$", "[^a]", "^(?!b)"]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
SCALARS: list[Any] = [None, True, False, 0, 1, 2, 3, -1, 1.5, 0.1, 1.0, "", "a", "b", "ab", "abc", "é", "😀"]


class RandomSchemas:
    """A source of schemas and values.

    Attributes:
        unsupported: patterns that cannot be enforced are among the patterns.
    """

    def __init__(self, seed: int, draft: str, unsupported: bool = False) -> None:
        self.chance = random.Random(f"{seed} {draft}")
        self.draft = draft
        self.patterns = [*PATTERNS, r"^(a|b)\1", r"(.)\1"] if unsupported else PATTERNS
        self._since = list(DRAFTS).index(draft)
        # In draft 4, upstream takes no 1.0 for an integer.
        self.scalars = SCALARS if self._since > 0 else [one for one in SCALARS if repr(one) != "1.0"]

    def schema(self) -> dict[str, Any]:
        """A root, with schemas for references."""
        holder = "$defs" if self._since >= 3 else "definitions"
        self._targets: list[str] = []
        definitions: dict[str, Any] = {}
        for name in ("x", "y"):
            definitions[name] = self._schema(2, in_place=True)
            self._targets.append(f"#/{holder}/{name}")
        root = self._schema(3, in_place=True)
        while not isinstance(root, dict):
            root = self._schema(3, in_place=True)
        return {"$schema": DRAFTS[self.draft], **root, holder: definitions}

    def value(self, depth: int = 3) -> Any:
        kind = self.chance.random()
        if depth == 0 or kind < 0.3:
            return self.chance.choice(self.scalars)
        if kind < 0.6:
            return [self.value(depth - 1) for _ in range(self.chance.choice((0, 1, 2, 2, 3, 4)))]
        names = self.chance.sample(NAMES, self.chance.randint(0, 4))
        return {name: self.value(depth - 1) for name in names}

    # ---- inner --------------------------------------------------------------------------------

    def _schema(self, depth: int, in_place: bool = False) -> Any:
        """``in_place``: it is about the same value as the schema under way, to which it may not lead back."""
        chance = self.chance
        if chance.random() < 0.08 and self._since >= 1:
            return chance.random() < 0.6
        if self._targets and chance.random() < 0.15:
            return {"$ref": chance.choice(self._targets)}
        if not in_place and chance.random() < 0.1:
            return {"$ref": "#"}
        makers = [self._type, self._number, self._string, self._array, self._object, self._values]
        if depth > 0:
            makers += [
                self._logic,
                self._logic,
                self._array_schemas,
                self._object_schemas,
                self._object_schemas,
            ]
            if self._since >= 3:
                makers.append(self._unevaluated)
        schema: dict[str, Any] = {}
        for _ in range(chance.choice((1, 1, 2, 2, 3))):
            schema.update(chance.choice(makers)(depth))
        items = list(schema.items())
        chance.shuffle(items)
        return dict(items)

    def _some(self, depth: int, in_place: bool = False) -> list[Any]:
        return [self._schema(depth - 1, in_place) for _ in range(self.chance.randint(1, 3))]

    def _type(self, depth: int) -> dict[str, Any]:
        if self.chance.random() < 0.6:
            return {"type": self.chance.choice(TYPES)}
        return {"type": self.chance.sample(TYPES, self.chance.randint(1, 4))}

    def _values(self, depth: int) -> dict[str, Any]:
        if self._since >= 1 and self.chance.random() < 0.4:
            return {"const": self.value(1)}
        return {"enum": [self.value(1) for _ in range(self.chance.randint(1, 4))]}

    def _number(self, depth: int) -> dict[str, Any]:
        chance = self.chance
        found: dict[str, Any] = {}
        for keyword in ("minimum", "maximum"):
            if chance.random() < 0.5:
                found[keyword] = chance.choice((-1, 0, 0.5, 1, 2))
                if self._since == 0 and chance.random() < 0.5:
                    found["exclusive" + keyword.capitalize()] = chance.random() < 0.5
            if self._since > 0 and chance.random() < 0.3:
                found["exclusive" + keyword.capitalize()] = chance.choice((-1, 0, 1, 3))
        if chance.random() < 0.3:
            found["multipleOf"] = chance.choice((1, 2, 0.5))
        return found

    def _string(self, depth: int) -> dict[str, Any]:
        found = self._bounds("minLength", "maxLength", 3)
        if self.chance.random() < 0.6:
            found["pattern"] = self.chance.choice(self.patterns)
        return found

    def _array(self, depth: int) -> dict[str, Any]:
        found = self._bounds("minItems", "maxItems", 3)
        if self.chance.random() < 0.4:
            found["uniqueItems"] = self.chance.random() < 0.8
        return found

    def _object(self, depth: int) -> dict[str, Any]:
        chance = self.chance
        found = self._bounds("minProperties", "maxProperties", 3)
        if chance.random() < 0.5:
            found["required"] = chance.sample(NAMES, chance.randint(1, 2))
        if self._since >= 3 and chance.random() < 0.3:
            found["dependentRequired"] = {chance.choice(NAMES): chance.sample(NAMES, chance.randint(0, 2))}
        return found

    def _bounds(self, low: str, high: str, most: int) -> dict[str, Any]:
        found = {}
        if self.chance.random() < 0.4:
            found[low] = self.chance.randint(0, most - 1)
        if self.chance.random() < 0.4:
            found[high] = self.chance.randint(1, most)
        return found

    def _logic(self, depth: int) -> dict[str, Any]:
        chance = self.chance
        keyword = chance.choice(["allOf", "anyOf", "oneOf", "not"] + ["if"] * (self._since >= 2))
        if keyword == "not":
            return {"not": self._schema(depth - 1, True)}
        if keyword != "if":
            return {keyword: self._some(depth, True)}
        found = {"if": self._schema(depth - 1, True)}
        if chance.random() < 0.7:
            found["then"] = self._schema(depth - 1, True)
        if chance.random() < 0.7:
            found["else"] = self._schema(depth - 1, True)
        return found

    def _array_schemas(self, depth: int) -> dict[str, Any]:
        chance = self.chance
        found: dict[str, Any] = {}
        prefix, rest = ("prefixItems", "items") if self._since == 4 else ("items", "additionalItems")
        if chance.random() < 0.4:
            found[prefix] = self._some(depth)
            if chance.random() < 0.5:
                found[rest] = self._schema(depth - 1)
        elif chance.random() < 0.6:
            found["items"] = self._schema(depth - 1)
        if self._since >= 1 and chance.random() < 0.4:
            found["contains"] = self._schema(depth - 1)
            if self._since >= 3:
                found.update(self._bounds("minContains", "maxContains", 3))
        return found

    def _object_schemas(self, depth: int) -> dict[str, Any]:
        chance = self.chance
        found: dict[str, Any] = {}
        if chance.random() < 0.7:
            names = chance.sample(NAMES, chance.randint(1, 3))
            found["properties"] = {name: self._schema(depth - 1) for name in names}
        if chance.random() < 0.3:
            patterns = chance.sample(self.patterns, chance.randint(1, 2))
            found["patternProperties"] = {pattern: self._schema(depth - 1) for pattern in patterns}
        if chance.random() < 0.4:
            found["additionalProperties"] = False if chance.random() < 0.5 else self._schema(depth - 1)
        if self._since >= 1 and chance.random() < 0.15:
            found["propertyNames"] = self._schema(depth - 1)
        if chance.random() < 0.15:
            keyword = "dependencies" if self._since <= 2 else "dependentSchemas"
            found[keyword] = {chance.choice(NAMES): self._schema(depth - 1, True)}
            if keyword == "dependencies" and chance.random() < 0.5:
                found[keyword][chance.choice(NAMES)] = chance.sample(NAMES, chance.randint(1, 2))
        return found

    def _unevaluated(self, depth: int) -> dict[str, Any]:
        chance = self.chance
        # In 2019-09, upstream counts what contains finds as evaluated.
        keyword = chance.choice(("unevaluatedProperties", "unevaluatedItems")[: self._since - 2])
        value = False if chance.random() < 0.6 else self._schema(depth - 1)
        found = {**self._logic(depth), **self._object_schemas(depth), **self._array_schemas(depth)}
        if (
            self._since == 3
        ):  # there upstream misses what additionalProperties evaluates, if that is an object
            found["additionalProperties"] = True
        return {**found, keyword: value}
