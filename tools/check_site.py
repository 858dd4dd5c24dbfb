"""Checks the site in build/site for faults that MkDocs does not see; `make site` runs it.

    python tools/check_site.py

1. Who searches for a subject finds a page or a section of that name.
2. Signatures have the settings that a function takes from another one (``tools/site_docstrings.py``).
3. What a function returns is one entry, whose type is no Markdown.
"""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

SITE = Path(__file__).resolve().parent.parent / "build" / "site"
SUBJECTS = (
    "streaming",
    "partial values",
    "async",
    "probabilities",
    "agents",
    "notebooks",
    "retries",
    "think first",
)
SETTING = "max_new_tokens"  # of tokamata.stream
FUNCTIONS = ("tokamata.decoding.generate.generate", "tokamata.stream", "tokamata.astream")
RETURNS = re.compile(r'"doc-section-title">Returns:</span></p>\s*<ul>(.*?)</ul>', re.DOTALL)


def faults() -> Iterator[str]:
    """What is wrong with the site."""
    index = json.loads((SITE / "search" / "search_index.json").read_text(encoding="utf-8"))
    titles = [
        entry["title"].lower() for entry in index["docs"] if not entry["location"].startswith("changelog")
    ]
    for subject in SUBJECTS:
        if not any(subject in title for title in titles):
            yield f"no page or section is named {subject!r}"
    reference = (SITE / "api.html").read_text(encoding="utf-8")
    for name in FUNCTIONS:
        _, _, rest = reference.partition(f'id="{name}"')
        signature = html.unescape(re.sub(r"<[^>]+>", "", rest.partition("</pre>")[0]))
        if SETTING not in signature:
            yield f"the signature of {name} lacks {SETTING}"
    for found in RETURNS.finditer(reference):
        count = found[1].count('<li class="doc-section-item')
        if count != 1:
            yield f"'Returns' has {count} entries: {re.sub(r'<[^>]+>', '', found[1])[:200]!r}"
    if "<code>``" in reference:
        yield "a type is shown with its backquotes"


if __name__ == "__main__":
    found = list(faults())
    print("\n".join(found), file=sys.stderr)
    sys.exit(bool(found))
