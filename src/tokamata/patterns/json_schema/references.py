"""References: from a URI to a schema, and to what references mean there.

A *resource* is a document, or a part of one that has an id of its own; ``#`` within it is itself.  A
*scope* is a resource together with what dynamic references lead to when it is entered this way: for each
dynamic anchor the first resource on the way here that has it (core 8.2.3.2 of 2020-12; 8.2.4.2 of
2019-09).  A schema means the same wherever the scope is the same, so scopes, not ways, are what nodes are
remembered by.

Example: the root resource has the dynamic anchor ``node``; it leads to ``tree``, which has one too.  The
scope of ``tree`` is then (tree, node → root), and ``{"$dynamicRef": "#node"}`` in it leads to the root.

Nearly all schemas have references of the form ``#/$defs/name`` and no ids within; those are followed by their
pointer, and nothing is collected.  Any other reference, or an id within, has the document indexed, once.

Documents from elsewhere come from the caller's ``referencing.Registry``, and from nowhere else, save for
the metaschemas that the package ``jsonschema-specifications`` carries (the extra ``json-schema``).  Why
``referencing`` does not follow the references itself: it names no places, which errors and reports need;
it stops with whatever error Python has for it at ``"properties": []``; and it follows a plain ``$ref`` to a
dynamic anchor dynamically.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag, urljoin

from tokamata.errors import LimitExceeded
from tokamata.patterns.json_schema.dialect import Dialect, subschemas
from tokamata.patterns.json_schema.drafts import LATEST
from tokamata.patterns.json_schema.faults import Fault
from tokamata.patterns.json_schema.metaschemas import dialect_of, shipped
from tokamata.patterns.json_schema.scopes import Resource, Scope

if TYPE_CHECKING:
    import referencing

__all__ = ["References"]

_MOST_SCOPES = 10_000  # dynamic scopes that references make of one document


class References:
    """The documents of one reading.

    Attributes:
        documents: the roots of all documents that were entered, by their URI.
        scopes: all scopes that were entered.
    """

    def __init__(self, root: Any, registry: referencing.Registry[Any] | None) -> None:
        """Raises :class:`.faults.Fault` where the draft is not known."""
        self._registry = registry
        self._resources: dict[str, Resource] = {}
        self._by_schema: dict[int, Resource] = {}
        self._indexed: set[int] = set()
        self.documents: dict[str, Any] = {}
        self._scopes: dict[tuple[Any, ...], Scope] = {}
        dialect, uri = LATEST, ""
        if type(root) is dict:
            if "$schema" in root:
                dialect = dialect_of(root, registry)
            uri = _own_uri(root, dialect, "") or ""
        self._root = self._add(uri, root, dialect)
        self.documents[uri] = root
        self.start = Scope(self._root, {})
        self._known_dynamic = False

    @property
    def scopes(self) -> list[Scope]:
        """All scopes that were entered."""
        return [self.start, *(scope for scope in self._scopes.values() if scope is not self.start)]

    def scope_at(self, scope: Scope, schema: dict[str, Any]) -> Scope:
        """The scope in which a schema with an id is read."""
        if scope.resource.root is schema or type(schema[scope.id_keyword]) is not str:
            return scope
        if scope.dialect.lone_references and "$ref" in schema:
            return scope
        self._index(self._root)
        resource = self._by_schema.get(id(schema))
        if resource is None:
            if scope.dialect.legacy_ids and schema[scope.id_keyword].startswith("#"):
                return scope
            # The place is one that no index knows: behind a keyword that means nothing.
            uri = _own_uri(schema, scope.dialect, scope.resource.uri)
            if uri is None:
                return scope
            resource = self._add(uri, schema, scope.dialect)
            self._index(resource)
        return self._entered(scope, resource)

    def target(self, scope: Scope, schema: dict[str, Any], keyword: str) -> tuple[Any, Scope]:
        """Where a reference leads: the schema, and the scope in which it is read."""
        reference = schema[keyword]
        key = (keyword, reference)
        found = scope.targets.get(key) if type(reference) is str else None
        if found is None:
            if type(reference) is not str:
                raise Fault(schema, keyword, reference, "a URI reference, as a string")
            try:
                if keyword == "$ref":
                    target, resource, _ = self._static(scope, reference)
                elif keyword == "$dynamicRef":
                    target, resource = self._dynamic(scope, reference)
                else:
                    target, resource = self._recursive(scope, reference)
            except _Nowhere as error:
                expected = f"a reference that leads to a schema; {error}{self._advice(scope, reference)}"
                raise Fault(schema, keyword, reference, expected) from error.__cause__
            if not isinstance(target, (dict, bool)):
                raise Fault(
                    schema, keyword, reference, "a reference to a schema; no object and no boolean is there"
                )
            found = scope.targets[key] = target, self._entered(scope, resource)
        return found

    def _advice(self, scope: Scope, reference: str) -> str:
        """What to write instead of a reference that leads nowhere, if its end is the name of a definition."""
        path, _, fragment = reference.rpartition("#")
        if path or ":" in reference:
            return ""
        name = fragment.rpartition("/")[2]
        for pointer in ("/" + fragment.lstrip("/"), f"/$defs/{name}", f"/definitions/{name}"):
            with suppress(_Nowhere):
                if name and type(self._at_pointer(scope.resource, unquote(pointer))[0]) in (dict, bool):
                    return f"; write #{pointer}"
        return ""

    # ---- kinds of references ------------------------------------------------------------------

    def _static(self, scope: Scope, reference: str) -> tuple[Any, Resource, str]:
        """The schema, its resource, and the anchor by which it was found, or ``""``."""
        if reference.startswith("#"):
            resource, fragment = scope.resource, reference[1:]
        else:
            uri, fragment = self._absolute(scope, reference)
            resource = self._resource(uri, scope.dialect)
        fragment = unquote(fragment)
        if not fragment:
            return resource.root, resource, ""
        if fragment.startswith("/"):
            return *self._at_pointer(resource, fragment), ""
        self._index(resource)
        if fragment not in resource.anchors:
            raise _Nowhere(f"{_named(resource)} has no anchor {fragment!r:.80}")
        return resource.anchors[fragment], resource, fragment

    def _dynamic(self, scope: Scope, reference: str) -> tuple[Any, Resource]:
        """``$dynamicRef`` of 2020-12: bound to a dynamic anchor, it leads to the outermost of that name."""
        target, resource, anchor = self._static(scope, reference)
        if anchor and anchor in resource.dynamic:
            self._learn_dynamic()
            return scope.dynamic.get(anchor, (target, resource))
        return target, resource

    def _recursive(self, scope: Scope, reference: str) -> tuple[Any, Resource]:
        """``$recursiveRef`` of 2019-09, whose one value is ``"#"``."""
        if reference != "#":
            raise _Nowhere('"$recursiveRef" is always "#"')
        self._learn_dynamic()
        resource = scope.resource
        if "" in resource.dynamic:
            return scope.dynamic.get("", (resource.root, resource))
        return resource.root, resource

    def _at_pointer(self, resource: Resource, pointer: str) -> tuple[Any, Resource]:
        value = resource.root
        for part in pointer[1:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~") if "~" in part else part
            if type(value) is dict:
                if key not in value:
                    raise _Nowhere(f"{_named(resource)} has nothing at {pointer:.200}")
                value = value[key]
                if type(value) is dict and type(value.get(resource.dialect.id_keyword)) is str:
                    self._index(self._root)
                    self._index(resource)
                    resource = self._by_schema.get(id(value), resource)
            elif (
                type(value) is list
                and key.isdecimal()
                and key.isascii()
                and len(key) < 10
                and int(key) < len(value)
            ):
                value = value[int(key)]
            else:
                raise _Nowhere(f"{_named(resource)} has nothing at {pointer:.200}")
        return value, resource

    # ---- resources ----------------------------------------------------------------------------

    def _absolute(self, scope: Scope, reference: str) -> tuple[str, str]:
        try:
            uri, fragment = urldefrag(urljoin(scope.resource.uri, reference))
        except ValueError as error:
            raise _Nowhere(f"it is no URI reference ({error!s:.80})") from None
        return uri, fragment

    def _resource(self, uri: str, referrer: Dialect) -> Resource:
        """The resource of a URI: of a document that was entered, or of one that the registry has."""
        found = self._resources.get(uri)
        if found is None:
            self._index(self._root)
            found = self._resources.get(uri)
        if found is None:
            contents = self._retrieved(uri)
            dialect = referrer
            if type(contents) is dict and "$schema" in contents:
                dialect = dialect_of(contents, self._registry)
            found = self._add(uri, contents, dialect)
            self.documents[uri] = contents
            own = _own_uri(contents, dialect, uri) if type(contents) is dict else None
            if own is not None and own not in self._resources:
                self._resources[own] = found
                found.uri = own  # what it says itself is the base of what it refers to
            self._index(found)
        return found

    def _retrieved(self, uri: str) -> Any:
        if self._registry is not None:
            try:
                return self._registry.get_or_retrieve(uri).value.contents
            except Exception as error:  # what a retrieval of the caller's, or a malformed document, may raise
                if (contents := shipped(uri)) is not None:
                    return contents
                reason = f"the registry has no document {uri!r:.200}"
                cause = error.__cause__ or error
                if type(cause).__name__ not in ("NoSuchResource", "KeyError"):
                    reason += f" ({type(cause).__name__}: {cause!s:.80})"
                raise _Nowhere(reason) from error
        if (contents := shipped(uri)) is not None:
            return contents
        raise _Nowhere(
            f"there is no document {uri!r:.200} within the schema, and documents from elsewhere are taken "
            "from the referencing.Registry passed as registry= alone"
        )

    def _add(self, uri: str, root: Any, dialect: Dialect) -> Resource:
        resource = Resource(uri, root, dialect)
        self._resources.setdefault(uri, resource)
        self._by_schema[id(root)] = resource
        return resource

    def _index(self, start: Resource) -> None:
        """Finds the ids and anchors of a document, once; a wrong shape is left for the reader to find."""
        if id(start) in self._indexed:
            return
        self._indexed.add(id(start))
        seen: set[int] = set()
        stack: list[tuple[Any, Resource]] = [(start.root, start)]
        while stack:
            schema, resource = stack.pop()
            if type(schema) is not dict or id(schema) in seen:
                continue
            seen.add(id(schema))
            if schema is not start.root:
                resource = self._resource_at(schema, resource)
            self._note_anchors(schema, resource)
            inner = [(value, resource) for _, value in subschemas(schema, resource.dialect)]
            inner.reverse()
            stack.extend(inner)

    def _resource_at(self, schema: dict[str, Any], outer: Resource) -> Resource:
        """The resource that a schema within one belongs to."""
        dialect = outer.dialect
        if dialect.id_keyword in schema and "$schema" in schema and schema is not outer.root:
            dialect = dialect_of(schema, self._registry)
        uri = _own_uri(schema, dialect, outer.uri)
        if uri is None:
            return outer
        resource = self._add(uri, schema, dialect)
        self._indexed.add(id(resource))
        return resource

    def _note_anchors(self, schema: dict[str, Any], resource: Resource) -> None:
        dialect = resource.dialect
        if dialect.legacy_ids:
            name = schema.get(dialect.id_keyword)
            if type(name) is str and "#" in name and not (dialect.lone_references and "$ref" in schema):
                resource.anchors.setdefault(name.partition("#")[2], schema)
            return
        if type(name := schema.get("$anchor")) is str:
            resource.anchors.setdefault(name, schema)
        if "$dynamicRef" in dialect.handlers:
            if type(name := schema.get("$dynamicAnchor")) is str:
                resource.anchors.setdefault(name, schema)
                resource.dynamic.setdefault(name, schema)
        elif schema is resource.root and schema.get("$recursiveAnchor") is True:
            resource.dynamic[""] = schema

    # ---- scopes -------------------------------------------------------------------------------

    def _learn_dynamic(self) -> None:
        """Gives the first scope its dynamic anchors, which are not looked for until someone asks."""
        if not self._known_dynamic:
            self._known_dynamic = True
            self._index(self._root)
            root = self._root
            self.start.dynamic.update({name: (schema, root) for name, schema in root.dynamic.items()})
            self._scopes[_scope_key(root, self.start.dynamic)] = self.start

    def _entered(self, scope: Scope, resource: Resource) -> Scope:
        """The scope of a resource that is entered from another."""
        if resource is scope.resource:
            return scope
        self._learn_dynamic()
        dynamic = dict(scope.dynamic)
        for name, schema in resource.dynamic.items():
            dynamic.setdefault(name, (schema, resource))
        key = _scope_key(resource, dynamic)
        found = self._scopes.get(key)
        if found is None:
            if len(self._scopes) >= _MOST_SCOPES:
                raise LimitExceeded("states", _MOST_SCOPES)
            found = self._scopes[key] = Scope(resource, dynamic)
        return found


class _Nowhere(Exception):
    """A reference leads nowhere."""


def _scope_key(resource: Resource, dynamic: dict[str, tuple[Any, Resource]]) -> tuple[Any, ...]:
    return (id(resource), *sorted((name, id(schema)) for name, (schema, _) in dynamic.items()))


def _named(resource: Resource) -> str:
    return f"the document {resource.uri!r:.200}" if resource.uri else "the schema"


def _own_uri(schema: dict[str, Any], dialect: Dialect, base: str) -> str | None:
    """The URI that a schema gives itself; ``None`` where it gives none."""
    name = schema.get(dialect.id_keyword)
    if type(name) is not str or (dialect.lone_references and "$ref" in schema):
        return None
    if dialect.legacy_ids and name.startswith("#"):
        return None
    try:
        return urldefrag(urljoin(base, name))[0]
    except ValueError:
        return None
