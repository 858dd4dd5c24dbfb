"""An extension of griffe, the reader of docstrings for the site: ``:func:`generate``` becomes code."""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|mod|attr|data):`([^`]+)`")


class PlainRoles(griffe.Extension):
    """Rewrites roles of Sphinx in Markdown."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = ROLE.sub(r"`\1`", obj.docstring.value)
