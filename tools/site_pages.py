"""A hook of MkDocs that adds the files outside docs/ to which pages refer.

README.md is the first page of the site, and its links, such as ``docs/types.md``, must work both on the site
and in a view of the repository.  The same holds for ``../benchmarks/README.md`` in pages of docs/.  So every
relative link is read as a path of the repository, and rewritten to the file's path on the site::

    README.md             docs/types.md#pydantic    ->  index.md         types.md#pydantic
    docs/figures.md       ../benchmarks/README.md   ->  figures.md       benchmarks/README.md
    docs/canonical.md     ../core/canonical/x.hpp   ->  canonical.md     source/core/canonical/x.hpp

A file outside docs/ becomes a page if it is Markdown; other files are copied.  MkDocs then checks all links.
A link to a missing file is not rewritten, so MkDocs reports it.

In the code of a table, ``\\|`` is a bar in a view of the repository, but a backslash and a bar on the site;
it is rewritten too.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(#[^)\s]*)?(?=\))")
# The pages that the navigation names; others keep their paths.
RENAMED = {
    "README.md": "index.md",
    "DESIGN.md": "design.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
CODE_IN_TABLE = re.compile(r"`[^`\n]+`")
_repository_path = {site: repository for repository, site in RENAMED.items()}


def on_files(files: Files, config: Any) -> Files:
    """Add the named pages, and the files to which they and the pages of docs/ refer."""
    unread = [(f"docs/{file.src_uri}", file.src_uri) for file in files.documentation_pages()]
    unread += list(RENAMED.items())
    seen = {path for path, _ in unread}
    while unread:
        path, site = unread.pop()
        if not path.startswith("docs/"):
            files.append(_file(path, site, config))
        if not path.endswith(".md"):
            continue
        for match in LINK.finditer((ROOT / path).read_text(encoding="utf-8")):
            target = _target(path, match[1])
            if target is not None and target not in seen and not target.startswith("docs/"):
                seen.add(target)
                unread.append((target, _site_path(target)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite the links of a page."""
    site = page.file.src_uri
    path = _repository_path.get(site) or (f"docs/{site}" if (ROOT / "docs" / site).exists() else site)

    def rewritten(match: re.Match[str]) -> str:
        target = _target(path, match[1])
        if target is None:
            return match[0]
        return posixpath.relpath(_site_path(target), posixpath.dirname(site) or ".") + (match[2] or "")

    lines = LINK.sub(rewritten, markdown).split("\n")
    return "\n".join(_with_bars(line) if line.startswith("|") else line for line in lines)


def _with_bars(row: str) -> str:
    return CODE_IN_TABLE.sub(lambda code: code[0].replace("\\|", "|"), row)


def _target(path: str, link: str) -> str | None:
    """The file of the repository that a link in the file ``path`` leads to; ``None`` if it leads to none."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
    return target if not target.startswith("..") and (ROOT / target).is_file() else None


def _site_path(path: str) -> str:
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.endswith(".md"):
        return RENAMED.get(path, path)
    return path if path.endswith(".svg") else f"source/{path}.txt"


def _file(path: str, site: str, config: Any) -> File:
    return File.generated(config, site, abs_src_path=str(ROOT / path))
