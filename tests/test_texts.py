"""README.md and docs/ as texts: their length, their words, their links.

Links to other sites are not followed.  The anchors are those that GitHub makes of headings; those of the site
are checked when it is built (``make site``).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tokamata as tk
from tests.support.paths import ROOT
from tokamata import guard, validators

DOCS = sorted((ROOT / "docs").glob("*.md"))
README = ROOT / "README.md"
READ_FIRST = [README, ROOT / "CONTRIBUTING.md", *DOCS]
LINKED = [*READ_FIRST, ROOT / "DESIGN.md", ROOT / "CHANGELOG.md", ROOT / "benchmarks" / "README.md"]

MOST_WORDS = 1300  # of README.md: five minutes

# Phrases that puzzle readers, and what to write instead.
AVOIDED = {
    r"asked for|what was asked": "target, requested",
    r"sketch(?:es|ed)?": "over-approximation, abstract state",
    r"suspect(?:s|ed)?": "unverified",
    r"made anew": "recomputed",
    r"(?:is|are) none that": "is not",
    r"the account of time": "time budget",
}

FENCED = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2`*$", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(([^)\s]+)\)")


def prose(text: str) -> str:
    """A text without its code; lines stay where they are."""
    for code in (FENCED, INLINE_CODE):
        text = code.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return text


def avoided(text: str) -> list[str]:
    """The phrases of a text that are to be replaced, each with its line and what to write."""
    readable = prose(text)
    return [
        f"line {readable.count(chr(10), 0, match.start()) + 1}: {match[0]!r}; write: {instead}"
        for phrase, instead in AVOIDED.items()
        for match in re.finditer(rf"\b(?:{phrase})\b".replace(" ", r"\s+"), readable, re.IGNORECASE)
    ]


def anchors(text: str) -> set[str]:
    """The anchors that GitHub makes of the headings of a text."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.*?) *$", FENCED.sub("", text), re.MULTILINE):
        shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        count = 1
        unique = slug
        while unique in found:
            unique, count = f"{slug}-{count}", count + 1
        found.add(unique)
    return found


def broken_links(page: Path) -> list[str]:
    """The links of a page that lead to no file of the repository, or to no heading of it."""
    broken = []
    for link in LINK.findall(prose(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        is_there = not path or (target.is_file() and target.is_relative_to(ROOT))
        if not is_there or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            broken.append(link)
    return broken


def test_the_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").split()) <= MOST_WORDS


@pytest.mark.parametrize("page", READ_FIRST, ids=lambda page: page.name)
def test_words(page: Path) -> None:
    assert not avoided(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links(page: Path) -> None:
    assert not broken_links(page)


def test_every_public_name_is_documented() -> None:
    listed = re.findall(
        r"^::: tokamata\.((?:\w+\.)*\w+)$",
        "\n".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("api.md", "errors.md")),
        re.MULTILINE,
    )
    assert len(listed) == len(set(listed))
    elsewhere = {
        "demo.default_model_folder",
        "integrations.transformers.ConstraintLogitsProcessor",
        *(f"integrations.trl.{name}" for name in ("text_reward", "token_reward")),
        *(f"guard.{name}" for name in guard.__all__),
        *(f"validators.{name}" for name in validators.__all__),
        *(f"compat.json_repair.{name}" for name in ("from_file", "load", "loads", "repair_json")),
    }
    assert elsewhere <= set(listed)
    names = {name.rpartition(".")[2] for name in set(listed) - elsewhere}
    assert names == {*tk.__all__, "json", "type"}
    assert len(names) == len(set(listed) - elsewhere)


def test_wrong_texts_are_found(tmp_path: Path) -> None:
    assert avoided("It is\nwhat was asked.\n") == ["line 2: 'what was asked'; write: target, requested"]
    assert avoided("a\n\nIt is\nnone that fits") == ["line 3: 'is\\nnone that'; write: is not"]
    assert not avoided("`made anew`\n```\nsuspect\n```\n unsuspecting")
    assert anchors("# A `b`, c: d\n## A `b`, c: d\n```\n# no\n```\n") == {"a-b-c-d", "a-b-c-d-1"}
    page = tmp_path / "page.md"
    links = "[a](#one) [b](#two) `[c](x.md)` [d](https://e.org/x) [e](none.md)"
    page.write_text(f"# One\n{links}\n", encoding="utf-8")
    assert broken_links(page) == ["#two", "none.md"]


def sources() -> list[Path]:
    """The files of the library and of its engine."""
    found = [path for folder in ("src/tokamata", "core") for path in (ROOT / folder).rglob("*")]
    return sorted(path for path in found if path.suffix in {".py", ".pyi", ".cpp", ".hpp"})


def test_sources_avoid_puzzling_phrases() -> None:
    """In comments, docstrings, messages and names alike; a phrase may run over the lines of a comment."""
    assert len(sources()) > 400
    for path in sources():
        joined = re.sub(r"\n *(?://|#) *", " ", path.read_text(encoding="utf-8"))
        for phrase, instead in AVOIDED.items():
            match = re.search(rf"\b(?:{phrase})\b".replace(" ", r"\s+"), joined, re.IGNORECASE)
            assert match is None, f"{path}: {match[0]!r}; write: {instead}"  # type: ignore[index]
