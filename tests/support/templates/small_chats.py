"""Parts of small chat templates, what they write, and a byte-level tokenizer with their control tokens."""

from __future__ import annotations

from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

RAW = "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n"
TRIM = RAW.replace("m.content", "m.content | trim")
FOR, END = "{% for m in messages %}", "{% endfor %}"


def rendered(source: str, *turns: tuple[str, str]) -> str:
    """What jinja2 writes for a template and a conversation, as transformers calls it."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    messages = [{"role": role, "content": content} for role, content in turns]
    return environment.from_string(source).render(messages=messages)


def made(*merges: tuple[str, str]) -> Tokenizer:
    """A tokenizer with all bytes, some merges, and two control tokens."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {text: token for token, text in enumerate([*letters, *map("".join, merges)])}
    own = Tokenizer(models.BPE(vocab=vocab, merges=list(merges)))
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    own.decoder = decoders.ByteLevel()
    names = ("<|im_start|>", "<|im_end|>")
    own.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in names])
    return own


def encoded(own: Tokenizer, text: str) -> list[int]:
    """The ids of a text, without tokens at its ends."""
    return own.encode(text, add_special_tokens=False).ids
