"""The self-test of a tokenizer by request, and what to do where it fails.

``compile(..., tokenization="canonical")`` and :func:`tokamata.generate` test live tokenizers by themselves
and refuse those that fail (:mod:`tokamata.tokenization.self_test`).  :func:`self_test` also tests files,
which takes an import of their package, and reports in place of raising.  :func:`plan` is for a service that
must go on: it chooses the policy before the first constraint is compiled, and warns.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from tokamata.calls.arguments import checked_choice
from tokamata.errors import (
    ArgumentError,
    MissingExtraError,
    TokenizerMismatchError,
    TokenizerMismatchWarning,
    VocabularyError,
    shown_argument,
)
from tokamata.guard.guarded_spans import GuardedSpans, checked_protected
from tokamata.matching.compositions import Tokenization
from tokamata.tokenization import self_test as tests
from tokamata.tokenization.adapters import package_of
from tokamata.tokenization.running import RunningTokenizer
from tokamata.vocabulary import Vocabulary

__all__ = ["OnMismatch", "Plan", "plan", "self_test"]

OnMismatch = Literal["refuse", "any", "bytes"]


def self_test(source: object, vocabulary: Vocabulary | None = None) -> tests.SelfTest:
    """Tests tokamata's tables of a tokenizer against the tokenizer's own program.

    ::

        outcome = guard.self_test("tokenizer.json")
        if not outcome:
            print(outcome.mismatch or outcome.reason)

    A passed test is no proof: it says that the two agree on ``outcome.texts`` texts.

    Args:
        source: any source that :class:`~tokamata.tokenization.running.RunningTokenizer` takes.  A file is run
            by its own package; if that is not installed, or the file has no program, ``outcome.reason`` says
            so.
        vocabulary: the tables to test; ``None``: those of the source.

    Raises:
        VocabularyError: the source cannot be read.
        UnsupportedTokenizerError, MissingExtraError: there are no tables of this tokenizer.
    """
    known = _vocabulary_of(source) if vocabulary is None else vocabulary
    try:
        running = RunningTokenizer(source)
    except (MissingExtraError, VocabularyError) as error:
        if not isinstance(source, (str, os.PathLike)):
            raise
        return tests.SelfTest("", reason=f"no program to test with: {error}")
    return tests.self_test(known, running)


@dataclass(frozen=True)
class Plan:
    """How to write texts with a tokenizer.

    Attributes:
        tokenization: for ``compile`` and ``generate``: ``"canonical"`` if it passed the test, else ``"any"``.
        spans: with ``on_mismatch="bytes"`` and a failed test: writes protected texts in single bytes; else
            ``None``.
        mismatch: why the test was not passed, or ``None``.
    """

    tokenization: Tokenization
    spans: GuardedSpans | None = None
    mismatch: TokenizerMismatchError | None = None


def plan(
    tokenizer: object,
    vocabulary: Vocabulary | None = None,
    *,
    on_mismatch: OnMismatch = "refuse",
    protected: Iterable[str] = (),
) -> Plan:
    """Tests a live tokenizer, and chooses how to go on if it fails.

    ::

        chosen = guard.plan(tokenizer, on_mismatch="any")
        tk.generate(model, tokenizer, prompt, constraint, tokenization=chosen.tokenization)

    The first call runs the whole test or reads its outcome from disk; later calls test a few more texts.

    Args:
        tokenizer: the live tokenizer.
        vocabulary: what constraints are compiled for; ``None``: loaded from the tokenizer.
        on_mismatch: what to do where the test fails: ``"refuse"`` raises; ``"any"`` gives up canonical
            tokens; ``"bytes"`` does so too, and gives :class:`GuardedSpans`, which write the protected texts
            in single bytes, so that their borders are borders of tokens whatever the tokenizer does.  The
            last two warn.
        protected: the texts that ``"bytes"`` protects.

    Raises:
        TokenizerMismatchError: the test fails, and ``on_mismatch`` is ``"refuse"``.
        UnspellableError: ``"bytes"``, but the vocabulary has no token for some byte.
        ArgumentError: ``tokenizer`` is no live tokenizer; or ``"bytes"`` without protected texts.
        VocabularyError, UnsupportedTokenizerError, MissingExtraError: there are no tables of this tokenizer.

    Warns:
        TokenizerMismatchWarning: the test fails, and ``on_mismatch`` is another policy.
    """
    checked_choice("on_mismatch", on_mismatch, ("refuse", "any", "bytes"))
    texts: Sequence[str] = [*protected]
    if on_mismatch == "bytes":
        checked_protected(texts)
    if package_of(tokenizer) is None:
        expected = "a live tokenizer, such as one of transformers"
        raise ArgumentError("tokenizer", shown_argument(tokenizer), expected, "test a file with self_test")
    known = _vocabulary_of(tokenizer) if vocabulary is None else vocabulary
    try:
        tests.check_running(known, tokenizer)
    except TokenizerMismatchError as mismatch:
        if on_mismatch == "refuse":
            raise
        spans = GuardedSpans(known, texts) if on_mismatch == "bytes" else None
        policy = "all tokens that spell a text are admitted"
        if spans is not None:
            policy += ", and protected texts are written in single bytes"
        warnings.warn(TokenizerMismatchWarning(mismatch.program, mismatch.reason, policy), stacklevel=2)
        return Plan("any", spans, mismatch)
    return Plan("canonical")


def _vocabulary_of(source: object) -> Vocabulary:
    return Vocabulary.load(source, stop=())
