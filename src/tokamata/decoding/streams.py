"""A text while it is written, token by token: the iterator that :func:`tokamata.stream` returns.

Example.  Of ``{"born": 1879}``, in the tokens ``{"born": ``, ``18``, ``79}``, the steps have the values
``{}``, ``{}`` and ``{"born": 1879}``, and the last one has the events of ``/born`` and of the whole.

The steps are made by the loop (:mod:`.loop`), one for each call of ``next``, in the caller's thread:
:mod:`.async_streams` calls it from another one.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from tokamata.calls.arguments import no_attribute
from tokamata.decoding.results import Abstention, Generation, Step
from tokamata.errors import ArgumentError, PicklingError

if TYPE_CHECKING:
    from tokamata.decoding.row import Row

__all__ = ["Stream"]

_T = TypeVar("_T")


_GENERATION = "iterate to the end; then its .generation has it"
_ELSEWHERE = {
    "text": f"each step has its piece; {_GENERATION}",
    "value": f"each step has the partial value; {_GENERATION}",
    "events": "each step has its own",
    "parse": f"{_GENERATION}: steps.generation.parse()",
    "tokens": _GENERATION,
}


class Stream(Iterator[Step], Generic[_T]):
    """Iterates over the tokens of a text while it is written; made by :func:`tokamata.stream`.

        with tk.stream(model, tokenizer, prompt, Painter) as steps:
            for step in steps:
                show(step.value)
        painter = steps.generation.parse()

    After an error, and after :meth:`close`, the iteration has ended.
    """

    def __init__(
        self, row: Row[_T], steps: Generator[tuple[Row[Any], Step], None, None], constraint: object
    ) -> None:
        self._row = row
        self._steps = steps
        self._is_constrained = constraint is not None

    def __reduce__(self) -> NoReturn:
        raise PicklingError("a Stream", "iterate to its end, and pickle its .generation")

    @property
    def generation(self) -> Generation[_T] | None:
        """The result, once the iteration has ended; ``None`` before, and where the call abstained."""
        return self._row.result if isinstance(self._row.result, Generation) else None

    @property
    def abstention(self) -> Abstention | None:
        """Why there is no result, where a policy abstained."""
        return self._row.result if isinstance(self._row.result, Abstention) else None

    @property
    def tokens_left(self) -> int:
        """How many more tokens may be written."""
        return self._row.tokens_left

    @property
    def tokens_needed(self) -> int:
        """The least number of tokens that lead to an accepted text; 0 without a constraint.

        Raises:
            LimitExceeded: the constraint exceeded its limits.
        """
        return 0 if self._row.matcher is None else len(self._row.matcher.shortest_completion())

    @property
    def is_constrained(self) -> bool:
        """Whether there is a constraint."""
        return self._is_constrained

    if not TYPE_CHECKING:  # to a type checker, such a use is an error

        def __getattr__(self, name: str) -> NoReturn:
            """Says where the text and its value are."""
            raise no_attribute(self, name, _ELSEWHERE)

        def __aiter__(self) -> NoReturn:
            """Refuses ``async for``.

            Raises:
                ArgumentError: always.
            """
            raise _for_asyncio("async for")

        async def __aenter__(self) -> NoReturn:
            """As :meth:`__aiter__`."""
            raise _for_asyncio("async with")

        async def __aexit__(self, *_: object) -> None:
            """Only there since ``async with`` asks for it first."""

    def __enter__(self) -> Stream[_T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the iteration here, and release the model's cache; what was not written stays unwritten."""
        self._steps.close()

    def __next__(self) -> Step:
        """Write one more token.

        Raises:
            NoTokenError: there is no policy, and the model's logits leave no allowed token.
            RefusedError: there is no policy, and a validator refuses the text.
            MaskError: the model's logits are narrower than the vocabulary.
            LimitExceeded: the constraint exceeded its limits.
        """
        return next(self._steps)[1]


def _for_asyncio(statement: str) -> ArgumentError:
    return ArgumentError("a Stream", statement, "used with for and with", "for asyncio call tokamata.astream")
