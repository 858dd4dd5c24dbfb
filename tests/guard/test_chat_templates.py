"""Verdicts about chat templates: each fear proved away or shown by a conversation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

import tokamata as tk
from tests.support.tokenizers.random_tokenizers import random_tokenizer
from tokamata import guard

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TRIMMED = CHATML.replace("m.content", "m.content | trim")
# Earlier answers lose their thoughts.
FORGETFUL = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' and '</think>' in m.content and not loop.last %}"
    "{{ m.content.split('</think>')[-1] }}{% else %}{{ m.content }}{% endif %}<|im_end|>\n{% endfor %}"
)
# A turn ends where the next one begins, without a control token between them.
PLAIN = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
ROLES = ("user", "assistant")


def rendered(source: str, *turns: tuple[str, str]) -> str:
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    messages = [{"role": role, "content": content} for role, content in turns]
    return environment.from_string(source).render(messages=messages)


def encoded(own: Tokenizer, text: str) -> list[int]:
    return own.encode(text, add_special_tokens=False).ids


def test_a_text_that_closes_its_turn(qwen: Tokenizer) -> None:
    found = guard.template(qwen, CHATML, roles=ROLES)
    witness = found.of_role("user").control.witness
    assert witness is not None
    assert witness.text.decode() == rendered(CHATML, ("user", "<|im_end|>"))
    assert list(witness.tokens) == encoded(qwen, witness.text.decode())
    assert witness.tokens.count(qwen.token_to_id("<|im_end|>")) == 2


def test_an_appended_turn_changes_nothing(qwen: Tokenizer) -> None:
    found = guard.template(qwen, CHATML, roles=ROLES)
    assert found.appending.outcome == "proved"
    assert found.unsettled == ()
    conversation = [("user", "a "), ("assistant", "\n\nb"), ("user", "<"), ("assistant", " ")]
    for turns in range(1, len(conversation)):
        first = encoded(qwen, rendered(CHATML, *conversation[:turns]))
        assert encoded(qwen, rendered(CHATML, *conversation))[: len(first)] == first


def test_a_turn_that_is_rewritten(qwen: Tokenizer) -> None:
    witness = guard.template(qwen, FORGETFUL, roles=ROLES).appending.witness
    assert witness is not None
    assert witness.replayed
    assert "</think>" in witness.text.decode()


def test_tokens_that_cross_the_end_of_a_turn(qwen: Tokenizer) -> None:
    found = guard.template(qwen, PLAIN, roles=ROLES)
    assert found.appending.outcome != "proved" or all(
        encoded(qwen, rendered(PLAIN, ("user", text), ("user", "b")))[: len(first)] == first
        for text in ("a", "\n", " ", "a\n")
        for first in [encoded(qwen, rendered(PLAIN, ("user", text)))]
    )
    assert found.of_role("user").apart.witness is not None


def test_what_is_trimmed(qwen: Tokenizer) -> None:
    found = guard.template(qwen, TRIMMED, roles=ROLES).of_role("user")
    assert found.unchanged.witness is not None
    assert "' a'" in found.unchanged.witness.says
    assert found.apart.outcome == "proved"
    raw = guard.template(qwen, CHATML, roles=ROLES).of_role("user")
    assert raw.unchanged.outcome == "proved"
    assert raw.apart.witness is not None


def test_what_is_not_followed_is_named(qwen: Tokenizer) -> None:
    source = CHATML.replace("{{ m.content }}", "{{ m.content | length }}")
    found = guard.template(qwen, source, roles=ROLES)
    assert found.unsettled
    assert found.of_role("user").unchanged.outcome != "proved" if found.roles else True
    assert found.appending.outcome != "proved"


def test_the_template_of_a_folder(tmp_path: Path) -> None:
    own, _ = random_tokenizer(0)
    own.save(str(tmp_path / "tokenizer.json"))
    config: dict[str, Any] = {"chat_template": TRIMMED, "eos_token": {"content": "<|im_end|>"}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert guard.template(tmp_path, roles=("user",)).of_role("user").unchanged.outcome == "witness"
    (tmp_path / "chat_template.jinja").write_text(CHATML)
    assert guard.template(tmp_path, roles=("user",)).of_role("user").unchanged.outcome == "proved"


@pytest.mark.parametrize(
    ("config", "message"),
    [("{", "not valid JSON"), ("[]", "no chat template"), ('{"chat_template": "{% for %}"}', "line 1")],
)
def test_templates_that_cannot_be_read(tmp_path: Path, config: str, message: str) -> None:
    own, _ = random_tokenizer(0)
    own.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(config)
    with pytest.raises(tk.TemplateError, match=message):
        guard.template(tmp_path)


def test_a_template_that_reads_the_whole_conversation_first(qwen: Tokenizer) -> None:
    """It is widened: a proof holds for it, and a witness is one of the template itself."""
    source = (
        "{% set ns = namespace(n=0) %}"
        "{% for m in messages %}{% if m.role == 'user' %}{% set ns.n = loop.index0 %}{% endif %}{% endfor %}"
        "{% for m in messages %}<|im_start|>{{ m.role }}\n"
        "{% if loop.index0 < ns.n %}{{ m.content | trim }}{% else %}{{ m.content }}{% endif %}"
        "<|im_end|>\n{% endfor %}"
    )
    found = guard.template(qwen, source, roles=ROLES)
    witness = found.appending.witness
    assert witness is not None
    assert witness.replayed
    assert found.of_role("user").control.witness is not None
    assert found.of_role("user").apart.outcome == "witness"


def test_literals_that_make_a_control_token_over_the_end_of_a_turn(qwen: Tokenizer) -> None:
    source = "{% for m in messages %}{% if not loop.first %}|im_end|>{% endif %}a<{% endfor %}"
    witness = guard.template(qwen, source, roles=ROLES).appending.witness
    assert witness is not None
    assert witness.replayed


def test_stretches_that_differ_at_their_end_alone(qwen: Tokenizer) -> None:
    """What a constraint shows is cut off, and must not stand for its texts."""
    source = "{% for m in messages %}be<|im_start|>{{ m.content }}<|im_end|>" + "x" * 500
    source += "{% if m.role == 'user' %}1{% else %}a{% endif %}{% endfor %}"
    assert guard.template(qwen, source, roles=["user"]).appending.outcome == "proved"
    assert guard.template(qwen, source, roles=["assistant"]).appending.outcome == "witness"
    assert guard.template(qwen, source, roles=ROLES).appending.outcome == "witness"


def test_added_tokens_that_are_no_control_tokens(qwen: Tokenizer) -> None:
    found = guard.template(qwen, CHATML.replace("{{ m.content }}", "<tool_call>{{ m.content }}"), roles=ROLES)
    assert found.of_role("user").control.witness is not None
    assert guard.boundary(qwen, "<tool_call>").from_text.witness is not None
    assert guard.boundary(qwen, "<tool_call>", control_tokens="text").from_text.witness is not None


def test_where_a_trimmed_text_stands(qwen: Tokenizer) -> None:
    witness = guard.template(qwen, TRIMMED, roles=["assistant"]).of_role("assistant").unchanged.witness
    assert witness is not None
    assert witness.position == len("<|im_start|>assistant\n")


# It looks for the last question before it writes, and drops the reasoning of answers before that.
LAST_QUESTION = (
    "{% set ns = namespace(last=-1) %}{% for m in messages[::-1] %}"
    "{% if m.role == 'user' and ns.last < 0 %}{% set ns.last = messages | length - 1 - loop.index0 %}"
    "{% endif %}"
    "{% endfor %}{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' and loop.index0 < ns.last %}{{ m.content.split('</think>')[-1] }}"
    "{% else %}{{ m.content }}{% endif %}<|im_end|>\n{% endfor %}"
)


def test_the_last_question(qwen: Tokenizer) -> None:
    """No finite number of conversations suffices; what a text becomes is seen around its message."""
    found = guard.template(qwen, LAST_QUESTION, roles=ROLES)
    assert found.of_role("user").unchanged.outcome == "proved"
    joined = found.of_role("user").apart.witness
    assert joined is not None
    assert joined.replayed
    changed = found.of_role("assistant").unchanged.witness
    assert changed is not None
    assert changed.replayed
    assert found.appending.witness is not None
    trims = LAST_QUESTION.replace("else %}{{ m.content }}", "else %}{{ m.content | trim }}")
    assert guard.template(qwen, trims, roles=["user"]).of_role("user").apart.outcome == "proved"


def test_a_text_that_other_messages_write_again(qwen: Tokenizer) -> None:
    """A proof about the slots of a message says nothing where another one writes its text."""
    source = (
        "{% for m in messages %}<|im_start|>{{ m.content | trim }}<|im_end|>"
        "{% if not loop.first %}a{{ messages[loop.index0 - 1].content }}b<|im_end|>{% endif %}{% endfor %}"
    )
    assert guard.template(qwen, source, roles=["user"]).of_role("user").apart.outcome != "proved"
    kept = source.replace("messages[loop.index0 - 1].content", "messages[loop.index0 - 1].role")
    assert guard.template(qwen, kept, roles=["user"]).of_role("user").apart.outcome == "proved"


def test_a_conversation_whose_length_is_written(qwen: Tokenizer) -> None:
    source = CHATML.replace("{{ m.role }}", "{{ m.role }}{{ messages | length }}")
    assert guard.template(qwen, source, roles=ROLES).appending.witness is not None
    # The length is not read in the first four turns.
    late = CHATML.replace("{{ m.role }}", "{{ m.role }}{% if messages | length > 40 %}!{% endif %}")
    assert guard.template(qwen, late, roles=ROLES).appending.outcome != "proved"


def test_contents_of_parts(qwen: Tokenizer) -> None:
    source = (
        "{% for m in messages %}<|im_start|>{% for part in m.content %}{% if part.type == 'text' %}"
        "{{ part.text | trim }}{% endif %}{% endfor %}<|im_end|>{% endfor %}"
    )
    found = guard.template(qwen, source, roles=["user"]).of_role("user")
    assert found.control.witness is not None
    assert found.apart.outcome == "proved"
    assert found.unchanged.witness is not None


def test_a_witness_is_rendered_by_the_template(qwen: Tokenizer) -> None:
    """Short conversations are judged by jinja itself."""
    witness = guard.template(qwen, TRIMMED, roles=ROLES).of_role("user").unchanged.witness
    assert witness is not None
    assert witness.text.decode() == rendered(TRIMMED, ("user", " a"))
    assert list(witness.tokens) == encoded(qwen, witness.text.decode())


def test_a_loop_before_the_one_that_writes(qwen: Tokenizer) -> None:
    """What stands between the two loops is not the beginning of a message."""
    source = (
        "{% set ns = namespace(n=0) %}{% for m in messages %}{% if m.role == 'user' %}{% set ns.n = 1 %}"
        "{% endif %}{% endfor %}<|im_start|>{% for m in messages %}{{ m.content | trim }}\n{% endfor %}"
    )
    assert guard.template(qwen, source, roles=ROLES).appending.outcome != "proved"


RAW = "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n"
TRIM = RAW.replace("m.content", "m.content | trim")
FOR, END = "{% for m in messages %}", "{% endfor %}"


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


@pytest.fixture(scope="module")
def small() -> Tokenizer:
    """Its merges are those of tried texts, and one more: ``v`` and ``w``."""
    return made(("\u010a", "\u010a"), ("\u010a", "a"), ("\u0120", "a"), ("v", "w"))


def test_the_plain_proofs_of_the_small_tokenizer(small: Tokenizer) -> None:
    """What the tests below refuse differs from these in the place that they are about."""
    found = guard.template(small, FOR + RAW + END, roles=ROLES)
    assert found.appending.outcome == "proved"
    assert all(each.unchanged.outcome == "proved" for each in found.roles)
    one = (
        FOR + "<|im_start|>{{ m.role }}<|im_end|>{% if m.role == 'user' %}<|im_start|>{{ m.content | trim }}"
    )
    apart = guard.template(small, one + "<|im_end|>{% endif %}" + END, roles=ROLES).of_role("user").apart
    assert apart.outcome == "proved"


# A text, and what the next turn begins with, make the name of a control token.
NAMES = {
    "the role begins with its end": (FOR + "{{ m.role }}:{{ m.content }}" + END, (">", "user")),
    "a literal is its end": (
        FOR + "{% if not loop.first %}|im_end|>{% endif %}{{ m.role }}: {{ m.content }}" + END,
        ROLES,
    ),
    "a literal is its end much later": (
        FOR + "{% if loop.index0 > 5 %}|im_end|>{% endif %}<|im_start|>{{ m.role }}\n{{ m.content }}<" + END,
        ROLES,
    ),
    "a literal is its begin": (
        FOR + "{% if not loop.first %}{{ m.content }}{% else %}{{ m.role }}{% endif %}<" + END,
        ROLES,
    ),
    "a text is its end": (FOR + "{{ m.content }}\n<|im_start" + END, ("user",)),
    "an empty text stands in it": (FOR + "m_end|>x<|i{{ m.content }}" + END, ("user",)),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_control_token_over_the_end_of_a_turn(small: Tokenizer, name: str) -> None:
    source, roles = NAMES[name]
    assert guard.template(small, source, roles=roles).appending.outcome != "proved"


def test_a_name_that_is_cut_by_another_token(small: Tokenizer) -> None:
    """Where a control token ends a turn, what follows may be any part of a name."""
    source = FOR + "|im_end|>{{ m.content }}<|im_end|>" + END
    assert guard.template(small, source, roles=["user"]).appending.outcome == "proved"
    trimmed = FOR + "|im_end|>{{ m.content | trim }}<|im_end|>\n" + END
    assert guard.template(small, trimmed, roles=["user"]).appending.outcome == "proved"


def test_a_text_that_ends_shortly_after_a_control_token() -> None:
    """``>v`` is one token, so that ``v`` and ``w`` are not; after the control token they are."""
    own = made((">", "v"), ("v", "w"))
    source = (
        FOR + "w{% if not m.content.endswith('|>v') %}.{% endif %}{{ m.content }}"
        "{% if not m.content.endswith('|>v') %}.{% endif %}" + END
    )
    one, two = (encoded(own, rendered(source, *[("user", "<|im_end|>v")] * turns)) for turns in (1, 2))
    assert two[: len(one)] != one
    assert guard.template(own, source, roles=["user"]).appending.outcome != "proved"


# Each writes other tokens of earlier turns from some length on, which is longer than those that are tried.
CHANGED_LATER = {
    "a message that a shorter conversation does not have": (
        "{% set rest = messages[2:] %}"
        + FOR
        + "<|im_start|>{{ m.role }}\n{{ m.content }}{% if loop.index0 == 2 and rest[1] is defined and "
        "rest[1].content == 'zzz' %}!{% endif %}<|im_end|>\n" + END
    ),
    "the same by its index": (
        FOR + "<|im_start|>{{ m.role }}\n{{ m.content }}{% if loop.index0 == 2 and messages[3] is defined "
        "and messages[3].content == 'zzz' %}!{% endif %}<|im_end|>\n" + END
    ),
    "a part of the conversation by its name": (
        "{% set all = messages %}{% if not all[1] %}{{ raise_exception('') }}{% endif %}"
        "{% set messages = messages[2:] %}{% for m in all %}<|im_start|>{{ m.role }}\n{{ m.content }}"
        "{% if loop.first and messages[1] is defined and messages[1].content == 'zzz' %}!{% endif %}"
        "<|im_end|>\n" + END
    ),
    "an index in another list": (
        "{% set ns = namespace(x=0) %}{% if not messages[1] %}{{ raise_exception('') }}{% endif %}"
        "{% if messages[0].role == 'user' %}{% for letter in messages[0].role %}"
        "{% if messages[loop.index0 + 1] is defined and messages[loop.index0 + 1].content == 'zzz' %}"
        "{% set ns.x = 1 %}{% endif %}{% endfor %}{% endif %}"
        + FOR
        + "<|im_start|>{{ m.role }}\n{{ m.content }}{% if ns.x %}!{% endif %}<|im_end|>\n"
        + END
    ),
    "zeros that are equal": (
        "{% set ns = namespace(z=0.0, x='') %}{% if not messages[1] %}{{ raise_exception('') }}{% endif %}"
        "{% if messages|length > 6 %}{% set ns.z = -0.0 %}{% endif %}"
        "{% for part in messages[0].role.split('e') %}{% set ns.x = ns.z|string %}{% endfor %}"
        + FOR
        + "<|im_start|>{{ m.role }}\n{{ m.content }}{% if ns.x == '-0.0' %}!{% endif %}<|im_end|>\n"
        + END
    ),
    "an index that is counted from the end": (
        FOR + "<|im_start|>{{ m.role }}\n{{ m.content }}{% if loop.index0 > 1 and "
        "messages[loop.index0 - 3].content == 'zzz' %}!{% endif %}<|im_end|>\n" + END
    ),
}


@pytest.mark.parametrize("name", CHANGED_LATER)
def test_messages_that_come_later(small: Tokenizer, name: str) -> None:
    assert guard.template(small, CHANGED_LATER[name], roles=ROLES).appending.outcome != "proved"


# Each writes the text of the role user where no slot of that message stands.
HANDED_ON = {
    "a value that a gap leaves": (
        "{% set ns = namespace(q='') %}"
        + FOR
        + "<|im_start|>{{ m.role }}<|im_end|>\n{% if m.role == 'user' %}{% set ns.q = m.content %}{% endif %}"
        + END
        + "{% if messages|length > 6 and messages[-1].role == 'assistant' %}v{{ ns.q }}{% endif %}"
    ),
    "an attribute of a message with the same name": (
        "{% set ns = namespace(content='') %}"
        + FOR
        + "{% if not loop.last %}{% set ns.content = loop.nextitem.content %}{% endif %}"
        + END
        + FOR
        + "<|im_start|>{{ m.role }}<|im_end|>\n"
        + END
        + "{% if messages|length > 6 %}v{{ ns.content }}{% endif %}"
    ),
    "a name that is also that of an item": (
        "{% set ns = namespace(c='') %}"
        + FOR
        + "{% if not loop.last %}{% for t in [loop.nextitem.content] %}{% set ns.c = t %}{% endfor %}"
        "{% endif %}{% set t = 1 %}"
        + END
        + FOR
        + "<|im_start|>{{ m.role }}<|im_end|>\n"
        + END
        + "{% if messages|length > 6 %}v{{ ns.c }}{% endif %}"
    ),
    "a value of another namespace": (
        "{% set ns = namespace(c='') %}{% set other = namespace(c='') %}"
        + FOR
        + "{% if m.role == 'user' %}{% set other.c = m.content %}{% endif %}"
        "<|im_start|>{{ m.role }}<|im_end|>"
        + END
        + FOR
        + "{% if m.role == 'tool' %}{% set ns.c = other.c %}{% endif %}"
        + END
        + "{% if messages|length > 6 %}v{{ ns.c }}{% endif %}"
    ),
}


@pytest.mark.parametrize("name", HANDED_ON)
def test_texts_that_are_handed_on(small: Tokenizer, name: str) -> None:
    found = guard.template(small, HANDED_ON[name], roles=ROLES).of_role("user")
    assert found.control.outcome != "proved"
    assert found.apart.outcome != "proved"


# Each trims its texts from some length on, on a path on which an unknown value meets an error of ours.
NOT_REFUSED = {
    "an attribute of an unknown value": (
        "{% set st = namespace(n=0) %}{% set ns = namespace(a=st) %}"
        + FOR
        + "{% set s = ns.a %}{% set s.n = s.n + 1 %}{% if st.n == 7 %}"
        + TRIM
        + "{% else %}"
        + RAW
        + "{% endif %}{% set ns.a = st %}"
        + END
    ),
    "an attribute with an underscore": (
        "{% set ns = namespace(n=0) %}"
        + FOR
        + "{% if loop.index0 > 5 %}{% set ns._x = 1 %}"
        + TRIM
        + "{% else %}"
        + RAW
        + "{% endif %}"
        + END
    ),
    "a conversation within a list": (
        FOR
        + "{% if messages|length > 6 and '' != [messages]|tojson %}"
        + TRIM
        + "{% else %}"
        + RAW
        + "{% endif %}"
        + END
    ),
}


@pytest.mark.parametrize("name", NOT_REFUSED)
def test_errors_of_unknown_values_refuse_nothing(small: Tokenizer, name: str) -> None:
    found = guard.template(small, NOT_REFUSED[name], roles=ROLES).of_role("user")
    assert found.unchanged.outcome != "proved"


ROLE = "<|im_start|>{{ m.role }}<|im_end|>"
_NINTH = "{% if loop.index0 > 6 %}v{{ TEXT }}{% endif %}"

# Each writes the text of the first message beside a letter, from the eighth message on.
HELD = {
    "the default of a parameter": "{% macro show(d=messages[0].content) %}{{ d }}{% endmacro %}"
    + FOR + ROLE + _NINTH.replace("TEXT", "show()") + END,
    "parts of a text": "{% set p = messages[0].content.split(',') %}"
    + FOR + ROLE + _NINTH.replace("TEXT", "p[0]") + END,
    "a method of a text": "{% set p = messages[0].content.lstrip %}"
    + FOR + ROLE + _NINTH.replace("TEXT", "p()") + END,
    "the values of a dictionary": "{% set p = {'a': messages[0].content}.values() %}"
    + FOR + ROLE + _NINTH.replace("TEXT", "p | first") + END,
    "a part by an unknown index": FOR + ROLE + END
    + "{% if messages|length > 7 %}v{{ messages[0].content.split(',')[messages|length - 8] }}{% endif %}",
}  # fmt: skip


@pytest.mark.parametrize("name", HELD)
def test_texts_that_other_values_hold(small: Tokenizer, name: str) -> None:
    source = HELD[name]
    text = rendered(source, ("user", "w"), *[("user", "")] * 7)
    assert "vw" in text
    found = guard.template(small, source, roles=ROLES).of_role("user")
    assert found.control.outcome != "proved"
    assert found.apart.outcome != "proved"


def _trims(holds: str) -> str:
    return (
        "<|im_start|>{% if "
        + holds
        + " %}{{ m.content | trim }}{% else %}{{ m.content }}{% endif %}<|im_end|>"
    )


# Each changes a text, in conversations that are not tried.
CHANGED_RARELY = {
    "a namespace by another name": (
        "{% set make = namespace %}{% set ns = make(n=0) %}"
        + FOR + "{% set s = ns %}{% set s.n = s.n + 1 %}" + _trims("ns.n == 9") + END,
        ["< "] * 9,
    ),
    "a namespace by another name, in a macro": (
        "{% set make = namespace %}{% set ns = make(n=0) %}"
        "{% macro f(a) %}{% set s = a %}{% set s.n = s.n + 1 %}{% endmacro %}"
        + FOR + "{{ f(ns) }}" + _trims("ns.n == 9") + END,
        ["< "] * 9,
    ),
    "a macro that is kept": (
        "{% set ns = namespace(n=0, f=none) %}{% macro f() %}{% set ns.n = 1 %}{% endmacro %}"
        + FOR + "{% set ns.n = 0 %}{% if ns.f %}{% set x = ns.f() %}{% endif %}" + _trims("ns.n == 1")
        + "{% if loop.index0 > 5 %}{% set ns.f = f %}{% endif %}" + END,
        ["< "] * 9,
    ),
    "a part of a conversation that is empty": (
        "{% set rest = messages[2:] %}" + FOR
        + _trims("loop.first and not rest and messages[1] is defined and messages[1].content == 'q'") + END,
        ["< ", "q"],
    ),
    "the last message of such a part": (
        "{% set rest = messages[2:] %}" + FOR
        + _trims(
            "loop.first and messages[1] is defined and messages[-1] is defined and rest[-1] is not defined "
            "and messages[1].content == 'q'"
        ) + END,
        ["< ", "q"],
    ),
    "a text after one that is marked": (
        FOR + "<|im_start|>{% if loop.index0 > 6 %}{{ (messages[0].role | safe) + m.content }}"
        "{% else %}{{ m.content }}{% endif %}<|im_end|>" + END,
        ["< "] * 9,
    ),
    "a text before one that is escaped": (
        FOR + "<|im_start|>{% if loop.index0 > 6 %}{{ m.content + (messages[0].role | e) }}"
        "{% else %}{{ m.content }}{% endif %}<|im_end|>" + END,
        ["< "] * 9,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED_RARELY)
def test_texts_that_are_changed_in_rare_conversations(small: Tokenizer, name: str) -> None:
    source, texts = CHANGED_RARELY[name]
    assert rendered(source, *(("user", text) for text in texts)).count("< ") < texts.count("< ")
    assert guard.template(small, source, roles=ROLES).of_role("user").unchanged.outcome != "proved"


# The texts ``v`` and ``w`` become one token, which no tried text shows.
WRITTEN_AFTER = {
    "a second loop": (
        FOR
        + "<|im_start|>{{ m.role }}<|im_end|>"
        + END
        + FOR
        + "{% if m.role == 'user' %}<|im_start|>{{ m.content|trim }}{% else %}w{% endif %}"
        + END
    ),
    "another role that is not settled": (
        FOR + "{% if m.role == 'user' %}<|im_start|>{{ m.content|trim }}{% else %}"
        "{{ 'w' * (m.content|length) }}{% endif %}" + END
    ),
}


@pytest.mark.parametrize("name", WRITTEN_AFTER)
def test_what_other_messages_write_after_a_text(small: Tokenizer, name: str) -> None:
    found = guard.template(small, WRITTEN_AFTER[name], roles=ROLES).of_role("user")
    assert found.apart.outcome != "proved"


def test_a_text_that_is_changed_only_where_a_question_holds(small: Tokenizer) -> None:
    source = FOR + "{% if m.content.startswith('\n ') %}" + TRIM + "{% else %}" + RAW + "{% endif %}" + END
    witness = guard.template(small, source, roles=["user"]).of_role("user").unchanged.witness
    assert witness is not None
    assert witness.text.decode() == rendered(source, ("user", "\n a \n"))


def test_paths_of_no_conversation_may_be_endless(small: Tokenizer) -> None:
    source = (
        "{% macro f(k) %}{% if k < messages|length %}{{ f(k + 1) }}{% endif %}{% endmacro %}"
        + FOR
        + RAW
        + END
        + "{{ f(0) }}"
    )
    found = guard.template(small, source, roles=ROLES)
    assert any("more than 50 deep" in each for each in found.unsettled)


@pytest.mark.parametrize("holds", ["add_generation_prompt", "not add_generation_prompt", "true"])
def test_a_count_that_depends_on_the_generation_prompt(small: Tokenizer, holds: str) -> None:
    """The ninth message is trimmed, in conversations with such a prompt alone."""
    source = (
        "{% set ns = namespace(n=0) %}{% for m in messages %}"
        "{% if " + holds + " %}{% set ns.n = ns.n + 1 %}{% endif %}"
        "<e>{% if ns.n == 9 %}{{ m.content | trim }}{% else %}{{ m.content }}{% endif %}<e>{% endfor %}"
    )
    assert not guard.template(small, source, roles=["user"]).of_role("user").unchanged


def _raw_but(holds: str, message: str = "m") -> str:
    """Writes the text of a message, trimmed if something holds."""
    source = "<|im_start|>{% if HOLDS %}{{ m.content | trim }}{% else %}{{ m.content }}{% endif %}<|im_end|>"
    return source.replace("m.content", f"{message}.content").replace("HOLDS", holds)


_DELAYED = "{% if ns.d > 0 and ns.d < 7 %}{% set ns.d = ns.d + 1 %}{% endif %}"
_COUNTED = "{% if ns.c < 5 %}{% set ns.c = ns.c + 1 %}{% endif %}"


def _in_three_steps(first: str, tests: tuple[str, str], second: str, third: str) -> str:
    """From the sixth message on, a value becomes another one twice before the template notes it."""
    return (
        "{% set ns = namespace(c=0, d=0, u=" + first + ") %}" + FOR + _raw_but("ns.d == 3") + _DELAYED
        + "{% if ns.c == 5 and ns.d == 0 %}"
        "{% if " + tests[1] + " %}{% set ns.d = 1 %}{% elif " + tests[0] + " %}{% set ns.u = " + third
        + " %}{% else %}{% set ns.u = " + second + " %}{% endif %}{% endif %}" + _COUNTED + END
    )  # fmt: skip


# Each trims a text in long conversations alone, by what two states of the template differ in.
REMEMBERED = {
    "a loop over fields": "{% set ns = namespace(n=0) %}{% for a, b in messages %}{% set ns.n = ns.n + 1 %}"
    + _raw_but("ns.n == 9", "messages[loop.index0]")
    + END,
    "the conversation in a namespace": "{% set ns = namespace(m=0) %}{% set ns.m = messages %}"
    "{% for m in ns.m %}" + _raw_but("loop.index == 9") + END,
    "the loop around a macro": FOR
    + "{% macro f() %}{{ loop.index }}{% endmacro %}"
    + _raw_but("f() == '9'")
    + END,
    "the loop around the test of another": FOR + "<|im_start|>{% for x in [1] if loop.index == 9 %}"
    "{{ m.content | trim }}{% else %}{{ m.content }}{% endfor %}<|im_end|>" + END,
    "the loop around the else of another": FOR
    + "{% for x in [] %}{% else %}"
    + _raw_but("loop.index == 9")
    + END
    + END,
    "a list of messages that grows": "{% set ns = namespace(l=[]) %}"
    + FOR
    + "{% set ns.l = ns.l + [m] %}"
    + _raw_but("ns.l | length == 9")
    + END,
    "equal keys": _in_three_steps(
        "{1: 0}", ("ns.u | string == '{True: 0}'", "ns.u | string == '{1.0: 0}'"), "{true: 0}", "{1.0: 0}"
    ),
    "equal zeros": _in_three_steps(
        "[0.0, 0.0]",
        ("ns.u | string == '[-0.0, 0.0]'", "ns.u | string == '[-0.0, -0.0]'"),
        "[-0.0, 0.0]",
        "[-0.0, -0.0]",
    ),
    "macros of one name": "{% macro f() %}a{% endmacro %}{% set f0 = f %}{% macro f() %}b{% endmacro %}"
    "{% set f1 = f %}{% macro f() %}c{% endmacro %}{% set f2 = f %}"
    + _in_three_steps("f0", ("ns.u() == 'b'", "ns.u() == 'c'"), "f1", "f2"),
    "one of the first messages": "{% set ns = namespace(d=0, p=none) %}"
    + FOR
    + _raw_but("ns.d == 3")
    + _DELAYED
    + "{% if ns.p and ns.d == 0 and ns.p is not sameas m and ns.p is not sameas loop.previtem %}"
    "{% set ns.d = 1 %}{% endif %}{% if not ns.p %}{% set ns.p = loop.nextitem %}{% endif %}" + END,
    "a loop that is chosen by the whole": "{% set ns = namespace(c=0, d=0) %}"
    "{% if messages[-1].content == 'x' %}" + FOR + _raw_but("false") + _COUNTED + END + "{% else %}" + FOR
    + _raw_but("ns.d == 3")
    + _DELAYED
    + "{% if loop.index0 > 1 %}{% if ns.c == 5 and ns.d == 0 %}{% set ns.d = 1 %}{% endif %}"
    + _COUNTED
    + "{% endif %}"
    + END
    + "{% endif %}",
    "a macro that is called by a member": "{% set ns = namespace(n=0, f=none) %}"
    "{% macro f() %}{% set ns.n = ns.n + 1 %}{% endmacro %}"
    + FOR
    + "{% set ns.f = f %}{% set x = ns.f() %}"
    + END
    + FOR
    + _raw_but("ns.n == 9")
    + END,
}  # fmt: skip


@pytest.mark.parametrize("name", REMEMBERED)
def test_what_is_remembered_of_many_messages(small: Tokenizer, name: str) -> None:
    source = REMEMBERED[name]
    lengths = range(1, 13)
    assert any(
        f" a{at} " not in rendered(source, *(("user", f" a{number} ") for number in range(length)))
        for length in lengths
        for at in range(length)
    )
    assert guard.template(small, source, roles=["user"]).of_role("user").unchanged.outcome == "not settled"


# Each trims a text if others before it are ``x``, a question that the template put to another message.
ANSWERED = {
    "of one of the first": (
        "{% set ns = namespace(d=0, s=0) %}" + FOR + _raw_but("ns.d == 3") + _DELAYED.replace("7", "3")
        + "{% if ns.s == 2 and ns.d == 0 and loop.previtem.content != 'x' %}{% set ns.d = 1 %}{% endif %}"
        "{% if ns.s == 0 %}{% set ns.s = 1 %}"
        "{% if m.content == 'x' and loop.nextitem and loop.nextitem.content == 'x' %}"
        "{% set ns.s = 2 %}{% endif %}{% endif %}" + END,
        ["x", "x", *"aaaaa", " b "],
    ),
    "of one that is kept": (
        "{% set ns = namespace(c=0, d=0, p='', q='', r='') %}" + FOR + _raw_but("ns.d == 3") + _DELAYED
        + "{% if ns.c < 5 and m.content == 'x' %}{{ raise_exception('') }}{% endif %}"
        "{% if ns.c == 5 and ns.d == 0 and ns.r == 'x' %}{% set ns.d = 1 %}{% endif %}" + _COUNTED
        + "{% set ns.r = ns.q %}{% set ns.q = ns.p %}{% set ns.p = m.content %}" + END,
        [*"aaaaa", "x", *"aaaaa", " b "],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERED)
def test_answers_about_other_messages(small: Tokenizer, name: str) -> None:
    source, texts = ANSWERED[name]
    assert " b " not in rendered(source, *(("user", text) for text in texts))
    assert guard.template(small, source, roles=["user"]).of_role("user").unchanged.outcome == "not settled"


def turns_of(shown: str) -> str:
    return f"{{% for m in messages %}}<|im_start|>{{{{ m.role }}}}\n{shown}<|im_end|>\n{{% endfor %}}"


def test_a_part_of_an_answer_that_is_joined(qwen: Tokenizer) -> None:
    """The text after the thoughts begins with white space, and the whole text does not."""
    source = turns_of("{{ (m.content | trim).split('</think>')[-1].lstrip('\\n') }}")
    witness = guard.template(qwen, source, roles=["assistant"]).of_role("assistant").apart.witness
    assert witness is not None
    assert witness.replayed
    assert witness.text.decode() in rendered(source, ("assistant", "a</think>\t\na"))
    trimmed = source.replace("lstrip('\\n')", "strip()")
    assert guard.template(qwen, trimmed, roles=["assistant"]).of_role("assistant").apart.outcome == "proved"


def test_a_rarer_conversation_in_which_a_text_is_joined(qwen: Tokenizer) -> None:
    """Only the second tool goes on where a user has ended."""
    source = (
        "{% set ns = namespace(n=0) %}{% for m in messages %}{% if m.role == 'user' %}<|im_start|>"
        "{{ m.content | trim }}{% else %}{% if ns.n %}{{ NEXT }}{% else %}<|im_end|>{% endif %}"
        "{% set ns.n = ns.n + 1 %}x<|im_end|>{% endif %}{% endfor %}"
    )
    joins = source.replace("NEXT", "'\\n'")
    witness = guard.template(qwen, joins, roles=["user", "tool"]).of_role("user").apart.witness
    assert witness is not None
    assert witness.replayed
    text = rendered(joins, ("tool", "a"), ("user", ">"), ("tool", "a"))
    assert witness.text.decode() in text
    kept = source.replace("NEXT", "'<|im_end|>'")
    assert guard.template(qwen, kept, roles=["user", "tool"]).of_role("user").apart.witness is None


def test_a_date_beside_a_text() -> None:
    """An empty date would let the space before it be joined with what follows, which is no one's text."""
    source = turns_of("Today: {{ strftime_now('%d') }}\n{{ m.content | trim }}")
    found = guard.template(made(("\u0120", "\u010a")), source, roles=["user"])
    assert found.of_role("user").apart.outcome == "proved"
    joins = made(("\u0120", "\u010a"), ("\u010a", "v"))
    assert guard.template(joins, source, roles=["user"]).of_role("user").apart.outcome != "proved"
    beside = source.replace("\n{{", "{{")
    digits = made(("\u0120", "\u010a"), ("1", "1"))
    assert guard.template(digits, beside, roles=["user"]).of_role("user").apart.outcome != "proved"


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        ("{% if m.content.strip() %}{{ m.content }}{% else %}?{% endif %}", "\t \t"),
        ("{{ '\\n' + m.content.lstrip('\\n') }}", "\n\n\n\t a \t\n\n\n"),
        ("{% if '<chart>' in m.content %}A chart.{% else %}{{ m.content }}{% endif %}", "<chart>"),
        (
            "{% if add_generation_prompt and '<chart>' in m.content %}A chart.{% else %}{{ m.content }}"
            "{% endif %}",
            "<chart>",
        ),
    ],
)
def test_texts_that_are_rarely_changed(shown: str, text: str, qwen: Tokenizer) -> None:
    witness = guard.template(qwen, turns_of(shown), roles=["user"]).of_role("user").unchanged.witness
    assert witness is not None
    assert witness.replayed
    assert repr(text)[1:-1] in witness.says
    assert text not in witness.text.decode()


def test_a_text_that_a_macro_writes_again(qwen: Tokenizer) -> None:
    """What a macro reads in a loop of its own counts as read by whoever calls it."""
    source = (
        "{% set ns = namespace(own=[]) %}{% macro show() %}{% for one in ns.own %}{{ one }}a{% endfor %}"
        "{% endmacro %}{% for m in messages %}<|im_start|>{{ m.content | trim }}<|im_end|>"
        "{% if m.role == 'user' %}{% set ns.own = [m.content] %}{% elif loop.index > 9 %}{{ show() }}"
        "{% endif %}{% endfor %}"
    )
    assert guard.template(qwen, source, roles=ROLES).of_role("user").apart.outcome != "proved"
    kept = source.replace("[m.content]", "[m.role]")
    assert guard.template(qwen, kept, roles=ROLES).of_role("user").apart.outcome == "proved"


def test_several_messages_that_write_nothing_in_a_row(small: Tokenizer) -> None:
    """The letters of the first and of the last become one token, if two empty texts stand between them."""
    source = (
        "{% set ns = namespace(n=0) %}" + FOR + "{% if m.role == 'v' %}<|im_start|>v{% set ns.n = 0 %}"
        "{% elif m.role == 'text' %}{{ m.content if m.content == '' else raise_exception('') }}"
        "{% if ns.n < 2 %}{% set ns.n = ns.n + 1 %}{% endif %}"
        "{% else %}{% if ns.n == 2 %}w{% endif %}<|im_end|>{% set ns.n = 0 %}{% endif %}" + END
    )
    roles = ["w", "text", "v"]
    text = rendered(source, ("v", ""), ("text", ""), ("text", ""), ("w", ""))
    assert len(encoded(small, text)) == 3
    found = guard.template(small, source, roles=roles, limits=tk.Limits(states=300_000, seconds=60.0))
    assert found.of_role("text").apart.outcome == "not settled"


@pytest.mark.parametrize("number", ["'a'", "none", "1.5", "true"])
def test_an_index_less_something_else(small: Tokenizer, number: str) -> None:
    source = FOR + "{{ messages[loop.index0 - " + number + "].content }}" + END
    assert guard.template(small, source, roles=["user"]).appending.outcome != "proved"


# A message that is kept, and its role, long after it.
KEPT = {
    "the first": (
        "{% if not ns.p %}{% set ns.p = m %}{% endif %}",
        "",
        ["assistant", *["user"] * 10],
    ),
    "the one three before": (
        "{% set ns.r = ns.q %}{% set ns.q = ns.o %}{% set ns.o = ns.p %}{% set ns.p = m %}",
        "{% if ns.c < 5 and m.role == 'assistant' %}{{ raise_exception('') }}{% endif %}",
        [*["user"] * 6, "assistant", *["user"] * 6],
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_the_role_of_a_message_that_is_kept(small: Tokenizer, name: str) -> None:
    kept, refused, roles = KEPT[name]
    variable = "ns.p" if name == "the first" else "ns.r"
    source = (
        "{% set ns = namespace(c=0, d=0, p={}, o={}, q={}, r={}) %}" + FOR + _raw_but("ns.d == 2") + refused
        + "{% if ns.d == 1 %}{% set ns.d = 2 %}{% endif %}"
        "{% if ns.c == 5 and ns.d == 0 and " + variable + ".role == 'assistant' %}"
        "{% set ns.d = 1 %}{% endif %}"
        + _COUNTED + kept + END
    )  # fmt: skip
    assert " b " not in rendered(source, *((role, " b ") for role in roles))[-14:]
    assert guard.template(small, source, roles=ROLES).of_role("user").unchanged.outcome == "not settled"


@pytest.mark.parametrize(
    "text",
    [
        *("'a'.strip | string", "'%s' % 'a'.strip", "'{}'.format('a'.strip)", "'{0.strip}'.format('a')"),
        *("['a'.strip] ~ ''", "['a'.strip] | string", "'a'.strip | upper", "'%s' | format('a'.strip)"),
    ],
)
def test_addresses_in_memory_are_no_text_of_a_template(small: Tokenizer, text: str) -> None:
    """They are others in each process, so that a text may be trimmed in the next one."""
    source = (
        FOR
        + "{% set t = "
        + text
        + " %}{% if '0x1' in t %}"
        + TRIM
        + "{% else %}"
        + RAW
        + "{% endif %}"
        + END
    )
    assert not guard.template(small, source, roles=["user"]).of_role("user").unchanged
