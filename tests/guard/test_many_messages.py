"""Hostile templates that go wrong in long conversations alone: nothing false is proved of them."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer

import tokamata as tk
from tests.support.templates.small_chats import END, FOR, RAW, TRIM, encoded, rendered
from tokamata import guard


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
    assert (
        guard.template(small, source, roles=("user", "assistant")).of_role("user").unchanged.outcome
        == "not settled"
    )


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
