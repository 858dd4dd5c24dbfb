"""``tokamata.load``: compiled constraints from files."""

from __future__ import annotations

import os
from typing import Any

from tokamata.calls.keywords import checked_call
from tokamata.errors import ArgumentError, shown_argument
from tokamata.matching.matchers import CompiledConstraint
from tokamata.resources.limits import CancelToken, Limits, Watch
from tokamata.vocabulary import Vocabulary

__all__ = ["load"]


@checked_call
def load(
    path: str | os.PathLike[str],
    vocabulary: Vocabulary,
    *,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> CompiledConstraint[Any]:
    """A compiled constraint from a file of :meth:`CompiledConstraint.save`, with the masks that it had.

        compiled.save("invoice.tokamata")
        compiled = tk.load("invoice.tokamata", vocabulary)

    The constraint is compiled again, and masks are put back: those that were kept when the file was written,
    as many as fit into three quarters of ``limits.memory_bytes``.  All others are computed when they are
    needed.  Masks that are damaged, or were written by another version of tokamata, count as absent.

    A file may come from strangers, as far as crashes, time and memory are concerned: it calls nothing but the
    functions that make constraints, within ``limits``.  Its constraint and its masks are trusted.

    Args:
        path: the file.
        vocabulary: the one that the constraint was compiled for, or an equal one.
        limits: bounds on making the constraint, compiling and each matcher; ``Limits()`` by default.  A file
            has none.
        cancel: stops any work under way, from another thread.

    Raises:
        OSError: there is no such file, or it cannot be read.
        CompiledFileError: it is damaged, has another form, or was saved for another vocabulary.
        ArgumentError: an argument has another type.
        LimitExceeded, Cancelled: the recipe is too large, or the work was stopped.
        TokamataError: making the constraint or compiling it fails, as it does without a file.
    """
    from tokamata.matching.kept_compiled import read

    if not hasattr(vocabulary, "core"):
        hint = "make one with Vocabulary.load(…)"
        raise ArgumentError("vocabulary", shown_argument(vocabulary), "a Vocabulary", hint)
    watch = Watch(limits, cancel)
    kept = read(path, vocabulary, watch, limits)
    compiled: CompiledConstraint[Any] = kept.constraint.compile(
        vocabulary, limits=limits, cancel=cancel, **kept.options
    )
    if kept.masks is not None:
        left, _ = watch.within(watch.limits)
        compiled._core.read_masks(kept.masks, left.seconds, cancel)
    return compiled
