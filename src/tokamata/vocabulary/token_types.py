"""Types of tokens: a predicate on the tokens of a vocabulary, by what their texts are.

Problem.  Xu (*OIP-CAD*, definition 3) has a predicate P that gives each token its types, beside the
constraint
on the text: "no number here", "letters and spaces alone".
Example.  ``{"number": tk.regex("[0-9]+")}``: the tokens ``7`` and ``2024`` have the type, ``a7`` has not.
How.  A token has a type if the constraint accepts its whole text.  These are the tokens that complete a text
of one token, so the mask of the constraint at its start with a budget of one token has exactly them.
A set of types is a set of tokens, so a text is held to types by taking the other tokens out of the vocabulary
(:meth:`tokamata.Vocabulary.without`).  Its masks stay exact: no token leads to where only others go on.

Cost.  One mask for each type.
Rejected.  To apply the set beside the mask, as listing 4 of the paper does: a text then runs into states
where no token is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from tokamata.calls.arguments import checked_instance, checked_list
from tokamata.errors import ArgumentError, BudgetError, EmptyConstraintError, UnspellableError, shown_argument

__all__ = ["TextsOfTokens", "TokenTypes"]

_MOST_NUMBERS = 255


class TextsOfTokens(Protocol):
    """A constraint, as far as the types of tokens need it."""

    def compile(self, vocabulary: Any, *, start_of_text: bool) -> Any:
        """The compiled constraint; see :meth:`tokamata.Constraint.compile`."""


class _Tokens(Protocol):
    """A vocabulary, as far as types of tokens need it."""

    @property
    def tokens(self) -> Sequence[bytes | None]: ...

    @property
    def width(self) -> int: ...

    def _checked_id(self, token: int) -> int: ...


class TokenTypes(Mapping[str, frozenset[int]]):
    """The tokens of each type; made by :meth:`tokamata.Vocabulary.types`.

    A mapping from names of types to the ids of their tokens.

        types.of(17)                    # ("number",)
        types.others("number")          # the ids of all tokens with text that are no number
    """

    def __init__(self, vocabulary: _Tokens, types: Mapping[str, TextsOfTokens]) -> None:
        checked_instance("types", types, Mapping, "a mapping from names to constraints")
        for name, constraint in types.items():
            checked_instance("types", name, str, "a mapping from names to constraints")
            if not callable(getattr(constraint, "compile", None)):
                raise ArgumentError(f"types[{name!r}]", shown_argument(constraint), "a constraint")
        self._vocabulary = vocabulary
        self._ids = {name: _ids(vocabulary, constraint) for name, constraint in types.items()}

    def __getitem__(self, name: str) -> frozenset[int]:
        return self._ids[name]

    def __iter__(self) -> Any:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def of(self, token: int) -> tuple[str, ...]:
        """The types of a token, in the order of their definition.

        Raises:
            TokenIdError: for an id outside of the vocabulary.
        """
        index = self._vocabulary._checked_id(token)
        return tuple(name for name, ids in self._ids.items() if index in ids)

    def others(self, *names: str) -> list[int]:
        """The ids of all tokens with text that have none of these types.

            tk.generate(..., banned_tokens=types.others("letters", "space"))

        Raises:
            ArgumentError: there is no such type.
        """
        for name in checked_list("names", names, "names of types"):
            if name not in self._ids:
                raise ArgumentError("names", repr(name), f"one of {', '.join(self._ids)}")
        kept: Iterable[frozenset[int]] = (self._ids[name] for name in names)
        allowed = frozenset[int]().union(*kept)
        return [token for token, text in enumerate(self._vocabulary.tokens) if text and token not in allowed]

    def numbers(self, vocabulary: _Tokens) -> bytes:
        """The number of the first type of each id, in order of definition; for none, that of ``"other"``.

        A type that is named ``"other"`` has no number of its own.

        Raises:
            ArgumentError: the types are those of another vocabulary, or more than 255.
        """
        if vocabulary is not self._vocabulary:
            raise ArgumentError(
                "types", "types of another vocabulary", "those of the compiled constraint's own"
            )
        names = [name for name in self._ids if name != "other"]
        if len(names) > _MOST_NUMBERS:
            raise ArgumentError("types", f"{len(names)} types", f"{_MOST_NUMBERS} at most")
        numbers = bytearray([len(names)]) * vocabulary.width
        for number, name in reversed([*enumerate(names)]):
            for token in self._ids[name]:
                numbers[token] = number
        return bytes(numbers)

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {len(ids):,}" for name, ids in self._ids.items())
        return f"<TokenTypes {counts}>"


def _ids(vocabulary: _Tokens, constraint: TextsOfTokens) -> frozenset[int]:
    """The tokens whose whole text the constraint accepts."""
    try:
        compiled = constraint.compile(vocabulary, start_of_text=False)
    except (EmptyConstraintError, UnspellableError):
        return frozenset()  # no text of the constraint is a token
    mask = compiled.allocate_mask()
    try:
        compiled.matcher(stop=()).fill_mask(mask[0], budget=1)
    except BudgetError:
        return frozenset()  # every text of the constraint takes more tokens, or none
    return frozenset(
        32 * index + bit for index, word in enumerate(mask[0]) if word for bit in range(32) if word >> bit & 1
    )
