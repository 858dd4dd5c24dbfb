"""Verdicts about chat templates: each fear proved away or shown by a conversation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

import tokamata as tk
from tests.support.templates.small_chats import END, FOR, RAW, TRIM, encoded, made, rendered
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
