"""Extensions of griffe, which reads signatures and docstrings for the site.

``:func:`generate``` becomes code, and the type of a result has no backquotes; a function with the settings of
another one shows them in its signature, as it does at run time (:mod:`tokamata.calls.keywords`).
"""

from __future__ import annotations

import re
from typing import Any

import griffe

DECORATOR = re.compile(r"takes_settings_of\((\w+)\)")
RETURNED = re.compile(r"^(\s*Returns:\s+)``([^`]+)``:", re.MULTILINE)
ROLE = re.compile(r":(?:class|func|meth|mod|attr|data):`([^`]+)`")


class PlainTexts(griffe.Extension):
    """Rewrites roles of Sphinx in Markdown, and types of results without it."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change one docstring."""
        if obj.docstring is not None:
            text = RETURNED.sub(r"\1\2:", obj.docstring.value)
            obj.docstring.value = ROLE.sub(r"`\1`", text)


class Settings(griffe.Extension):
    """Replaces ``**settings`` of a function by the keyword arguments of the one that its decorator names."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Change one signature."""
        for decorator in func.decorators:
            named = DECORATOR.fullmatch(str(decorator.value))
            if named is None or func.parent is None:
                continue
            for one in list(func.parameters):
                if one.kind is griffe.ParameterKind.var_keyword:
                    del func.parameters[one.name]
            for one in func.parent[named[1]].parameters:
                if one.kind is griffe.ParameterKind.keyword_only and one.name not in func.parameters:
                    func.parameters.add(one)
