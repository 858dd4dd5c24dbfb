"""What a tokenizer does to a boundary: a text, or a set of texts, that is to stay whole and by itself.

Problem.  ``<|im_end|>``, ``</think>`` or ``{`` mean something only where they stand by themselves.  A
tokenizer may write a token that begins before such a text and ends within it, or cut it into several, or
make a control token of it; its normalizer may change it.  Each of these questions is about *all* texts.

Example.  Llama 3.1 and ``<|im_end|>``, which is no control token there: in ``}<|im_end|>`` the token ``}<``
crosses its left border.  Qwen 3, where it is one: never crossed, always one token, which is proved.

How.  Each violation is a language over bytes and token edges (:mod:`tokamata.guard.edge_machines`); the
engine searches for a shortest text of it that the tokenizer writes so.  No text is a proof, for all texts
that the tokenizer reproduces.  A witness is replayed on the tokenizer's own program.

Source: paper 004, definitions 1 and 2, whose detectors look at a few tokens around the boundary instead
(:mod:`tokamata.tokenization.papers.detectors`).  Cost: once for each tokenizer 0.1 to 0.5 s, then a
millisecond or two for a short text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tokamata.constraints.constraint import Constraint
from tokamata.errors import ArgumentError, LimitExceeded
from tokamata.guard import edge_machines as machines
from tokamata.guard.byte_languages import ByteLanguage
from tokamata.guard.edge_machines import EdgeMachine
from tokamata.guard.normalization import normalization
from tokamata.guard.rewritings import rewriting_of, rewriting_of_form
from tokamata.guard.token_edges import ControlTokens, TokenEdges, not_settled
from tokamata.guard.verdicts import Outcome, Verdict, Witness, worst
from tokamata.resources.limits import CancelToken, Limits

__all__ = ["Boundary", "boundary"]

_PROVED = "no text that the tokenizer reproduces has such tokens"


@dataclass(frozen=True)
class Boundary:
    """What is known of one boundary.

    Attributes:
        shown: the boundary.
        tokens: the ids whose bytes are the boundary: Tok(b) of the paper; empty for a set of texts.
        crossed_left: no token crosses the left border of an occurrence.
        crossed_right: no token crosses its right border.
        one_token: each occurrence is one whole token of ``tokens``.
        from_text: no text becomes the control token, or other added token, with this name.
        kept: the normalizer leaves each occurrence as it is.
        not_made: the normalizer makes no occurrence of another text.
        reproduced: some text with the boundary is reproduced by the tokenizer, so that the others say
            something.
    """

    shown: str
    tokens: tuple[int, ...]
    crossed_left: Verdict
    crossed_right: Verdict
    one_token: Verdict
    from_text: Verdict
    kept: Verdict
    not_made: Verdict
    reproduced: Verdict

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All of them."""
        crossed = self.crossed_left, self.crossed_right, self.one_token
        return *crossed, self.from_text, self.kept, self.not_made, self.reproduced

    @property
    def outcome(self) -> Outcome:
        """The outcome of all of them together."""
        return worst(self.verdicts)


def boundary(
    tokenizer: object,
    b: str | Constraint[Any],
    *,
    within: Constraint[Any] | None = None,
    control_tokens: ControlTokens = "read",
    normal_form: str | None = None,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Boundary:
    """Whether a tokenizer keeps a boundary whole and by itself, in every text.

    ::

        found = guard.boundary("tokenizer.json", "<|im_end|>")
        if not found.crossed_left:
            print(found.crossed_left.witness)

    Args:
        tokenizer: any source that ``Vocabulary.load`` takes.
        b: a text, or a regular constraint without the empty text.
        within: the texts that are asked about; any text if not given.
        control_tokens: ``"read"`` if the tokenizer reads names of control tokens in a text as these tokens,
            as most do; ``"text"`` if they are ordinary text, as where each part of a prompt is encoded apart.
        normal_form: ``"NFC"``, ``"NFD"``, ``"NFKC"`` or ``"NFKD"``: asks about a normalizer before the
            tokenizer, in place of the tokenizer's own.
        limits: bounds on each search; a verdict whose search meets one is not settled.
        cancel: stops the work.

    Raises:
        ArgumentError: the boundary is or accepts the empty text, or an argument has another type.
        UnsupportedTokenizerError: the tokenizer has a part that canonical tokenization does not support.
        TokenizerMismatchError: a live tokenizer writes other tokens than its definition says.
        AlgebraError, NotRegularError: a constraint is not regular.
        LimitExceeded: the states of ``b`` or ``within`` exceed a limit.
        Cancelled: ``cancel`` was cancelled.
    """
    bounds = limits or Limits()
    language = ByteLanguage.of("b", b, limits)
    if language.accepting[0]:
        raise ArgumentError("b", language.shown, "a boundary without the empty text", "every position is one")
    around = None if within is None else ByteLanguage.of("within", within, limits)
    edges = TokenEdges.of(tokenizer, control_tokens)
    search = _Search(edges, language, around, bounds, cancel)
    named = b.encode() if isinstance(b, str) else None
    tokens = () if named is None else _tokens_of(edges, named)
    left = search.verdict(
        "no token crosses the left border",
        machines.crossed_left,
        lambda borders, start, end: start not in borders,
    )
    right = search.verdict(
        "no token crosses the right border",
        machines.crossed_right,
        lambda borders, start, end: end not in borders,
    )
    parted = search.verdict(
        "each occurrence is one whole token",
        machines.parted,
        lambda borders, start, end: any(start < border < end for border in borders),
    )
    kept, not_made = _normalized(edges, b, normal_form)
    return Boundary(
        language.shown,
        tokens,
        left,
        right,
        _one_token(parted, left, right),
        _from_text(edges, named),
        kept,
        not_made,
        search.reproduced(),
    )


def _normalized(
    edges: TokenEdges, b: str | Constraint[Any], normal_form: str | None
) -> tuple[Verdict, Verdict]:
    """What the normalizer does; added tokens that are read in a text are cut out before it."""
    claims = "the normalizer leaves each occurrence as it is", "the normalizer makes no occurrence"
    if not isinstance(b, str):
        kept, not_made = (Verdict(claim, "not settled", reason="it is a set of texts") for claim in claims)
        return kept, not_made
    rewriting = rewriting_of(edges.vocabulary) if normal_form is None else rewriting_of_form(normal_form)
    found = normalization(b, rewriting)
    kept = found.kept
    if kept.witness is not None and normal_form is None and b in edges.cut_names:
        kept = _cut_out(edges, b, kept)
    return kept, found.not_made


def _cut_out(edges: TokenEdges, b: str, kept: Verdict) -> Verdict:
    """The verdict about the name of an added token, which is cut out of a text before it is normalized."""
    assert kept.witness is not None
    if edges.running is None:
        return kept
    encode = edges.running.encode if edges.control_tokens == "read" else edges.running.encode_text
    written = encode(kept.witness.text.decode())
    if written is None or edges.cut_names[b] not in written:
        return kept
    # An added token that ends with the first characters of the name may be cut out instead.
    for name in edges.cut_names:
        if any(name.endswith(b[:size]) for size in range(1, len(b))):
            reason = f"the added token {name!r:.60} may be cut out of a text, and take a part of it"
            return Verdict(kept.claim, "not settled", reason=reason)
    reason = "the name of an added token is cut out of the text before it is normalized"
    return Verdict(kept.claim, "proved", reason=reason)


def _one_token(parted: Verdict, left: Verdict, right: Verdict) -> Verdict:
    if parted.outcome == "witness":
        return parted
    for crossed in (left, right):
        if crossed.outcome == "witness":
            return Verdict(parted.claim, "witness", crossed.witness, crossed.reason)
    unsettled = next((each for each in (parted, left, right) if not each), parted)
    return Verdict(parted.claim, unsettled.outcome, reason=unsettled.reason)


def _tokens_of(edges: TokenEdges, text: bytes) -> tuple[int, ...]:
    named = edges.control_names.get(text.decode())
    tokens = edges.vocabulary.core.tokens_with(text)
    return tuple(sorted({*tokens, *(() if named is None else (named,))}))


def _from_text(edges: TokenEdges, text: bytes | None) -> Verdict:
    claim = "no text becomes the added token of this name"
    name = (text or b"").decode("utf-8", "replace")
    token = edges.added_names.get(name)
    if token is None:
        return Verdict(claim, "proved", reason="no added token that is read in a text has this name")
    if name not in edges.cut_names:
        return _written_by_model(edges, name, token, claim)
    assert text is not None
    replayed = None
    if edges.running is not None:
        encode = edges.running.encode if edges.control_tokens == "read" else edges.running.encode_text
        written = encode(name)
        if written is not None and token not in written:
            reason = f"the tokenizer's program writes {written[:8]} for its name"
            return Verdict(claim, "not settled", reason=reason)
        replayed = None if written is None else written == [token]
    says = "the name in a text becomes the added token"
    return Verdict(claim, "witness", Witness(text, (token,), (text,), 0, says, replayed))


# A text that is unknown to a model that knows few characters; the first are common elsewhere.
_UNUSUAL = ("\U0001f600", "\u4e2d", "\xe9", "Q", "\x00", "\ue000", "\U0010fffd")


def _written_by_model(edges: TokenEdges, name: str, token: int, claim: str) -> Verdict:
    """The verdict about a control token whose name is ordinary text."""
    if not edges.may_write(token):
        return Verdict(claim, "proved", reason="names of control tokens are ordinary text")
    for text in (name, *_UNUSUAL) if edges.running is not None else ():
        written = edges.running.encode_text(text) if edges.running is not None else None
        if written is not None and token in written:
            pieces = edges.pieces_of(written)
            says = f"the model writes the token of {name!r:.60}, although names are ordinary text"
            return Verdict(claim, "witness", Witness(text.encode(), tuple(written), pieces, 0, says, True))
    reason = "the model itself may write the token, and no text was found of which it does"
    return Verdict(claim, "not settled", reason=reason)


class _Search:
    """The searches of one boundary."""

    def __init__(
        self,
        edges: TokenEdges,
        language: ByteLanguage,
        within: ByteLanguage | None,
        limits: Limits,
        cancel: CancelToken | None,
    ) -> None:
        self._edges, self._language, self._within = edges, language, within
        self._limits, self._cancel = limits, cancel

    def verdict(
        self,
        claim: str,
        violation: Callable[[ByteLanguage], EdgeMachine],
        is_violated: Callable[[set[int], int, int], bool],
    ) -> Verdict:
        try:
            text = self._shortest(violation)
            if text is None:
                return Verdict(claim, "proved", reason=_PROVED)
            return self._refuted(claim, text, is_violated)
        except LimitExceeded as error:
            return not_settled(claim, error)

    def reproduced(self) -> Verdict:
        claim = "some text with it is reproduced by the tokenizer"
        try:
            text = self._shortest(machines.spelled)
            # A text is followed as such there, but one with a token that our tables lack has no tokens.
            tokens = None if text is None else self._edges.tokens_of(text, self._limits, self._cancel)
        except LimitExceeded as error:
            return not_settled(claim, error)
        if text is None:
            return Verdict(claim, "not settled", reason="every text with it is decoded to another text")
        if tokens is None:
            return Verdict(claim, "not settled", reason=f"our tables have no tokens for {text!r:.80}")
        return Verdict(claim, "proved", reason=f"such as {text!r:.80}")

    def _shortest(self, violation: Callable[[ByteLanguage], EdgeMachine]) -> bytes | None:
        machine = violation(self._language)
        if self._within is not None:
            machine = machine.within(self._within)
        return self._edges.shortest(machine, self._limits, self._cancel, self._language.shown)

    def _refuted(self, claim: str, text: bytes, is_violated: Callable[[set[int], int, int], bool]) -> Verdict:
        tokens = self._edges.tokens_of(text, self._limits, self._cancel)
        pieces = () if tokens is None else self._edges.pieces_of(tokens)
        borders = {0}
        for piece in pieces:
            borders.add(max(borders) + len(piece))
        found = next((span for span in self._language.occurrences(text) if is_violated(borders, *span)), None)
        if tokens is None or found is None or b"".join(pieces) != text:
            return Verdict(
                claim, "not settled", reason=f"the witness {text!r:.80} is not confirmed by our tables"
            )
        replayed = self._edges.replayed(text, tokens)
        if replayed is False:
            reason = f"the tokenizer's own program writes {text!r:.80} with other tokens"
            return Verdict(claim, "not settled", reason=reason)
        start, end = found
        position = next(
            (border for border in (start, end) if border not in borders),
            next((border for border in sorted(borders) if start < border < end), start),
        )
        shown = text[start:end].decode("utf-8", "replace")
        crossing = next(
            (piece for piece, begin in _begun(pieces) if begin < position < begin + len(piece)), None
        )
        says = (
            f"{shown!r} is written with several tokens"
            if crossing is None
            else f"the token {crossing.decode('utf-8', 'replace')!r} crosses a border of {shown!r}"
        )
        return Verdict(claim, "witness", Witness(text, tuple(tokens), pieces, position, says, replayed))


def _begun(pieces: tuple[bytes, ...]) -> list[tuple[bytes, int]]:
    begun, at = [], 0
    for piece in pieces:
        begun.append((piece, at))
        at += len(piece)
    return begun
