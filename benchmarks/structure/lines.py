"""The lines of a file by what they hold.

A line with code counts as code, whatever else it holds.  Docstrings are strings that are statements, so
those of attributes too, and in C++ the raw strings ``R"doc(…)doc"``, which the bindings give to Python.  A
blank line within a string is a blank line.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter

from benchmarks.structure.cpp import leaves, parsed
from benchmarks.structure.state import CPP

__all__ = ["KINDS", "count"]

_CLOSINGS = (b")", b",", b";")  # which beside a docstring make no code

KINDS = ("code", "imports", "docstrings", "comments", "blank")
_NO_CODE = (
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
)  # fmt: skip


def count(path: str, source: bytes) -> Counter[str]:
    """The number of lines of each of :data:`KINDS`; ``imports`` are those of ``code`` that only import."""
    text = source.decode("utf-8")
    filled = {number for number, line in enumerate(text.splitlines(), 1) if line.strip()}
    code, imports, docstrings = _cpp(source) if path.endswith(CPP) else _python(text)
    code &= filled
    docstrings = (docstrings & filled) - code
    found = Counter(code=len(code), imports=len(imports & code), docstrings=len(docstrings))
    found["comments"] = len(filled) - len(code) - len(docstrings)
    found["blank"] = len(text.splitlines()) - len(filled)
    return found


Lines = set[int]


def _cpp(source: bytes) -> tuple[Lines, Lines, Lines]:
    code: Lines = set()
    closings: Lines = set()
    imports: Lines = set()
    docstrings: Lines = set()
    for leaf in leaves(parsed(source)):
        if leaf.type == "comment":
            continue
        if leaf.text is not None and leaf.text.startswith(b'R"doc('):
            docstrings.update(range(leaf.start_point[0] + 1, leaf.end_point[0] + 2))
            continue
        # The end of a directive is a token that ends where the next line begins.
        last = leaf.end_point[0] if leaf.end_point[1] else max(leaf.start_point[0], leaf.end_point[0] - 1)
        spanned = range(leaf.start_point[0] + 1, last + 2)
        if leaf.text and leaf.text.strip():
            (closings if leaf.text in _CLOSINGS else code).update(spanned)
        if leaf.type == "#include":
            imports.add(leaf.start_point[0] + 1)
    return code | (closings - docstrings), imports, docstrings


def _python(text: str) -> tuple[Lines, Lines, Lines]:
    docstrings: Lines = set()
    imports: Lines = set()
    begins: set[tuple[int, int]] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                docstrings.update(_span(node))
                begins.add((node.lineno, node.col_offset))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.update(_span(node))
    code: Lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE and token.start not in begins:
            code.update(range(token.start[0], token.end[0] + 1))
    return code, imports, docstrings


def _span(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
