"""Patterns with finitely many texts over three code points, and tokens of their bytes."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.support.texts import all_texts

ALPHABET = "abé"
LONGEST = 5  # code points
TEXTS = all_texts(ALPHABET, LONGEST)


@st.composite
def finite_patterns(draw: st.DrawFn, budget: int = LONGEST) -> tuple[str, int]:
    """A pattern over ALPHABET, and the length of its longest text, at most ``budget``."""
    kind = draw(st.sampled_from(["literal", "class", "join", "either", "repeat", "empty"]))
    if kind == "empty" or budget == 0:
        return "", 0
    if kind == "literal":
        return draw(st.sampled_from(ALPHABET)), 1
    if kind == "class":
        members = draw(st.sets(st.sampled_from(ALPHABET), min_size=1))
        return "[" + "".join(sorted(members)) + "]", 1
    first, first_length = draw(finite_patterns(budget=budget))
    if kind == "repeat":
        most = draw(st.integers(0, min(3, budget // max(first_length, 1))))
        return f"(?:{first}){{{draw(st.integers(0, most))},{most}}}", most * first_length
    if kind == "join":
        second, second_length = draw(finite_patterns(budget=budget - first_length))
        return first + second, first_length + second_length
    second, second_length = draw(finite_patterns(budget=budget))
    return f"(?:{first}|{second})", max(first_length, second_length)


tokens = st.one_of(
    st.sampled_from([text.encode() for text in TEXTS if 1 <= len(text) <= 3]),
    st.sampled_from([b"\xc3", b"\xa9", b"a\xc3", b"\xa9b", b"\xc3\xa9\xc3", b"\xff"]),
    st.sampled_from([b"", None]),
)
