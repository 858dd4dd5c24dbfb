"""What a call does where its loop cannot go on: back off to bytes, repair, or abstain.

Problem.  A mask leaves a token wherever the constraint does.  What empties a row is something else: tokens
that are banned, logits that are NaN or minus infinity for every token that is left, a limit, a validator that
refuses the finished text, a deadline.
How.  Xu's machine of four states (*OIP-CAD*, section 5 and listing 4):

    Decode ──no token──▶ Shadow ──tokens follow again, or the text is accepted──▶ Decode
       │                    └──no way there──▶ Repair
       └──a validator refuses──▶ Repair ──nothing found in time──▶ Abstain

In *Shadow* the text goes on by bytes inside the mask of any tokenization
(:mod:`tokamata.decoding.shadow`), at most eight times in a row without a token of the model.  In *Repair* a
text that a validator refuses becomes the nearest accepted text that no validator refuses, and a text without
a way on is closed by its shortest completion.  Text and state agree in each of them: every byte that is
written is one that the matcher has followed.

With ``retries``, the model writes a refused text again before any repair (:mod:`tokamata.decoding.retries`):
its own next text is nearer to what it means than the nearest one that is accepted.

Differences from the listing, which ``docs/errata.md`` tells: a byte is written only if a token spells it; one
legal token suffices to go back; an accepted text is an end; other texts of a batch are not dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tokamata.calls.arguments import checked_choice, checked_flag, checked_number, checked_whole
from tokamata.calls.keywords import checked_fields

__all__ = ["OnDeadline", "Policy"]

OnDeadline: TypeAlias = Literal["finish", "abstain", "partial"]


@checked_fields
@dataclass(frozen=True)
class Policy:
    """What :func:`tokamata.generate` does where a text cannot go on; without a policy it raises an error.

    So does :func:`tokamata.beam_search` with each beam.

        result = tk.generate(model, tokenizer, prompt, constraint, policy=tk.Policy())
        if isinstance(result, tk.Abstention):
            ...

    Attributes:
        shadow_bytes: how many bytes a detour may have; 0: there are none.  It is searched within the time
            that is left.
        resync: how many tokens must be left after a detour.  The paper's value is 2, which never returns
            where the constraint leaves one token.
        candidates: how many of the most probable bytes are followed at each position; ``None``: all.
        repair: whether to repair a text.
        repair_seconds: the time for a repair, where the deadline leaves as much.
        on_deadline: what to do when the time is over.  ``"finish"`` writes the shortest completion, which
            needs no model; before, masks get the budget that fits into the time, so that as a rule the model
            ends the text itself.  ``"abstain"`` returns an :class:`Abstention`, and ``"partial"`` the text as
            it is.
    """

    shadow_bytes: int = 8
    resync: int = 1
    candidates: int | None = None
    repair: bool = True
    repair_seconds: float = 1.0
    on_deadline: OnDeadline = "finish"

    def __post_init__(self) -> None:
        checked_whole("Policy.shadow_bytes", self.shadow_bytes, 0, 64)
        checked_whole("Policy.resync", self.resync, 1, 1 << 31)
        if self.candidates is not None:
            checked_whole("Policy.candidates", self.candidates, 1, 1 << 31)
        checked_flag("Policy.repair", self.repair)
        checked_choice("Policy.on_deadline", self.on_deadline, ("finish", "abstain", "partial"))
        checked_number("Policy.repair_seconds", self.repair_seconds, 0.0, 1e9)
