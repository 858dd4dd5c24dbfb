"""Templates from strangers: none crashes, hangs or fills the memory; errors are typed."""

from __future__ import annotations

import sys
import time

import pytest

from tokamata.errors import Cancelled, LimitExceeded, TemplateError
from tokamata.guard.templates import decisions
from tokamata.guard.templates.reading import read_template
from tokamata.guard.templates.shapes import Shape
from tokamata.resources.limits import CancelToken, Limits

USER = Shape.of("user")
TIMES = "{% for i in range(100) %}"
LONG = "{% set x = 'a' * 900000 %}"
# What is refused where it is read, and where it is rendered.
UNREADABLE = {
    "{% if %}": "line 1 of the chat template: Expected an expression",
    "\n{{ x": "line 2 of the chat template: unexpected end of template",
    "{{ x | no_such_filter }}": "No filter named 'no_such_filter'",
    "{{ x is no_such_test }}": "No test named 'no_such_test'",
    "{% include 'x' %}": "needs another template (include)",
    "{% import 'x' as y %}": "needs another template (import)",
    "{% from 'x' import y %}": "needs another template (fromimport)",
    "{% extends 'x' %}": "needs another template (extends)",
    "{% autoescape true %}{% endautoescape %}": "switches autoescape",
    "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}": "nests too deeply",
    "{{ " + "not " * 20000 + "a }}": "nests too deeply",
    "{{" * 20000: "nests too deeply",
    "{{ " + "9" * 10000 + " }}": "cannot be compiled",
    "{% for i in [1] %}" * 50 + "{% endfor %}" * 50: "cannot be compiled",
    "{#" * 50000: "Missing end of comment tag",
    "x" * 150_001: "longer than 150,000 characters",
}
TOO_MUCH = {
    "{{ 'a' * 10**10 }}": "a text longer than",
    "{{ 9 ** (9 ** 9) }}": "a number longer than",
    "{{ 'x' | center(10**10) }}": "a number beyond",
    "{{ ['x'] | map('center', 10**9) | list }}": "a number beyond",
    "{{ 'a'.ljust(10**9) }}": "a number beyond",
    "{{ '%9999999999d' % 1 }}": "formats by a number beyond",
    "{{ '{:9999999999}'.format(1) }}": "formats by a number beyond",
    "{{ messages | tojson(indent=10**9) }}": "an indentation longer than",
    "{% set ns = namespace(x='ab') %}"
    + TIMES
    + "{% set ns.x = ns.x ~ ns.x %}{% endfor %}": "a text longer than",
    "{% set ns = namespace(x=messages[0].content) %}"
    + TIMES
    + "{% set ns.x = ns.x + ns.x %}{% endfor %}": "pieces",
    "{% set ns = namespace(x=[1]) %}"
    + TIMES
    + "{% set ns.x = [ns.x, ns.x] %}{% endfor %}": "a container longer",
    "{% set ns = namespace(x=[1]) %}"
    + TIMES
    + "{% set ns.x = ns.x + ns.x %}{% endfor %}": "a container longer",
    "{% set ns = namespace(x={}) %}"
    + TIMES
    + "{% set ns.x = dict(a=ns.x, b=ns.x) %}{% endfor %}": "a container longer",
    "{% set ns = namespace(x=3) %}" + TIMES + "{% set ns.x = ns.x * ns.x %}{% endfor %}": "a number longer",
    TIMES * 5 + "{% endfor %}" * 5: "takes more than",
    "{% for i in range(99999) %}{% set y = range(99999) | list %}{% endfor %}": "takes more than",
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}": "calls macros more than 50 deep",
    "{% block a %}{{ self.a() }}{% endblock %}": "calls macros more than 50 deep",
    "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}": "calls macros more than 50 deep",
    "{% set x = 'a' * 90000 %}{{ x.replace('', x) }}": "a text longer",
    "{% set x = 'a' * 90000 %}{{ x | replace('', x) }}": "a text longer",
    LONG + "{{ x.join(['a'] * 9000) }}": "a text longer",
    LONG + "{{ ['a', 'a', 'a'] | join(x) }}": "a text longer",
    LONG + "{{ [x] * 9000 }}": "the texts of a container longer",
    LONG + "{{ '%(a)s%(a)s' % {'a': x} }}": "a text longer",
    LONG + "{{ '{0}{0}'.format(x) }}": "a text longer",
    "{{ ('\\n' * 99999) | indent(99999) }}": "a text longer",
    "{{ ('\\t' * 9999).expandtabs(99999) }}": "a text longer",
}
REFUSED = {
    "{% for i in range(10**9) %}a{% endfor %}": "Range too big",
    "{{ ''.__class__.__mro__ }}": "unsafe",
    "{{ messages[0].content.__class__.__mro__ }}": "unsafe",
    "{{ messages.append(1) }}": "unsafe",
    "{{ raise_exception('no') }}": "no",
    "{{ 1 / 0 }}": "division by zero",
    "{{ none + 1 }}": "unsupported operand",
    "{{ none.x.y }}": "has no attribute",
    "{{ nothing.x }}": "'nothing' is undefined",
    "{{ nothing + messages[0].content }}": "'nothing' is undefined",
    "{% for x in 1 %}{% endfor %}": "not iterable",
    "{{ messages[0].content() }}": "not callable",
}
UNSETTLED = {
    "{{ lipsum() }}": "random text",
    "{{ [1, 2] | random }}": "the filter random",
    "{{ '%*d' % (10**9, 1) }}": "a format with a width among its values",
    "{{ 'a' | wordwrap(1) }}": "the filter wordwrap",
    "{{ namespace(_x=1) }}": "a namespace with the attribute",
    "{{ namespace() }}": "the text of a _Namespace",
    "{{ range }}": "the text of a function",
    "{{ messages | map('length') }}": "the text of a generator",
}


@pytest.mark.parametrize("source", UNREADABLE, ids=lambda source: source[:30])
def test_unreadable(source: str) -> None:
    with pytest.raises(TemplateError) as caught:
        read_template(source)
    assert UNREADABLE[source] in str(caught.value)
    assert caught.value.hint.startswith("correct the template")


@pytest.mark.parametrize("source", TOO_MUCH, ids=lambda source: source[:40])
def test_too_much(source: str) -> None:
    begin = time.monotonic()
    with pytest.raises(TemplateError) as caught:
        read_template(f"\n{source}").renderings(USER)
    assert TOO_MUCH[source] in str(caught.value)
    assert caught.value.line >= 2
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize("source", REFUSED)
def test_refused(source: str) -> None:
    (rendering,) = read_template(source).renderings(USER)
    assert rendering.refused is not None
    assert REFUSED[source] in rendering.refused
    assert rendering.unsettled is None


@pytest.mark.parametrize("source", UNSETTLED)
def test_unsettled(source: str) -> None:
    (rendering,) = read_template(source).renderings(USER)
    assert rendering.unsettled is not None
    assert UNSETTLED[source] in rendering.unsettled.what


def test_many_questions_are_not_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "MOST_QUESTIONS", 20)
    source = "{% for i in range(1000) %}{{ messages[0].content == i | string }}{% endfor %}"
    renderings = read_template(source).renderings(USER)
    assert any(one.unsettled is not None and "20 questions" in one.unsettled.what for one in renderings)


def test_limits_of_the_caller_hold() -> None:
    source = "{% set x = range(99999) | list %}{% for i in range(99999) %}{{ 'a' in x }}{% endfor %}"
    template = read_template(source)
    begin = time.monotonic()
    with pytest.raises(LimitExceeded, match="seconds"):
        template.renderings(USER, limits=Limits(seconds=0.2))
    assert time.monotonic() - begin < 5
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        template.renderings(USER, cancel=cancel)


def test_odd_texts_are_read() -> None:
    for source in (
        "",
        "\0",
        "\ud800",
        "{{ '\ud800' }}",
        "\n" * 1000 + "{%- if x %}{% endif %}",
        "{{ '\x1c' | trim }}",
    ):
        (rendering,) = read_template(source).renderings(USER)
        assert rendering.unsettled is None


def test_a_template_leaves_nothing_behind() -> None:
    """After an error, the same template and others are read as before."""
    template = read_template(
        "{% macro f() %}{{ f() }}{% endmacro %}{% if messages | length > 1 %}{{ f() }}{% endif %}a"
    )
    with pytest.raises(TemplateError):
        template.renderings(Shape.of("user", "user"))
    (rendering,) = template.renderings(USER)
    assert rendering.pieces == ("a",)
    assert sys.getrecursionlimit() < 100_000
