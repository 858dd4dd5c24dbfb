"""Conversations of any length, seen around one message, against drawn conversations."""

from __future__ import annotations

import os
import random

import pytest

from tests.guard.templates.test_renderings import read
from tests.support.templates.any_length import (
    ROLES,
    check_appended,
    check_around,
    drawn_conversation,
    is_kept,
)
from tests.support.templates.families import FAMILIES
from tokamata.guard.templates.pieces import Rendering, Slot
from tokamata.guard.templates.reading import Template, read_template
from tokamata.guard.templates.shapes import Turn
from tokamata.guard.templates.unknowns import is_tainted

CASES = 6 * int(os.environ.get("TOKAMATA_CASES", "16"))

# What iterations hand on to each other, and what they read of other messages.
HANDED_ON = {
    "a namespace that collects": (
        "{% set ns = namespace(s='') %}{% for m in messages %}{% if m.role == 'system' %}"
        "{% set ns.s = ns.s + m.content + '|' %}{% endif %}{% endfor %}<{{ ns.s }}>"
        "{% for m in messages %}{% if m.role != 'system' %}[{{ m.content }}]{% endif %}{% endfor %}"
    ),
    "a namespace with the text before": (
        "{% set ns = namespace(last='') %}{% for m in messages %}[{{ ns.last }}|{{ m.content }}]"
        "{% set ns.last = m.content %}{% endfor %}"
    ),
    "the previous message": (
        "{% for m in messages %}[{{ m.content }}{% if not loop.first %}"
        "<{{ loop.previtem.content }}>{% endif %}]{% endfor %}"
    ),
    "the first message": "{% for m in messages %}[{{ m.content }}|{{ messages[0].content }}]{% endfor %}",
    "the last message": "{% for m in messages %}[{{ m.content }}]{% endfor %}<{{ messages[-1].content }}>",
    "a variable": (
        "{% set first = messages[0].content %}{% for m in messages %}"
        "[{% if loop.last %}{{ first }}{% endif %}{{ m.content }}]{% endfor %}"
    ),
    "a macro that counts": (
        "{% set n = namespace(v=0) %}{% macro show(x) %}{% set n.v = n.v + 1 %}"
        "{{ n.v }}:{{ x }}{% endmacro %}"
        "{% for m in messages %}[{{ show(m.content) }}]{% endfor %}"
    ),
    "a macro with the first text": (
        "{% set first = messages[0].content %}{% macro show(x) %}{{ first }}:{{ x }}{% endmacro %}"
        "{% for m in messages %}[{{ show(m.content) }}]{% endfor %}"
    ),
    "the rest": (
        "{% if messages[0].role == 'system' %}{% set s = messages[0].content %}"
        "{% set rest = messages[1:] %}"
        "{% else %}{% set s = '' %}{% set rest = messages %}{% endif %}"
        "{% for m in rest %}[{% if loop.first %}{{ s }}{% endif %}{{ m.content }}]{% endfor %}"
    ),
    "filtered messages": (
        "{% for m in messages | selectattr('role', 'equalto', 'system') | list %}"
        "<{{ m.content }}>{% endfor %}"
        "{% for m in messages %}{% if m.role != 'system' %}[{{ m.content }}]{% endif %}{% endfor %}"
    ),
    "the last question": (
        "{% set ns = namespace(at=0) %}{% for m in messages[::-1] %}"
        "{% set i = messages | length - 1 - loop.index0 %}"
        "{% if m.role == 'user' and ns.at == 0 %}{% set ns.at = i %}{% endif %}{% endfor %}"
        "{% for m in messages %}[{% if loop.index0 > ns.at %}{{ m.content }}"
        "{% else %}{{ m.content | trim }}{% endif %}]"
        "{% endfor %}"
    ),
    "loops within loops": (
        "{% for m in messages %}[{{ m.content }}{% for o in messages %}"
        "{% if o.role == 'tool' %}{{ o.content }}"
        "{% endif %}{% endfor %}]{% endfor %}"
    ),
    "a message by an index": (
        "{% for m in messages %}[{{ m.content }}|{{ messages[loop.index0 - 1].role }}"
        "{% if loop.index0 + 1 < messages | length %}{{ messages[loop.index0 + 1].content }}{% endif %}]"
        "{% endfor %}"
    ),
    "a variable that is set first": (
        "{% set c = messages[0].content %}<{{ c }}>{% for m in messages %}{% set c = m.role %}[{{ c }}]"
        "{% endfor %}"
    ),
    "a variable that is read before it is set": (
        "{% set c = messages[0].content %}{% for m in messages %}[{{ c }}]{% set c = m.role %}{{ c }}"
        "{% endfor %}"
    ),
    "a variable that is set from itself": (
        "{% set c = messages[0].content %}{% for m in messages %}{% set c = m.role + c %}[{{ c }}]"
        "{% endfor %}"
    ),
    "a variable that is set in a branch": (
        "{% set c = messages[0].content %}{% for m in messages %}{% if m.role == 'user' %}{% set c = '' %}"
        "{% endif %}[{{ c }}]{% endfor %}"
    ),
    "a variable of a branch": (
        "{% set c = messages[0].content %}<{{ c }}>{% for m in messages %}{% if m.role == 'user' %}"
        "{% set c = m.role %}[{{ c }}]{% endif %}{% endfor %}"
    ),
    "a variable of the other branch": (
        "{% set c = messages[0].content %}{% for m in messages %}{% if m.role == 'user' %}"
        "{% set c = m.role %}{% else %}[{{ c }}]{% endif %}{% endfor %}"
    ),
    "a variable that a macro reads, too": (
        "{% set c = messages[0].content %}{% macro show() %}{{ c }}{% endmacro %}"
        "{% for m in messages %}{% set c = m.role %}[{{ c }}{{ show() }}]{% endfor %}"
    ),
    "a parameter": (
        "{% set c = messages[0].content %}{% macro show(c) %}{{ c }}{% endmacro %}"
        "<{{ c }}>{% for m in messages %}[{{ show(m.role) }}]{% endfor %}"
    ),
    "a parameter with a default": (
        "{% set c = messages[0].content %}{% macro show(d=c) %}{{ d }}{% endmacro %}"
        "{% for m in messages %}[{{ show() }}]{% endfor %}"
    ),
    "a macro with a loop": (
        "{% set ns = namespace(own=[]) %}{% macro show() %}{% for one in ns.own %}{{ one }}{% endfor %}"
        "{% endmacro %}{% for m in messages %}[{{ show() }}]{% set ns.own = [m.content] %}{% endfor %}"
    ),
    "a namespace of a macro": (
        "{% set ns = namespace(at=0) %}{% macro show(x) %}{% set ns = namespace(own='') %}"
        "{% set ns.own = ns.own + x %}{{ ns.own }}{% endmacro %}"
        "{% for m in messages[::-1] %}{% if show(m.content) == 'a' %}{% set ns.at = 1 %}{% endif %}"
        "{% endfor %}"
        "{% for m in messages %}[{{ show(m.content) }}{{ ns.at }}]{% endfor %}"
    ),
    "a namespace of a macro, and one around it": (
        "{% set ns = namespace(own='') %}{% macro show(x, own) %}{% if own %}{% set ns = namespace(own='') %}"
        "{% endif %}{% set ns.own = ns.own + x %}{% endmacro %}"
        "{% for m in messages %}[{{ ns.own }}{{ show(m.content, false) }}]{% endfor %}"
    ),
    "some messages": (
        "{% for m in messages if m.role != 'system' %}[{{ m.role }}{{ m.content }}]{% endfor %}"
        "{% for m in messages if m.content != '' %}<{{ m.content }}>{% endfor %}"
    ),
    "some messages, by others": (
        "{% set ns = namespace(last='') %}{% for m in messages if m.content != ns.last %}"
        "[{{ m.content }}{{ ns.last }}]{% set ns.last = m.content %}{% endfor %}"
    ),
    "some messages, by the last": (
        "{% for m in messages if messages[-1].role == 'user' %}[{{ m.content }}]{% endfor %}"
    ),
    "some messages, counted": (
        "{% for m in messages if m.role == 'user' %}{{ loop.index }}{% if loop.first %}[{{ m.content }}]"
        "{% endif %}{% endfor %}"
    ),
    "some messages, or none": (
        "{% for m in messages if m.role == 'user' %}[{{ m.content }}]{% else %}none{% endfor %}"
    ),
    "messages from the end": (
        "{% set one = messages[-1] %}[{{ one.content }}]{% if messages | length > 1 %}"
        "{% set two = messages[-2] %}{% if two.role == 'user' %}<{{ two.content }}>{% endif %}"
        "{% if messages | length == 3 and messages[-3].role == 'system' %}{{ messages[-3].content }}"
        "{% endif %}{% endif %}"
    ),
    "the number of messages": (
        "{% if messages | length > 0 %}{% if messages | length == 1 %}one{% elif messages | length < 3 %}two"
        "{% elif messages | length >= 4 %}more{% endif %}{% endif %}"
        "{% if messages[1:] | length %}rest{% endif %}{% for m in messages %}[{{ m.content }}"
        "{% if 2 <= loop.length %}{{ loop.length }}{% endif %}]{% endfor %}"
    ),
    "parts of roles": (
        "{% set ns = namespace(of='') %}{% for m in messages %}{% set ns.of = ns.of + m.role + ',' %}"
        "{% endfor %}{% for one in ns.of.rstrip(',').split(',') %}<{{ one }}>{% endfor %}"
        "{% for m in messages %}[{{ m.content }}]{% endfor %}"
    ),
    "parts of texts": (
        "{% set ns = namespace(of='') %}{% for m in messages %}{% set ns.of = ns.of + m.content + ',' %}"
        "{% endfor %}{% for one in ns.of.rstrip(',').split(',') %}<{{ one }}>{% endfor %}"
        "{% for m in messages %}[{{ m.content }}]{% endfor %}"
    ),
    "another role": (
        "<{{ messages | selectattr('role', 'eq', 'system') | map(attribute='content') | first "
        "| default('none') }}>{% for m in messages | rejectattr('role', 'equalto', 'user') | list %}"
        "{{ m.role }}{% endfor %}"
    ),
    "a prefix of the first message": (
        "{% set first = messages[0].role + ': ' %}{% if messages[0].role == 'system' %}"
        "{% set first = messages[0].content + ': ' %}{% endif %}"
        "{% for m in messages %}[{{ first if loop.first else '' }}{{ 'x' + m.content }}]{% endfor %}"
    ),
}


def template_of(name: str) -> Template:
    return (
        read(name) if name in FAMILIES else read_template(HANDED_ON[name], bos_token="<s>", eos_token="</s>")
    )


@pytest.mark.parametrize("name", [*FAMILIES, *HANDED_ON])
def test_each_conversation_is_among_the_renderings(name: str) -> None:
    template, chooser = template_of(name), random.Random(name)
    found = {role: template.around(Turn(role)) for role in ROLES}
    appended = {role: template.appended(Turn(role)) for role in ROLES}
    for _ in range(CASES):
        shape, texts = drawn_conversation(chooser, ROLES)
        for index, turn in enumerate(shape.turns):
            check_around(template, found[turn.role], shape, texts, index)
        if len(shape.turns) > 1 and all(is_sure for _, is_sure in appended.values()):
            pairs = [pair for pairs, _ in appended.values() for pair in pairs]
            check_appended(pairs, template, shape, texts)


def renderings_of(source: str, role: str) -> list[Rendering]:
    template = read_template(source)
    return [one for each in template.around(Turn(role)) for one in each.renderings if one.refused is None]


@pytest.mark.parametrize(
    "name",
    [
        *("a namespace with the text before", "the previous message", "the first message", "a variable"),
        *("a variable that is read before it is set", "a variable that is set from itself"),
        *("a variable that is set in a branch", "a variable of the other branch"),
        *("a variable that a macro reads, too", "a parameter with a default", "a macro with a loop"),
        *("a namespace of a macro, and one around it", "some messages, by others"),
    ],
)
def test_what_other_messages_may_write_is_tainted(name: str) -> None:
    assert any(is_tainted(slot) for one in renderings_of(HANDED_ON[name], "user") for slot in one.slots)


@pytest.mark.parametrize(
    "name",
    [
        *("the last question", "a macro that counts", "a namespace that collects"),
        *("a variable that is set first", "a variable of a branch", "a parameter", "some messages"),
        *("messages from the end", "the number of messages", "parts of roles", "another role"),
    ],
)
def test_what_cannot_have_the_text_is_not_tainted(name: str) -> None:
    found = renderings_of(HANDED_ON[name], "user")
    assert not any(is_tainted(slot) for one in found for slot in one.slots)


def test_what_is_chosen_by_its_role_may_have_the_text() -> None:
    found = renderings_of(HANDED_ON["another role"], "system")
    assert any(is_tainted(slot) for one in found for slot in one.slots)


def test_parts_of_a_text_are_not_followed() -> None:
    found = renderings_of(HANDED_ON["parts of texts"], "user")
    assert any(one.unsettled is not None for one in found)


@pytest.mark.parametrize("name", ["some messages, counted", "some messages, or none"])
def test_what_counts_some_messages_is_not_followed(name: str) -> None:
    found = renderings_of(HANDED_ON[name], "user")
    assert {one.unsettled.what for one in found if one.unsettled is not None} == {
        "a loop that counts some messages, or is within a block"
    }


def test_a_message_of_a_long_conversation() -> None:
    source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
    (first, _, later) = read_template(source).around(Turn("user"))
    assert {str(one.pieces[0]) for one in first.renderings} == {"<user>"}
    assert {len(one.pieces) for one in later.renderings} == {3, 4}  # with a gap before it, and after it
    assert all(isinstance(one.pieces[0], Slot) for one in later.renderings)
    assert later.begins == ("<user>",)


def test_an_appended_message_after_any_conversation() -> None:
    keeps = read_template("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    pairs, is_sure = keeps.appended(Turn("user"))
    assert is_sure
    assert all(is_kept(*pair) for pair in pairs)
    counts = read_template("{% for m in messages %}<{{ messages | length }}>{{ m.content }}{% endfor %}")
    pairs, _ = counts.appended(Turn("user"))
    assert not all(is_kept(*pair) for pair in pairs)
