"""The shapes that suffice for all lengths, against every conversation of up to five turns.

What a template writes around a slot, and whether an appended turn changes what was written before, is
collected from all sequences of turns.  Each finding has to be among those of the shapes that the search
returns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest

from tests.guard.templates.test_renderings import is_prefix, read
from tokamata.guard.templates.pieces import Rendering, Slot, Source
from tokamata.guard.templates.reading import Template, read_template
from tokamata.guard.templates.shapes import Shape, Turn

KINDS = [Turn("system"), Turn("user"), Turn("assistant")]
SETTLED = ["chatml", "chatml with a default", "gemma", "llama", "mistral", "generation"]


def surroundings(rendering: Rendering) -> set[tuple[object, ...]]:
    """Each slot with its steps, the literals around it, and the slots beyond these."""

    def shown(piece: object) -> object:
        if isinstance(piece, Slot):
            assert isinstance(piece.source, Source)
            return piece.source.role, piece.source.field, piece.steps
        return piece

    if rendering.refused is not None:
        return set()
    pieces = ["start", *rendering.pieces, "end"]
    return {
        (shown(pieces[at - 2]) if at > 1 else "", *map(shown, pieces[at - 1 : at + 2]))
        for at in range(1, len(pieces) - 1)
        if isinstance(pieces[at], Slot)
    }


def findings(template: Template, shapes: Iterable[Shape]) -> tuple[set[object], set[bool]]:
    """The surroundings of all slots, and whether appended turns change what was before."""
    around: set[object] = set()
    changes: set[bool] = set()
    for shape in shapes:
        for rendering in template.renderings(shape):
            around |= surroundings(rendering)
        if len(shape.turns) > 1:
            changes |= {not is_prefix(*pair) for pair in template.pairs(shape)}
    return around, changes


def all_shapes(most: int) -> list[Shape]:
    return [Shape(turns) for n in range(1, most + 1) for turns in itertools.product(KINDS, repeat=n)]


@pytest.mark.parametrize("family", SETTLED)
def test_all_conversations_are_represented(family: str) -> None:
    template = read(family)
    found = template.conversations(KINDS)
    assert found.unsettled is None
    around, changes = findings(template, found.shapes)
    all_around, all_changes = findings(template, all_shapes(4 if family == "llama" else 5))
    assert all_around <= around
    assert all_changes <= changes
    assert changes == ({False, True} if family == "mistral" else {False})


def test_few_conversations_suffice() -> None:
    """For ChatML: those of one and two turns, and their extensions by a turn."""
    assert len(read("chatml").conversations(KINDS).shapes) == 3 + 9 + 27
    assert len(read("chatml").conversations(KINDS[1:]).shapes) == 2 + 4 + 8


LOOP = "{% for m in messages %}"
OUTSIDE = {
    "{% set last = messages[-1] %}{{ last.content }}": "a message by an index that is neither small",
    LOOP + "{{ messages[loop.index0 - 1].content }}{% endfor %}": "a message by an index from the end",
    LOOP
    + "{{ messages[loop.index0 + 2].content }}{% endfor %}": "a message by an index that is neither small",
    LOOP + "{{ loop.index }}{% endfor %}": "loop.index other than in a comparison",
    LOOP + "{% if loop.index == 17 %}{{ m.content }}{% endif %}{% endfor %}": "loop.index other than",
    LOOP + "{% if loop.index0 % 3 == 0 %}x{% endif %}{% endfor %}": "an index modulo another number",
    LOOP + "{% if loop.revindex == 2 %}x{% endif %}{% endfor %}": "loop.revindex other than",
    LOOP + "{{ loop.cycle(1, 2, 3) }}{% endfor %}": "loop.cycle other than",
    LOOP + "{% endfor %}" + LOOP + "{{ m.content }}{% endfor %}": "more than one loop",
    LOOP + LOOP + "{% endfor %}{% endfor %}": "a loop over the conversation within another loop",
    "{% set x %}"
    + LOOP
    + "{% endfor %}{% endset %}": "a loop over the conversation within another loop or a block",
    "{% for m in messages if m.role == 'user' %}{% endfor %}": "a loop over some messages",
    "{% for m in messages[::-1] %}{% endfor %}": "a slice of the conversation",
    "{% for m in messages[:-1] %}{% endfor %}": "a slice of the conversation",
    "{% for m in messages | reverse %}{% endfor %}": "the conversation as a whole",
    "{% set r = messages[1:] %}"
    + LOOP
    + "{{ r[loop.index0 + 1].content }}{% endfor %}": "a message by an index",
    LOOP
    + "{% set r = messages[1:] %}{{ r[0].content }}{% endfor %}": "a part of the conversation in a variable",
    "{{ messages | length }}": "the conversation as a whole",
    "{% if messages | length == 5 %}x{% endif %}": "the conversation as a whole",
    "{{ messages | selectattr('role') | list | length }}": "the conversation as a whole",
    "{% macro f() %}{{ messages[0].content }}{% endmacro %}{{ f() }}": "a macro that reads the conversation",
    "{% set j = joiner() %}{{ j() }}": "a joiner",
    LOOP + "{{ m.content | list }}{% endfor %}": "the filter list of a slot's text",
    "{% set ns = namespace(n=0) %}" + LOOP + "{% set ns.n = ns.n + 1 %}{% endfor %}": "go on to change",
    "{% set ns = namespace(n='') %}"
    + LOOP
    + "{% set ns.n = ns.n + m.content %}{% endfor %}": "go on to change",
    "{% set ns = namespace(m=0) %}"
    + LOOP
    + "{% if m.role == 'user' %}{% set ns.m = m %}{% endif %}{% endfor %}": "go on",
}


@pytest.mark.parametrize("source", OUTSIDE)
def test_others_are_widened_or_not_settled(source: str) -> None:
    template = read_template(source)
    found = template.conversations(KINDS[1:])
    if found.unsettled is None:
        assert found.template is not template
        assert OUTSIDE[source] not in ("go on to change", "a joiner")
    else:
        assert found.shapes == ()
        assert OUTSIDE[source] in found.unsettled.what


SEARCHING = """\
{%- set ns = namespace(last=messages|length - 1, searching=true) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.searching and message.role == 'user' and not message.content.startswith('<tool>') %}
        {%- set ns.searching = false %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {{- '<' + message.role + '>' }}
    {%- if message.role == 'assistant' and loop.index0 < ns.last %}
        {{- message.content.split('</think>')[-1] }}
    {%- else %}
        {{- message.content }}
    {%- endif %}
{%- endfor %}"""


def test_a_widened_template_has_all_renderings() -> None:
    """Qwen's search for the last question is left open: both answers are tried for each message."""
    template = read_template(SEARCHING)
    found = template.conversations(KINDS[1:], first=KINDS[:1])
    assert found.unsettled is None
    assert found.template is not template
    around, changes = findings(found.template, found.shapes)
    kinds = [(first, *rest) for first in KINDS for rest in itertools.product(KINDS[1:], repeat=3)]
    all_around, all_changes = findings(template, map(Shape, kinds))
    assert all_around <= around
    assert all_changes <= changes
    assert changes == {False, True}


def test_what_is_written_is_not_left_open() -> None:
    """DeepSeek gathers the texts of all system turns, and writes them first."""
    found = read("deepseek").conversations(KINDS)
    assert found.unsettled is not None
    assert found.unsettled.what == "more than one loop over the conversation"


@pytest.mark.parametrize(
    ("source", "is_widened"),
    [
        # A question about all messages, one about the last after the loop, and one in a variable.
        ("{% if messages | length > 17 %}!{% endif %}" + LOOP + "<{{ m.content }}>{% endfor %}", True),
        (LOOP + "<{{ m.content }}>{% endfor %}{% if messages[-1].role == 'user' %}!{% endif %}", True),
        ("{% set n = messages | length %}" + LOOP + "<{{ m.content }}{{ '!' if n > 9 }}>{% endfor %}", True),
        (
            "{% set ns = namespace(at=messages | length) %}{% for m in messages %}{% if m.role == 'user' %}"
            "{% set ns.at = loop.index0 %}{% endif %}{% endfor %}"
            + LOOP
            + "<{{ m.content }}{{ '!' if loop.index0 < ns.at }}>{% endfor %}",
            True,
        ),
        # What changes a namespace elsewhere is not left out.
        (
            "{% set ns = namespace(at=messages | length) %}{% set other = ns %}"
            + LOOP
            + "<{{ m.content }}{{ '!' if loop.index0 < other.at }}>{% endfor %}",
            False,
        ),
        (
            "{% set ns = namespace(n=0) %}{% macro f(x) %}{% set ns.n = x %}{% endmacro %}"
            "{% for m in messages[::-1] %}{% set x = f(loop.index0) %}{% endfor %}"
            + LOOP
            + "<{{ m.content }}{{ '!' if ns.n }}>{% endfor %}",
            False,
        ),
        # What is counted is written.
        ("{{ messages | length }}" + LOOP + "<{{ m.content }}>{% endfor %}", False),
        ("{% set n = messages | length %}" + LOOP + "<{{ m.content }}{{ n }}>{% endfor %}", False),
        ("{% set ns = namespace(n=0) %}" + LOOP + "{% set ns.n = loop.index %}{{ ns.n }}{% endfor %}", False),
    ],
)
def test_widening(source: str, is_widened: bool) -> None:
    template = read_template(source)
    found = template.conversations(KINDS[1:])
    assert (found.unsettled is None) is is_widened
    if is_widened:
        assert found.template is not template
        around, changes = findings(found.template, found.shapes)
        longer = [Shape(turns) for turns in itertools.product(KINDS[1:], repeat=4)]
        all_around, all_changes = findings(template, longer)
        assert all_around <= around
        assert all_changes <= changes


MEMORY = [
    # The messages in two variables.
    "{% set r = messages[1:] %}"
    "{% for m in r %}<{{ r[loop.index0 + 1].role }}{{ m.content }}{{ r[0].role }}>{% endfor %}",
    "{% for m in messages[1:] %}<{{ messages[loop.index0].role }}{{ m.content }}>{% endfor %}",
    # What a namespace keeps: whether there was an answer; the role of the last turn but one.
    "{% set ns = namespace(a=false) %}" + LOOP + "{% if ns.a %}!{% endif %}<{{ m.content }}>"
    "{% if m.role == 'assistant' %}{% set ns.a = true %}{% endif %}{% endfor %}",
    "{% set ns = namespace(a='', b='') %}" + LOOP + "<{{ ns.b }}:{{ m.content }}>"
    "{% set ns.b = ns.a %}{% set ns.a = m.role %}{% endfor %}",
    # A question about the first message that is asked again in each iteration, and one that a variable keeps.
    LOOP
    + "{% if '/t' in messages[0].content and m.role == 'user' %}!{% endif %}<{{ m.content }}>{% endfor %}",
    "{% set t = '/t' in messages[0].content %}"
    + LOOP
    + "<{{ 'a' if t and loop.index > 2 }}{{ m.content }}>{% endfor %}",
    # A switch that texts turn, and one that two answers turn back.
    "{% set ns = namespace(t=false) %}"
    + LOOP
    + "{% if '/t' in m.content %}{% set ns.t = not ns.t %}{% endif %}"
    "{% if ns.t and m.role == 'assistant' %}!{% endif %}<{{ m.content }}>{% endfor %}",
    # A namespace within a macro, which ends with the call, and one that two variables hold.
    "{% macro f(t) %}{% set n = namespace(x=t) %}{{ n.x }}{% endmacro %}"
    + LOOP
    + "<{{ f(m.content) }}>{% endfor %}",
    "{% set a = namespace(x=0) %}{% set b = a %}"
    + LOOP
    + "{% if m.role == 'user' %}{% set b.x = 1 %}{% endif %}"
    "<{{ a.x }}{{ m.content }}>{% endfor %}",
    # Messages that write nothing, between those that do.
    LOOP + "{% if m.role == 'user' %}<{{ m.content }}>{% endif %}{% endfor %}",
    LOOP + "{% if m.role == 'user' or loop.previtem is not defined %}{{ m.content }}{% endif %}{% endfor %}",
    LOOP + "{% if loop.previtem is defined and loop.previtem.role == m.role %}={% endif %}"
    "<{{ m.content }}>{% endfor %}",
]


@pytest.mark.parametrize("source", MEMORY)
def test_what_a_template_remembers_is_represented(source: str) -> None:
    template = read_template(source)
    kinds = KINDS[2:] if "not ns.t" in source else KINDS[1:]
    found = template.conversations(kinds)
    assert found.unsettled is None
    around, changes = findings(template, found.shapes)
    longer = [Shape(turns) for turns in itertools.product(kinds, repeat=4)]
    all_around, all_changes = findings(template, longer)
    assert all_around <= around
    assert all_changes <= changes
