"""The same stream for ``asyncio``: the model works in a thread of its own, and the event loop goes on.

    async with tk.astream(model, tokenizer, prompt, Painter) as steps:
        async for step in steps:
            await send(step.text)

How.  One thread makes the stream, at the first step, and then each of its steps (:mod:`.streams`), so that
the model's calls of one text are always in the same thread.  A step is made when it is awaited, and not
before: a slow reader slows the model down.

Whoever stops, by leaving the block, by :meth:`AsyncStream.aclose` or by the end of the task, ends the work
after the call of the model that is going on, which cannot be interrupted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, overload

from tokamata.calls.keywords import checked_call, takes_settings_of
from tokamata.constraints.given import Given, Untyped
from tokamata.decoding.generate import Settings, stream
from tokamata.decoding.prompts import Prompt
from tokamata.decoding.results import Abstention, Generation, Step
from tokamata.errors import ArgumentError, PicklingError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tokamata.decoding.policy import Policy
    from tokamata.decoding.streams import Stream

__all__ = ["AsyncStream", "astream"]

_T = TypeVar("_T")


class AsyncStream(AsyncIterator[Step], Generic[_T]):
    """Iterates over the tokens of a text while it is written; made by :func:`tokamata.astream`.

    After an error, and after :meth:`aclose`, the iteration has ended.  One task iterates at a time.
    """

    def __init__(self, make: Callable[[], Stream[_T]]) -> None:
        self._make = make
        self._stream: Stream[_T] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tokamata-stream")
        self._closing: Future[None] | None = None

    def __reduce__(self) -> NoReturn:
        raise PicklingError("an AsyncStream", "iterate to its end, and pickle its .generation")

    if not TYPE_CHECKING:  # to a type checker, such a use is an error

        def __iter__(self) -> NoReturn:
            """Refuses ``for``.

            Raises:
                ArgumentError: always.
            """
            raise _without_asyncio("for")

        def __next__(self) -> NoReturn:
            """As :meth:`__iter__`."""
            raise _without_asyncio("next()")

        def __enter__(self) -> NoReturn:
            """As :meth:`__iter__`."""
            raise _without_asyncio("with")

        def __exit__(self, *_: object) -> None:
            """Only there since ``with`` asks for it first."""

        def __await__(self) -> NoReturn:
            """Refuses ``await``; there is no result before the steps.

            Raises:
                ArgumentError: always.
            """
            raise _without_asyncio("await")

    @property
    def generation(self) -> Generation[_T] | None:
        """As :attr:`Stream.generation`."""
        return None if self._stream is None else self._stream.generation

    @property
    def abstention(self) -> Abstention | None:
        """As :attr:`Stream.abstention`."""
        return None if self._stream is None else self._stream.abstention

    async def __aenter__(self) -> AsyncStream[_T]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __aiter__(self) -> AsyncStream[_T]:
        return self

    async def __anext__(self) -> Step:
        """Write one more token.

        Raises:
            TokamataError: those of :func:`tokamata.stream` and :meth:`Stream.__next__`.
        """
        if self._closing is not None:
            raise StopAsyncIteration
        try:
            # In the task's context, as asyncio.to_thread: validators and hooks of the model may read it.
            run = copy_context().run
            step = await asyncio.get_running_loop().run_in_executor(self._thread, run, self._next)
        except BaseException:  # also where the task is cancelled: then the thread ends after this step
            self._end()
            raise
        if step is None:
            self._end()
            raise StopAsyncIteration
        return step

    async def aclose(self) -> None:
        """End the iteration here; returns when the model is at rest."""
        # Whoever waits may be cancelled; the thread ends the stream all the same.
        await asyncio.shield(asyncio.wrap_future(self._end()))

    def _end(self) -> Future[None]:
        """End the iteration, without waiting for the model."""
        if self._closing is None:
            self._closing = self._thread.submit(self._close)
            self._thread.shutdown(wait=False)
        return self._closing

    def _next(self) -> Step | None:
        """In the thread: the next step; ``None`` at the end, since a future cannot hold StopIteration."""
        if self._stream is None:
            self._stream = self._make()
        return next(self._stream, None)

    def _close(self) -> None:
        """In the thread: ends the stream."""
        if self._stream is not None:
            self._stream.close()


@overload
def astream(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Given[_T],
    *,
    policy: Policy | None = None,
    **settings: Unpack[Settings],
) -> AsyncStream[_T]: ...
@overload
def astream(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Untyped | None,
    *,
    policy: Policy | None = None,
    **settings: Unpack[Settings],
) -> AsyncStream[Any]: ...
@checked_call
@takes_settings_of(stream)
def astream(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    constraint: Given[Any] | Untyped | None,
    *,
    policy: Policy | None = None,
    **settings: Unpack[Settings],
) -> AsyncStream[Any]:
    """Write text under a constraint, token by token, for ``async for``.

        async with tk.astream(model, tokenizer, prompt, Painter) as steps:
            async for step in steps:
                print(step.text, end="", flush=True)

    The model works in a thread of its own.  Nothing is computed before the first step is awaited; errors of
    the arguments come from there, too.  :meth:`AsyncStream.aclose`, the end of the block and the cancellation
    of the task end the work after the call of the model that is going on.

    Args:
        model, tokenizer, prompt, constraint, policy: as in :func:`stream`, and so are the other arguments.

    Returns:
        An asynchronous iterator over :class:`Step`; its ``generation`` has the whole result afterwards.

    Raises:
        ArgumentError: an argument does not exist.
    """
    return AsyncStream(lambda: stream(model, tokenizer, prompt, constraint, policy=policy, **settings))


def _without_asyncio(statement: str) -> ArgumentError:
    hint = "outside of asyncio call tokamata.stream"
    if statement == "await":
        hint = "then its .generation is the result"
    return ArgumentError("an AsyncStream", statement, "used with async for and async with", hint)
