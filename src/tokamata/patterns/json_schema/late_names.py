"""Names of JSON objects that come too late: what to say about them.

Where ``property_order="schema"`` holds, the declared names of an object come in the order of the schema.  A
text that breaks it ends in a name, or after one, for which the object is too far::

    {"temp": 1.5, "outlook"        the schema has "outlook" before "temp"
"""

from __future__ import annotations

import re

__all__ = ["order_hint"]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*("?)|[\[\]{}:,]', re.DOTALL)


def order_hint(text: bytes) -> str:
    """What allows the end of a text, the beginning of one in JSON that only another order of names allows."""
    names: list[list[str]] = []  # of each object and array that is open
    before = ""
    for found in _TOKEN.finditer(text.decode("utf-8", "replace")):
        token = found.group()
        if token in "{[":
            names.append([])
        elif token in "}]":
            del names[-1:]
        elif token[0] == '"' and before in ("{", ",") and names:
            names[-1].append(token)  # elements of arrays among them, which no order concerns
        before = token
    written = names[-1] if names else []
    late = written.pop() if written and before == written[-1] else ""
    if late.endswith('"') and len(late) > 1:
        name = f"the name {late[:80]}"
    else:
        name = f'the name that begins with {late[:80]}"' if late else "every other name"
    if written:
        reason = f"{name} stands before {written[-1][:80]} in the schema"
    else:
        reason = f"a required name comes before {name} in the order of the schema"
    return f'{reason}; property_order="any" allows it here'
