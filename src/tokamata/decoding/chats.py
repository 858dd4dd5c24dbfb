"""The token ids of a chat, in which only the chat template writes control tokens.

Problem: a chat template makes a text of all messages, and the tokenizer makes a control token of every
``<|im_end|>`` in it.  A message that spells one would end its own turn and begin another, of any role.

Method: the control tokens of the text are found, and those that a message has spelled
(:mod:`tokamata.decoding.chat_origins`).  Usually there are none of these, and the ids are those of
``apply_chat_template``.  Otherwise the text is encoded once more, by a tokenizer of the same model whose
control tokens have other names, which are put in place of those that the template has written::

    text                <|im_start|>user\\nWhat is <|im_end|>?<|im_end|>\\n
    with other names    <1420>user\\nWhat is <|im_end|>?<1421>\\n

So the spelling in the message is ordinary text to normalizer, pre-tokenizer and model, together with what
stands around it.  Two checks follow: with other names in all places, the ids are the former ones; and no
other control token is among the ids.

Control tokens are the special tokens, and other added tokens that the template writes, such as Qwen's
``<tool_call>``, but no white space and no words.

Cost: the second tokenizer shares the model, and is made in some milliseconds, where a message spells a
control token.

Rejected: encoding the parts of the text one by one, since normalizers and pre-tokenizers treat the beginning
of a text differently.
"""

# transformers has no usable types for tokenizers, hence `Any`.

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tokamata.decoding.chat_origins import (
    ControlSpan,
    refused_piece,
    spans_of_messages,
    strings,
    unused_number,
)
from tokamata.errors import ArgumentError, GenerationError, shown_argument
from tokamata.resources.locks import kept_property

__all__ = ["Chat", "ChatEncoder", "MixedText", "chat_ids"]

Chat = Sequence[Mapping[str, Any]]


class MixedText(str):
    """A text with parts of others, which write no control tokens.

    Attributes:
        of_others: where these parts begin and end.
    """

    of_others: tuple[tuple[int, int], ...] = ()


_ROLES = {"system", "developer", "user", "assistant", "tool"}
_OTHER_ROLES = {
    "human": "user",
    "ai": "assistant",
    "bot": "assistant",
    "gpt": "assistant",
    "model": "assistant",
}
_NO_BACKEND = "only a fast tokenizer, one of the package tokenizers, can keep it as ordinary text"
_NOT_TEXT = "this tokenizer makes a control token of it even as ordinary text"
_CODE = re.compile(r"\{(?:%.*?%|\{.*?\})\}", re.DOTALL)  # of a template
_STRING = re.compile(r"'[^']*'|\"[^\"]*\"")


class ChatEncoder:
    """Encodes chats, for one call; ``placeholders`` is an attribute too.

    Args:
        tokenizer: a tokenizer of transformers.
        placeholders: added tokens that messages may write.
        tools: what the template says of tools, as JSON Schemas of functions; ``None`` for nothing.
    """

    def __init__(
        self,
        tokenizer: Any,
        placeholders: Collection[str] = (),
        tools: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        self._tokenizer, self.placeholders = tokenizer, placeholders
        self._tools = None if tools is None else list(tools)

    def ids(self, messages: Chat) -> list[int]:
        """The token ids of a chat, up to where the model's answer begins.

        Raises:
            GenerationError: the tokenizer has no chat template, or the template refuses the messages, or it
                leaves out the tools.
            ArgumentError: a message spells a control token, which cannot be kept as ordinary text; or a tool
                does; or a placeholder is no added token; or a message has no role, or no content, or one of
                which the template shows nothing.
        """
        tokenizer = self._tokenizer
        if not getattr(tokenizer, "chat_template", None):
            raise GenerationError(
                "the tokenizer has no chat template, so chat messages cannot become a prompt; pass a text or "
                "token ids, or set tokenizer.chat_template"
            )
        _check_messages(messages)
        try:
            text = self._rendered(list(messages))
        except Exception as error:  # templates are programs and may raise anything
            raise GenerationError(f"the tokenizer's chat template refuses the messages: {error}") from error
        self._check_roles(messages, text)
        names = self._control_tokens
        ids, spans = self._read(text)  # the template writes the special tokens
        try:
            if self._tools is not None:
                self._check_tools(messages, text, spans)
            spelled = spans_of_messages(self._rendered, messages, text, spans)
        except RecursionError:
            expected = "a chat nested less deeply than Python's recursion limit"
            raise ArgumentError("prompt", "one nested more deeply", expected) from None
        if not spelled:
            return ids
        own = self._without(text, ids, spans, {span for span, _ in spelled})
        if isinstance(own, str):
            first, piece = spelled[0]
            raise refused_piece(messages, piece, names[first.token], own)
        return own

    def _check_roles(self, messages: Chat, text: str) -> None:
        """Refuse a message of a role that is not usual, and of which the template shows nothing.

        Args:
            messages: a chat.
            text: the whole of it, as the template renders it.
        """
        for index, message in enumerate(messages):
            role = message["role"]
            if role in _ROLES:
                continue
            try:
                others = self._rendered([*messages[:index], *messages[index + 1 :]])
            except Exception:  # the template needs the message
                continue
            if others == text:
                found = f"{role!r:.80}, of which the chat template shows nothing"
                expected = "one that the template knows"
                hint = f"write {_OTHER_ROLES.get(role.lower(), 'user')!r}"
                raise ArgumentError(f"the role of message {index} of the prompt", found, expected, hint)

    def text_ids(self, text: MixedText) -> list[int]:
        """The token ids of a text, with the tokenizer's special tokens, that others have written parts of.

        Raises:
            ArgumentError: such a part spells a control token, which cannot be kept as ordinary text.
        """
        whole = [int(token) for token in self._tokenizer(str(text))["input_ids"]]
        if not hasattr(self._tokenizer, "added_tokens_decoder"):
            return whole  # nothing says what its control tokens are
        ids, spans = self._read(text)
        spelled = {one for one in spans if any(a < one.end and one.start < b for a, b in text.of_others)}
        if not spelled:
            return whole
        own = self._without(text, ids, spans, spelled)
        before = next((n for n in range(len(whole)) if whole[n : n + len(ids)] == ids), None)
        if before is None or isinstance(own, str):
            name = self._control_tokens[min(spelled, key=lambda span: span.start).token]
            why = own if isinstance(own, str) else _NOT_TEXT
            hint = "pass a chat without such texts, or call without retries"
            found = f"one with a refused text, or its reason, that spells {name!r:.80}: {why}"
            raise ArgumentError("prompt", found, "a text whose control tokens are the caller's", hint)
        return whole[:before] + own + whole[before + len(ids) :]

    def _read(self, text: str) -> tuple[list[int], list[ControlSpan]]:
        """The ids of a text, without special tokens around it, and its control tokens."""
        backend = getattr(self._tokenizer, "backend_tokenizer", None)
        options = {} if backend is None else {"return_offsets_mapping": True}
        encoding = self._tokenizer(str(text), add_special_tokens=False, **options)
        ids = [int(token) for token in encoding["input_ids"]]
        if backend is None:
            return ids, _spelled(self._control_tokens, text)
        return ids, _spans(backend, self._control_tokens, text, ids, encoding["offset_mapping"])

    def _without(
        self, text: str, ids: list[int], spans: list[ControlSpan], spelled: set[ControlSpan]
    ) -> list[int] | str:
        """The ids with some control tokens as ordinary text; where that cannot be, why."""
        backend = getattr(self._tokenizer, "backend_tokenizer", None)
        if backend is None:
            return _NO_BACKEND
        renamed = _Renamed(backend, self._control_tokens, text)
        everywhere = renamed.encoded(spans)
        own = renamed.encoded([span for span in spans if span not in spelled])
        if everywhere is None or everywhere[0] != ids or own is None or own[1]:
            return _NOT_TEXT
        return own[0]

    def _rendered(self, messages: Sequence[Any]) -> str:
        return self._rendered_with(messages, self._tools)

    def _rendered_with(self, messages: Sequence[Any], tools: Sequence[Any] | None) -> str:
        given = {} if tools is None else {"tools": tools}
        return str(
            self._tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False, **given)
        )

    def _check_tools(self, messages: Chat, text: str, spans: Sequence[ControlSpan]) -> None:
        """Refuse tools that the model would not see, or whose descriptions write control tokens."""
        tools = self._tools or []
        shown = list(messages)
        is_left_out = self._is_rendered_as(text, shown, None)
        for tool in tools:
            name = tool["function"]["name"]
            if is_left_out or name not in text:
                raise GenerationError(
                    f"the tokenizer's chat template leaves out the tool {name!r:.80}; describe it in a "
                    "message, or set a template that shows tools"
                )
        written = [string for _, string in strings(tools, ())]
        spelled = [name for name in self._control_tokens.values() if any(name in one for one in written)]
        if not spelled:  # but two strings may be one beside each other
            parts = spans_of_messages(lambda some: self._rendered_with(shown, some), tools, text, spans)
            spelled = [self._control_tokens[span.token] for span, _ in parts]
        if spelled:
            expected = "descriptions without control tokens, which only the chat template writes"
            raise ArgumentError("tools", f"one that spells {spelled[0]!r:.80}", expected)

    def _is_rendered_as(self, text: str, messages: Sequence[Any], tools: Sequence[Any] | None) -> bool:
        try:
            return self._rendered_with(messages, tools) == text
        except Exception:  # templates are programs and may raise anything
            return False

    @kept_property
    def _control_tokens(self) -> dict[int, str]:
        """The control tokens that no message may write: their names by id."""
        tokenizer, allowed = self._tokenizer, self.placeholders
        if not hasattr(tokenizer, "added_tokens_decoder"):
            expected = "one of transformers, which says what its control tokens are"
            raise ArgumentError("tokenizer", shown_argument(tokenizer), expected)
        added = {
            token: (each.content, each.special) for token, each in tokenizer.added_tokens_decoder.items()
        }
        known = {name for name, _ in added.values()}
        for name in allowed:
            if name not in known:
                raise ArgumentError(
                    "placeholders",
                    f"one with {name!r:.80}",
                    "a list of added tokens of the tokenizer",
                    "add it with tokenizer.add_tokens, or leave it out: it is ordinary text",
                )
        written = _literals(tokenizer.chat_template)
        return {
            token: name
            for token, (name, is_special) in added.items()
            if name not in allowed and (is_special or _is_markup(name, written))
        }


def chat_ids(tokenizer: Any, messages: Chat, placeholders: Collection[str] = ()) -> list[int]:
    """The token ids of one chat, as :meth:`ChatEncoder.ids`."""
    return ChatEncoder(tokenizer, placeholders).ids(messages)


def _check_messages(messages: Chat) -> None:
    """Refuse messages that nobody wrote, and those of users without content: templates show nothing of them.

    What else a message must have, and which roles there are, is the template's matter.
    """
    for index, message in enumerate(messages):
        role = message.get("role")
        if not isinstance(role, str):
            found = 'one without "role"' if role is None else f'one whose "role" is {shown_argument(role)}'
        elif role in ("user", "system") and message.get("content") is None:
            found = 'one without "content"'
        else:
            continue
        expected = 'a dict with "role" and "content"'
        hint = 'write {"role": "user", "content": "…"}'
        raise ArgumentError(f"message {index} of the prompt", found, expected, hint)


def _literals(template: Any) -> str:
    """What a chat template, or one of several, writes by itself: its text, and the strings in its code."""
    sources = template.values() if isinstance(template, Mapping) else [template]
    found = []
    for source in map(str, sources):
        text = re.sub(r"\{#.*?#\}", "", source, flags=re.DOTALL)
        found += re.split(_CODE, text)
        found += (string[1:-1] for code in re.findall(_CODE, text) for string in re.findall(_STRING, code))
    return "\0".join(found)


def _is_markup(name: str, written: str) -> bool:
    """Whether an ordinary added token is a control token of a template: not white space, and not a word."""
    return name in written and not name.isspace() and not name.isidentifier()


def _spans(
    backend: Any, names: Mapping[int, str], text: str, ids: Sequence[int], offsets: Sequence[tuple[int, int]]
) -> list[ControlSpan]:
    """The control tokens among the ids of a text."""
    found = []
    for token, (start, end) in zip(ids, offsets, strict=True):
        if token in names and _is_spelled(backend, names[token], text[start:end].strip()):
            found.append(ControlSpan(start, end, token))
    return found


def _is_spelled(backend: Any, name: str, text: str) -> bool:
    """Whether the text is that of the token; a model writes ``<unk>`` for other text, too."""
    if text == name:
        return True
    normalize = getattr(backend.normalizer, "normalize_str", None)
    return normalize is not None and bool(normalize(text) == normalize(name))


def _spelled(names: Mapping[int, str], text: str) -> list[ControlSpan]:
    """The control tokens whose names are in a text, for a tokenizer that has no offsets."""
    found = []
    for token, name in names.items():
        start = text.find(name)
        while start >= 0:
            found.append(ControlSpan(start, start + len(name), token))
            start = text.find(name, start + 1)
    return sorted(found, key=lambda span: (span.start, -span.end))


class _Renamed:
    """A tokenizer with the model of another, whose control tokens have names that a text does not contain."""

    def __init__(self, backend: Any, names: Mapping[int, str], text: str) -> None:
        from tokenizers import AddedToken, Tokenizer

        self._backend, self._old, self._text = backend, names, text
        number = unused_number([text])
        # The first and the last character stay, for what depends on them.
        self._new = {token: f"{name[:1]}{number}{token}.{name[-1:]}" for token, name in names.items()}
        self._tokenizer = Tokenizer(backend.model)  # shares the model
        for part in ("normalizer", "pre_tokenizer"):
            if getattr(backend, part) is not None:
                setattr(self._tokenizer, part, getattr(backend, part))
        added = backend.get_added_tokens_decoder()
        flags = ("single_word", "lstrip", "rstrip", "normalized")
        for is_special, add in ((True, "add_special_tokens"), (False, "add_tokens")):
            getattr(self._tokenizer, add)(
                [
                    AddedToken(
                        self._new.get(token, entry.content), **{flag: getattr(entry, flag) for flag in flags}
                    )
                    for token, entry in added.items()
                    if entry.special == is_special
                ]
            )
        # Its added tokens may have other ids than those of the original.
        self._ids = {
            self._tokenizer.token_to_id(self._new.get(token, entry.content)): token
            for token, entry in added.items()
        }
        self._is_distinct = len(self._ids) == len(added) and all(
            new == old or backend.model.id_to_token(new) is None for new, old in self._ids.items()
        )

    def encoded(self, spans: Sequence[ControlSpan]) -> tuple[list[int], list[ControlSpan]] | None:
        """The ids of the text, with control tokens at the spans alone.

        Returns:
            The ids, and further control tokens among them, if the model makes such ones of ordinary text;
            ``None`` if the tokens cannot be named otherwise.
        """
        if not self._is_distinct:
            return None
        parts, end = [], 0
        for span in spans:
            spelled = self._text[span.start : span.end]
            start = span.start + len(spelled) - len(spelled.lstrip())
            parts += [self._text[end:start], self._new[span.token]]
            end = start + len(spelled.strip())
        text = "".join(parts) + self._text[end:]
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        ids = [self._ids.get(token, token) for token in encoding.ids]
        return ids, _spans(self._backend, self._old, text, ids, encoding.offsets)
