"""The documents of a registry that a schema refers to, so that another process needs no registry.

A ``referencing.Registry`` cannot be pickled: it contains local functions, and perhaps one that fetches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tokamata.calls.recipes import Call, Remade, copied

if TYPE_CHECKING:
    import referencing

__all__ = ["Documents"]


class _Resource(NamedTuple):
    contents: Any


class _Retrieved(NamedTuple):
    value: _Resource


class Documents(Remade):
    """A registry that remembers what was read of it; it has as much of the interface as is called.

    Args:
        registry: the caller's; ``None``: there are no further documents.
        read: the documents that were read already, by their URIs.
    """

    __slots__ = ("_read", "_registry")

    def __init__(self, registry: referencing.Registry[Any] | None, read: dict[str, Any]) -> None:
        self._registry = registry
        self._read = read

    def _call(self) -> Call:
        return Call(Documents, (None, self._read))

    def get_or_retrieve(self, uri: str) -> _Retrieved:
        """A document.

        Raises:
            KeyError: there is none with this URI; or what the caller's registry raises.
        """
        if uri not in self._read and self._registry is not None:
            self._read[uri] = copied(self._registry.get_or_retrieve(uri).value.contents)
        return _Retrieved(_Resource(self._read[uri]))
