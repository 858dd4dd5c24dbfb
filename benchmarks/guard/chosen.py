"""What programs about real tokenizers share: the option ``--only``, and a loop over the tokenizers."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from benchmarks.common.program import parser_for, progress
from benchmarks.guard.real_merges import RealMerges, merges_of
from tests.support.tokenizers.canonical_tokenizers import SOURCES


def parser_with_only(description: str | None) -> ArgumentParser:
    """A parser with the options of every program, and ``--only``."""
    parser = parser_for(description or "")
    parser.add_argument("--only", metavar="NAMES", help="tokenizers, with commas")
    return parser


def chosen_merges(
    title: str, options: Namespace, default: str | None = None
) -> Iterator[tuple[str, RealMerges | None]]:
    """The names of the tokenizers of ``--only``, with their merges, and a bar of progress.

    Args:
        title: of the bar.
        options: from :func:`parser_with_only`.
        default: those without ``--only``; ``None`` for all.
    """
    wanted = options.only or default
    chosen = [source for source in SOURCES if wanted is None or source.name in wanted.split(",")]
    with progress(title, len(chosen)) as step:
        for source in chosen:
            yield source.name, merges_of(source.judged().vocabulary)
            step(source.name)
