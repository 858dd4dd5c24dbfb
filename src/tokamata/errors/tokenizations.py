"""Errors of canonical tokenization: tokenizers, contexts and texts that do not allow it."""

from __future__ import annotations

from tokamata.errors.base import TokamataError


class UnsupportedTokenizerError(TokamataError, ValueError):
    """A tokenizer whose canonical tokenization is not supported; ``tokenization="any"`` supports it.

    Attributes:
        part: the part of its pipeline: ``"normalizer"``, ``"pre-tokenizer"``, ``"model"``, ``"decoder"``,
            ``"added tokens"``, or ``"pipeline"`` if the tokenizer has no pipeline.
        reason: why the part is not supported.
    """

    def __init__(self, part: str, reason: str) -> None:
        super().__init__(part, reason)
        self.part = part
        self.reason = reason

    def _message(self) -> str:
        return (
            f"canonical tokenization is not supported for this tokenizer's {self.part}: {self.reason}; "
            'compile with tokenization="any"'
        )


class TokenizerMismatchError(TokamataError, ValueError):
    """A tokenizer's program writes other tokens for a text than tokamata's tables of it.

    Canonical masks would then be wrong, so they are refused; ``tokenization="any"`` does not need the tables.

    Attributes:
        program: the package that runs, with its version.
        text: the text.
        position: the index of the first token that differs; ``None`` if the program returns no tokens.
        ours: the tokens by the tables; ``None`` if by these no tokens spell the text.
        theirs: the tokens that the program writes; ``None`` if it returns none.
        reason: what differs, in words.
    """

    def __init__(
        self,
        program: str,
        text: str,
        position: int | None,
        ours: tuple[int, ...] | None,
        theirs: tuple[int, ...] | None,
        reason: str,
    ) -> None:
        super().__init__(program, text, position, ours, theirs, reason)
        self.program = program
        self.text = text
        self.position = position
        self.ours = ours
        self.theirs = theirs
        self.reason = reason

    def _message(self) -> str:
        shown = repr(self.text) if len(self.text) <= 80 else f"{self.text[:79]!r}…"
        return (
            f"{self.program} does not write the tokens for {shown} that tokamata computes: {self.reason}; "
            'load the vocabulary again if the tokenizer was changed; compile with tokenization="any", which '
            "does not depend on this; or take the policy that guard.plan gives"
        )


class TokenizerMismatchWarning(TokamataError, UserWarning):
    """A tokenizer failed its self-test, and a weaker policy was chosen; a warning, not an error.

    Attributes:
        program: the package that runs, with its version.
        reason: what differs, in words.
        policy: what is done in place of refusing.
    """

    def __init__(self, program: str, reason: str, policy: str) -> None:
        super().__init__(program, reason, policy)
        self.program = program
        self.reason = reason
        self.policy = policy

    def _message(self) -> str:
        return f"{self.program} fails its self-test, so {self.policy}: {self.reason}"


class NoncanonicalError(TokamataError, ValueError):
    """No canonical token sequence spells a text that matches.

    Attributes:
        pattern: the pattern of the constraint.
        by_context: whether the context is the cause; otherwise, the pattern alone is.
    """

    def __init__(self, pattern: str, by_context: bool) -> None:
        super().__init__(pattern, by_context)
        self.pattern = pattern
        self.by_context = by_context

    def _message(self) -> str:
        if self.by_context:
            return (
                f"after this context no canonical tokens lead to a text that {self.pattern!r:.200} "
                "matches: the tokenizer would cut the end of the context differently; heal it "
                "(generate(..., heal=True)), "
                'or leave out its last token, or compile with tokenization="any"'
            )
        return (
            f"every text that {self.pattern!r:.200} matches is changed by the tokenizer (by its normalizer, "
            "or by an added token within it), so no canonical tokens spell one; change the pattern, or "
            'compile with tokenization="any"'
        )


class ContextError(TokamataError, ValueError):
    """A context whose tokens the tokenizer does not produce for any text.

    Attributes:
        position: the index of the first token that is not canonical.
    """

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position

    def _message(self) -> str:
        return (
            f"the context is not canonical: the tokenizer does not write token {self.position} (from 0) "
            'there; encode the text again, or pass on_noncanonical="fresh"'
        )


class OverlappingSpansError(TokamataError, ValueError):
    """Two protected spans of a text overlap, so that no segmentation keeps both whole.

    Attributes:
        first, second: the two spans, each with its start and its end in code points.
    """

    def __init__(self, first: tuple[int, int], second: tuple[int, int]) -> None:
        super().__init__(first, second)
        self.first = first
        self.second = second

    def _message(self) -> str:
        return (
            f"the spans {self.first} and {self.second} overlap; leave one out, or pass "
            'overlaps="leftmost", which keeps the first'
        )
