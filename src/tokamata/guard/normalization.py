"""Whether a normalizer changes, destroys or makes a text, in any context.

Problem: a boundary b (``<|im_end|>``, ``::=``, ``,``) is protected if the model reads it exactly where a
text has it.  A normalizer changes texts before they are encoded.  Two claims are decided for *all* texts,
where N is the normalizer:

1.  *kept*: N leaves each occurrence of b as it is: N(u b v) = N(u) b N(v) for all u and v;
2.  *not made*: N(x) has b only if x has b.

Examples: NFC makes one character of ``>`` and U+0338, so ``<|im_end|>`` before U+0338 is gone.  NFKC makes
``::=`` of U+2A74, and ``,`` of 13 code points, which are not canonically equivalent to it.  A tokenizer
that writes ``▁`` for a space makes a text with a space of one with ``▁``.

Terms.  N is NFC, NFD, NFKC or NFKD.  The *spelling* of a code point is its full decomposition under N; it
consists of *marks*, whose class is not 0, and *starters*.  N concatenates spellings, and sorts each run of
marks by class; equal classes keep their order.  NFC and NFKC then compose: from left to right, a code point
joins the last starter before it if the two have a composition, unless a starter or a mark of its own class
is between them; a starter joins only its neighbour.  A text t is *normal* if N(t) = t.  Substrings of
normal texts are normal, N(x y z) = N(N(x) y N(z)), and normal code points whose spelling begins with a mark
are single marks (Unicode excludes the others from composition).

**Theorem 1.** b is kept in all texts if and only if N(b) = b, and N(c b) = N(c) b and N(b c) = b N(c) for
each code point c.  So a shortest counterexample is b, c b or b c.

Proof.  By the laws above, b is kept if and only if u b v is normal for all normal u and v.  In NFD and
NFKD, a text is normal if its code points are and no mark follows one of a higher class, so only neighbours
count.  In NFC and NFKC:

(a) If the spelling of b has a starter, and u b and b v are normal, then u b v is.  Let t be the last
    starter in it, and p the code point of b that t belongs to.  In u b, as in b, what is composed at t is
    the part of p up to t: the outputs u b and b end alike, each code point accounts for its own starters,
    and no two compositions have one spelling.  From t on, the marks and v are composed as in b v.
(b) If b and v are normal, and b v is not, take the shortest such v = w c.  By (a), applied to b, w and c,
    the spelling of w has no starter: w is marks that stay apart from b.  If w is not empty, c does not
    begin with a starter, as w would keep it apart.  So c is one mark, and b w c is in order, as w c and b w
    are.  As b w c is not normal, c joins b's last starter.  In b c the same marks come before c, except w,
    and c joins too.
(c) If u and b are normal, and u b is not, the shortest such u is c w, where w is marks, by (a).  If w is
    not empty, b begins with marks, one of which joins the last starter of c, by (b) for c w and b.  Without
    w it joins too.
(d) If b is marks alone, a mark of a higher class before it or of a lower class after it changes places with
    it: one of them exists, as the classes in b ascend, and the highest is not the lowest of Unicode.

**Theorem 2.** N(x) has b if and only if there are p and q such that p b q is normal, and the spelling of x
is that of p b q up to the order of marks of different classes. (There are none if b is not normal.) Let b
begin with a starter.  Then a shortest x that lacks b has at most one code point without a part of b in its
spelling: a mark that stands within b's last character.

Proof.  A substring of normal p b q is normal, so code points of x whose spelling is in p alone, or in q
alone after b's last mark, can be left out.  The others without a part of b are marks that N moves after b.
They matter if they separate code points of b; one of them does, the first.  If the spelling of another code
point of x has more than b's part, that code point is not normal, or is composed with what is outside of b;
so it is not where b has it, and x lacks b without the mark.  ``preimages.py`` searches all texts of this
kind.

A map of single code points after N (``▁`` to a space, lowercase) adds to the spellings, if its code points
do not decompose and touch no neighbours in N.  If it writes none of b's characters, it plays no part in
claim 2.  Otherwise the two together are only run: the witness is real, but there may be a shorter one, and
what single code points do not show is *not settled*.  The same holds for a normalizer that is not read.

Claims are about the text that the normalizer is given: added tokens are cut out before that.

Source: the Unicode Standard, sections 3.11 and 3.12, and annex 15.  The theorems are ours.

Cost: the tables of a form, once, 20 to 60 ms; then about 1 ms for each claim.  Rejected: running N on the
texts that are equivalent to b, which have neither its contexts nor what only compatibility makes equal.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from tokamata.errors import ArgumentError
from tokamata.guard.preimages import shortest_preimage
from tokamata.guard.rewritings import Rewriting, Spellings, rewriting_of_form
from tokamata.guard.verdicts import Verdict, Witness

__all__ = ["Normalization", "normalization"]

_MOST_CODE_POINTS = 512
# Marks on one character.  Unicode's stream-safe texts have 30; normal forms take quadratic time on more.
_MOST_MARKS = 32
_UNCOMPOSED = "normalizer: its normal form and its other changes act on the same characters"


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
        _of_all([decide(text) for text in texts], claim) for decide, claim in zip(pairs, claims, strict=True)
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
    if reason := _limit_met(text):
        return Verdict(claim, "not settled", None, reason)
    if rewriting.unread:
        return _kept_by_program(text, rewriting, change, claim)
    if change(text) != text:
        return _changed(text, 0, text, rewriting, claim)
    form = rewriting.form
    if form is None:
        reason = "each code point becomes the same in all contexts, and those of the text stay as they are"
        return Verdict(claim, "proved", None, reason)
    if form.change(text) != text:  # and a map of single code points undoes it
        return Verdict(claim, "not settled", None, _UNCOMPOSED)
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
        return Verdict(claim, "not settled", None, _UNCOMPOSED)
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
    """A normalizer that is only run: on the text, and on the text before each mark of NFKC."""
    form = rewriting_of_form("NFKC").form
    assert form is not None

    for whole in (text, *(text + point for point in form.after)):
        if text not in change(whole):
            return _changed(whole, 0, text, rewriting, claim)
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
    if reason := _limit_met(text):
        return Verdict(claim, "not settled", None, reason)
    spellings, reason = _spellings_for(text, rewriting)
    single = rewriting.single
    if not rewriting.unread and single is not None:
        # A map can write what it changes itself, so it is not enough that it changes the text.
        lost = [p for p in text if p in single.spelled and p not in single.containing]
        if lost:
            return Verdict(claim, "proved", None, f"no changed text has {_quoted(lost[0])}")
    if not reason and spellings is rewriting.single and spellings.change(text) != text:
        reason = "its changes of single code points write characters that they change"
    if not reason and spellings.change(text) != text:
        return Verdict(claim, "proved", None, "no changed text has it, since it is not in the normal form")
    if spellings.change(text) != text:
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


def _spellings_for(text: str, rewriting: Rewriting) -> tuple[Spellings, str]:
    """The spellings by which a text may be made, and why they may not be all; ``""`` if they are all."""
    single = rewriting.single
    if rewriting.both is not None:
        return rewriting.both, rewriting.unread
    assert single is not None
    if rewriting.unread:
        return single, rewriting.unread
    assert rewriting.form is not None
    if not single.erased and not any(point in single.containing for point in text):
        return rewriting.form, ""
    return single, _UNCOMPOSED


def _made(whole: str, result: str, text: str, rewriting: Rewriting, claim: str) -> Verdict:
    same = next((i for i, (a, b) in enumerate(zip(whole, result, strict=False)) if a != b), 0)
    says = f"{rewriting.name} turns {_quoted(whole)} into {_quoted(result)}, which has {_quoted(text)}"
    return Verdict(claim, "witness", Witness(whole.encode(), (), (), len(whole[:same].encode()), says))


def _limit_met(text: str) -> str:
    """The limit that a text is beyond, as the reason of a verdict; ``""`` if there is none."""
    if len(text) > _MOST_CODE_POINTS:
        return f"it has more than the {_MOST_CODE_POINTS:,} code points that are examined"
    marks = 0
    for point in text:
        marks = marks + 1 if unicodedata.combining(point) else 0
        if marks > _MOST_MARKS:
            return f"it has more than the {_MOST_MARKS} marks on one character that are examined"
    return ""


def _quoted(text: str) -> str:
    """A text for messages: code points other than ASCII are escaped."""
    shown = ascii(text)
    return shown if len(shown) <= 100 else f"{shown[:80]}... ({len(text):,} code points)"
