"""Whether a normalizer changes, destroys or makes a text, in any context.

Problem: a boundary b (``<|im_end|>``, ``::=``, ``,``) is protected if the model sees it exactly where a text
has it.  A normalizer changes texts before they are encoded.  Two claims are decided for *all* texts, with N
the normalizer:

1. *kept*: N leaves each occurrence of b as it is: N(u b v) = N(u) b N(v) for all u and v;
2. *not made*: N(x) has b only if x has b.

Examples: NFC makes ``=``, ``<`` and ``>`` before U+0338 another character, so ``<|im_end|>`` U+0338 has no
``<|im_end|>`` any more.  NFKC makes ``::=`` of U+2A74, and ``,`` of 13 code points, although compatibility is
not canonical equivalence.  A tokenizer that writes ``▁`` for a space makes a text with a space of one with
``▁``.

Terms.  N is NFC, NFD, NFKC or NFKD.  The *spelling* D(c) of a code point is its full decomposition.  N
concatenates spellings, sorts each run of marks by class, where equal classes keep their order, and (NFC, NFKC)
composes: each mark or starter that no mark of its class, and no starter, separates from the last starter joins
it, if the two have a composition.  A text t is *normal* if N(t) = t.  Parts of normal texts are normal, and
N(x y z) = N(N(x) y N(z)).

**Theorem 1.** b is kept in all contexts if and only if it is normal, and N(c b) = N(c) b and N(b c) = b N(c)
for each code point c.  So a shortest counterexample is b, c b or b c.

Proof.  By the second law, b is kept if and only if u b v is normal for all normal u and v.  For NFD and NFKD,
a text is normal if each code point is and no two neighbours descend in class: then the neighbours at an end of
b are a counterexample with one c.  For NFC and NFKC:

(a) Let b have a starter in its spelling, and let u b and b v be normal.  Then u b v is.  For the last starter t
    of b's spelling is joined into the same code point p of b whether u is there or not (compositions have
    unique spellings, and the number of starters before p is that of u b), and from t on, what follows is
    composed alike.
(b) Let b and v be normal, but not b v, and take the shortest such v = w c.  By (a), with b, w and c as the
    three texts, w has no starter: it is marks, all of them uncomposed.  If c is spelled with a starter first,
    w separates it from b, unless w is empty.  Otherwise c is a mark (normal code points whose spelling begins
    with a mark are single marks, since others are excluded from composition).  It joins b's last starter
    although w is there, of which no mark has its class; without w, what it meets is the same.  So b c is not
    normal.
(c) Let u and b be normal, but not u b; the shortest such u is c w, where again w is marks.  If b's first code
    point is spelled with a starter first, w is empty by (b).  If b begins with marks, one of them joins the last
    starter of c, and without w it does too.
(d) If b is marks alone, take a mark of a higher class before it, or of a lower class after it; one of them
    exists, as its marks ascend.

**Theorem 2.** N(x) has b if and only if the spelling of x is, up to the order of marks of different classes,
that of p b q, for some p and q for which p b q is normal.  If b is not normal there are none.  Let b begin with
a starter.  A shortest x that lacks b has no code points that are spelled in p alone, or in q alone, except marks:
without them, p b q is still normal, by (a).  Marks of the last cluster that are not b's matter only where one
stands between code points of b, and one is enough.  So x has at most one code point more than b, and each of
the others has a character of b in its spelling.  ``preimages.py`` searches these; each x whose code points all
are read differs from b in a place, and it lacks b: it has as many characters as b in its spelling, except for
the one mark and for what code points that are not normal, so not in b, have before and after b.

A map of single code points after the normal form (``▁`` for a space, lowercase) adds to the spellings, if its
code points are inert in the normal form.  If it has none of b's characters as a result, it changes nothing
in claim 2.  Otherwise the pair is run on single code points, and what these do not show is not settled.

Source: the Unicode Standard, D107 to D138, annex 15.  The theorems are ours.

Cost: the tables of a form, once, about 30 ms; then about 1 ms for each claim.  Rejected: running N on b's
equivalence class, since E9 shows that neither contexts nor compatibility are in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from tokamata.errors import ArgumentError
from tokamata.guard.preimages import shortest_preimage
from tokamata.guard.rewritings import Rewriting, Spellings, rewriting_of, rewriting_of_form
from tokamata.guard.verdicts import Verdict, Witness

__all__ = ["Normalization", "normalization", "rewriting_of", "rewriting_of_form"]

_MOST_CODE_POINTS = 4096


class Normalization(NamedTuple):
    """What a normalizer does to a boundary.

    Attributes:
        kept: claim 1, that it leaves each occurrence as it is.
        not_made: claim 2, that it makes no occurrence that the text lacks.
    """

    kept: Verdict
    not_made: Verdict


def normalization(boundary: str | tuple[str, ...], rewriting: Rewriting) -> Normalization:
    """Whether a normalizer changes, destroys or makes a boundary in any text.

    The tokens of witnesses are left empty; the tokenizer that has them is the caller's.

    Args:
        boundary: a text, or several of which each is protected; none of them empty.
        rewriting: of a normal form (``rewriting_of_form``) or a tokenizer (``rewriting_of``).

    Raises:
        ArgumentError: a text is empty, or has a surrogate.
    """
    texts = (boundary,) if isinstance(boundary, str) else tuple(boundary)
    for text in texts:
        _check(text)
    named = _quoted(texts[0]) if len(texts) == 1 else f"each of {len(texts)} texts"
    claims = (
        f"{rewriting.name} leaves {named} as it is, wherever a text has it",
        f"{rewriting.name} makes {named} only of texts that have it",
    )
    pairs: list[Callable[[str], Verdict]] = [
        lambda text: _kept(text, rewriting, claims[0]),
        lambda text: _not_made(text, rewriting, claims[1]),
    ]
    kept, not_made = (
        _of_all([decide(text) for text in texts], claim) for decide, claim in zip(pairs, claims)
    )
    return Normalization(kept, not_made)


def _check(text: str) -> None:
    if not text or any("\ud800" <= point <= "\udfff" for point in text):
        raise ArgumentError("boundary", f"{text!r:.60}", "a text that is not empty and has no surrogates")


def _of_all(verdicts: list[Verdict], claim: str) -> Verdict:
    """The verdict of several texts: a shortest witness of any; else the first that is not settled."""
    witnesses = [verdict for verdict in verdicts if verdict.witness is not None]
    if witnesses:
        return min(witnesses, key=_size)
    for verdict in verdicts:
        if not verdict:
            return verdict
    return verdicts[0] if verdicts else Verdict(claim, "proved", None, "there are no texts")


def _size(verdict: Verdict) -> tuple[int, str]:
    assert verdict.witness is not None
    text = verdict.witness.text.decode()
    return len(text), text


# ---- claim 1 -------------------------------------------------------------------------------------


def _kept(text: str, rewriting: Rewriting, claim: str) -> Verdict:
    change = rewriting.change
    if change is None:
        return Verdict(claim, "not settled", None, rewriting.unread)
    if len(text) > _MOST_CODE_POINTS:
        return _too_long(claim)
    if rewriting.unread:
        return _kept_by_program(text, rewriting, change, claim)
    if change(text) != text:
        return _changed(text, 0, text, rewriting, claim)
    form = rewriting.form
    if form is None:
        reason = "each code point becomes the same in all contexts, and those of the text stay as they are"
        return Verdict(claim, "proved", None, reason)
    broken = _breaking(text, form)
    # A map of single code points may undo what the normal form does.
    real = [
        (left, right)
        for left, right in broken
        if change(left + text + right) != change(left) + text + change(right)
    ]
    if real:
        left, right = min(real, key=lambda sides: sides[0] + text + sides[1])
        return _changed(left + text + right, len(left.encode()), text, rewriting, claim)
    if broken:
        return Verdict(claim, "not settled", None, "its normal form and its other changes were not composed")
    return Verdict(claim, "proved", None, "no code point before or after it changes it (theorem 1)")


def _breaking(text: str, form: Spellings) -> list[tuple[str, str]]:
    """The smallest code point before, and the smallest after a normal text that changes it."""
    before = _first_before(text[: form.first_apart(text, 1)], form) if text[0] in form.is_after else None
    after = _first_after(text[form.last_apart(text) :], form)
    return [*([(before, "")] if before else []), *([("", after)] if after else [])]


@lru_cache(1024)
def _first_before(head: str, form: Spellings) -> str | None:
    return next((point for point in form.before if not form.are_apart(point, head)), None)


@lru_cache(1024)
def _first_after(tail: str, form: Spellings) -> str | None:
    return next((point for point in form.after if not form.are_apart(tail, point)), None)


def _kept_by_program(text: str, rewriting: Rewriting, change: Callable[[str], str], claim: str) -> Verdict:
    """A normalizer that is only run: the text alone, and between each mark of NFKC."""
    form = rewriting_of_form("NFKC").form
    assert form is not None

    def is_gone(whole: str) -> bool:
        result = change(whole)
        # Its decoder may make a space of the mark of words.
        return text not in result and text not in result.replace("\u2581", " ")

    if is_gone(text):
        return _changed(text, 0, text, rewriting, claim)
    for point in form.after:
        if is_gone(text + point):
            return _changed(text + point, 0, text, rewriting, claim)
    return Verdict(claim, "not settled", None, rewriting.unread)


def _changed(whole: str, position: int, text: str, rewriting: Rewriting, claim: str) -> Verdict:
    assert rewriting.change is not None
    says = (
        f"{rewriting.name} turns {_quoted(whole)} into {_quoted(rewriting.change(whole))}, which does not "
        f"have {_quoted(text)} there"
    )
    return Verdict(claim, "witness", Witness(whole.encode(), (), (), position, says))


# ---- claim 2 -------------------------------------------------------------------------------------


def _not_made(text: str, rewriting: Rewriting, claim: str) -> Verdict:
    change = rewriting.change
    if change is None:
        return Verdict(claim, "not settled", None, rewriting.unread)
    if len(text) > _MOST_CODE_POINTS:
        return _too_long(claim)
    spellings, reason = _spellings_for(text, rewriting)
    if not reason and change(text) != text:
        return Verdict(claim, "proved", None, "no changed text has it, since it does not stay as it is")
    if spellings is None or spellings.change(text) != text:
        return Verdict(claim, "not settled", None, reason)
    found = shortest_preimage(text, spellings, rewriting)
    if found.text is not None:
        result = rewriting.prefixed(change(found.text))
        if text in result and text not in found.text:
            return _made(found.text, result, text, rewriting, claim)
        if not reason:
            return Verdict(claim, "not settled", None, "a text that was found does not make it")
    if reason or found.unsettled:
        return Verdict(claim, "not settled", None, reason or found.unsettled)
    return Verdict(
        claim, "proved", None, "no text of code points that are spelled like it makes it (theorem 2)"
    )


def _spellings_for(text: str, rewriting: Rewriting) -> tuple[Spellings | None, str]:
    """The spellings by which a text may be made, and why they may not be all; ``""`` if they are all."""
    if rewriting.unread:
        return rewriting.single, rewriting.unread
    if rewriting.both is not None:
        return rewriting.both, ""
    assert rewriting.form is not None
    assert rewriting.single is not None
    if not any(point in rewriting.single.containing for point in text):
        return rewriting.form, ""
    return rewriting.single, "its normal form and its other changes were not composed"


def _made(whole: str, result: str, text: str, rewriting: Rewriting, claim: str) -> Verdict:
    same = next((i for i, (a, b) in enumerate(zip(whole, result, strict=False)) if a != b), 0)
    says = f"{rewriting.name} turns {_quoted(whole)} into {_quoted(result)}, which has {_quoted(text)}"
    return Verdict(claim, "witness", Witness(whole.encode(), (), (), len(whole[:same].encode()), says))


def _too_long(claim: str) -> Verdict:
    reason = f"it has more than the {_MOST_CODE_POINTS:,} code points that are examined"
    return Verdict(claim, "not settled", None, reason)


def _quoted(text: str) -> str:
    """A text for messages: code points other than ASCII are escaped."""
    shown = ascii(text)
    return shown if len(shown) <= 100 else f"{shown[:80]}... ({len(text):,} code points)"
