"""The prompt of another try, after a text was refused.

Problem.  A rule in Python, such as pydantic's ``field_validator``, is no constraint: it judges the whole
text.  Where it refuses one, the model should know why before it writes the next.
How.  A chat gets two more messages: the refused text, as the assistant's, and the reason, as the user's::

    {"role": "assistant", "content": '{"begin": 5, "end": 3}'}
    {"role": "user", "content": "This answer was refused: end is before begin\\nAnswer again."}

A text is followed by the refused one and the reason, and then stands once more, so that the new text
continues what the first one did::

    A stay: {"begin": 5, "end": 3}

    This answer was refused: end is before begin

    A stay:

Each try adds to the prompt of the one before it.  The refused text and the reason are ordinary text, also
where they spell control tokens: what a model has written must not end its turn.  Where a tokenizer cannot
keep them so, or they spell a placeholder, which would be an image or the like, no other try follows.  A
prompt of token ids is refused: nothing says how a text within it would be encoded.

Source: the loop is that of instructor's ``max_retries``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokamata.decoding.chats import ChatEncoder, MixedText
from tokamata.decoding.prompts import is_chat, prompt_ids
from tokamata.errors import ArgumentError

if TYPE_CHECKING:
    from tokamata.decoding.results import Refusal

__all__ = ["check_can_be_retried", "prompt_after"]

_REFUSED = "This answer was refused: {}"


def check_can_be_retried(prompt: Any) -> None:
    """Refuse a prompt into which no refusal can be written.

    Raises:
        ArgumentError: it is a list of token ids.
    """
    if not isinstance(prompt, str) and not is_chat(prompt):
        hint = "the reason of a refusal is written into the prompt: pass a text, or a chat"
        raise ArgumentError("prompt", "a list of token ids", "a text or a chat with retries", hint)


def prompt_after(first: Any, prompt: Any, refusal: Refusal, tokenizer: Any, chats: ChatEncoder) -> Any:
    """The prompt of the next try; ``None`` where it would have control tokens that only others may write.

    Args:
        first: the prompt of the first try, which the caller gave.
        prompt: the prompt that the refused text was written for.
        refusal: of that text.
        tokenizer: of the model.
        chats: encodes prompts.
    """
    text, reason = refusal.generation.text, _REFUSED.format(refusal.reason)
    if any(name in text or name in reason for name in chats.placeholders):
        return None
    told = _told(first, prompt, text, reason)
    try:
        prompt_ids(tokenizer, told, chats)
    except ArgumentError:
        return None
    return told


def _told(first: Any, prompt: Any, text: str, reason: str) -> Any:
    if isinstance(prompt, str):
        told = f"{text}\n\n{reason}"
        mixed = MixedText(f"{prompt}{told}\n\n{first}")
        before = prompt.of_others if isinstance(prompt, MixedText) else ()
        mixed.of_others = (*before, (len(prompt), len(prompt) + len(told)))
        return mixed
    return [
        *prompt,
        {"role": "assistant", "content": text},
        {"role": "user", "content": f"{reason}\nAnswer again."},
    ]
