"""Templates that do what the proofs for all lengths do not follow: nothing is proved of them."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer

from tokamata import guard
from tokamata.guard.templates.reading import read_template

FOR, END = "{% for m in messages %}", "{% endfor %}"
RAW = "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n"
TRIMMED = "<|im_start|>{{ m.role }}\n{{ m.content | trim }}<|im_end|>\n"
LATER = "{% set ns.n = ns.n + 1 %}"

OUTSIDE = {
    "break": f"{FOR}{RAW}{{% if m.role == 'assistant' %}}{{% break %}}{{% endif %}}{END}",
    "items of the loop": FOR + RAW + "{% if m.role == 'user' %}{% set x = loop | first %}{% endif %}" + END,
    "a loop over the loop": f"{FOR}{RAW}{{% for x in loop %}}{{% endfor %}}{END}",
    "attr": f"{FOR}{TRIMMED}{{{{ (loop | attr('previtem')).content }}}}{END}",
    "a list of the loop": f"{FOR}{RAW}{{{{ [loop] | map(attribute='index0') | first }}}}{END}",
    "with": f"{{% with ms = messages %}}{FOR}{RAW}{{{{ ms[loop.index0 - 1].content }}}}{END}{{% endwith %}}",
    "a list of the conversation": f"{{% for ms in [messages] %}}{FOR}{RAW}{END}{{% endfor %}}",
    "a default": "{% macro f(i, ms=messages) %}{{ ms[i].content }}{% endmacro %}" + FOR + RAW + END,
    "an argument": "{% macro f(ms) %}{{ ms[0].content }}{% endmacro %}{{ f(messages) }}" + FOR + RAW + END,
    "namespaces in a list": "{% set a = namespace(q='') %}{% set l = [a] %}" + FOR + RAW + END,
    "namespaces in one": "{% set a = namespace(q='') %}{% set b = namespace(a=a) %}" + FOR + RAW + END,
    "a block": f"{{% block b %}}{{% endblock %}}{FOR}{RAW}{{{{ self.b() }}}}{END}",
    "an iterator": "{% set g = ['a', 'b'] | map('string') %}" + FOR + "{{ g | first }}" + RAW + END,
    "a chain": FOR + "{% if m.content == loop.previtem.content == 'a' %}b{% endif %}" + RAW + END,
    "lists": FOR + "{% if [m.content] == [loop.previtem.content] %}b{% endif %}" + RAW + END,
    "a comparison": "{% if messages[1:] == [] %}b{% endif %}" + FOR + RAW + END,
    "another name": "{% macro raise_exception(x) %}!{% endmacro %}" + FOR + RAW + END,
    "another namespace": "{% macro f(namespace) %}{% set ns = namespace(n=0) %}{% endmacro %}"
    + FOR
    + RAW
    + END,
    "a namespace that is set": "{% set namespace = 'a' %}" + FOR + RAW + END,
    "jinja's own": FOR + "{% if 'LoopContext(' | length == 12 %}a{% endif %}" + RAW + END,
    "a macro as a value": "{% macro f() %}{% endmacro %}{% set ns = namespace(f=f) %}" + FOR + RAW + END,
    "a macro as an argument": "{% macro f(g) %}{{ g() }}{% endmacro %}" + FOR + RAW + "{{ f(f) }}" + END,
    "what calls a macro": "{% macro f() %}{% set x = caller %}{{ x() }}{% endmacro %}" + FOR + RAW + END,
    "what makes namespaces": "{% set make = namespace %}{% set ns = make(n=0) %}" + FOR + RAW + END,
    "a default of what makes them": "{% macro f(namespace=namespace) %}{% endmacro %}" + FOR + RAW + END,
    "random": FOR + "{{ m.content | random }}" + RAW + END,
    "state": "{% set c = cycler('a', 'b') %}" + FOR + "{{ c.next() }}" + RAW + END,
}
INSIDE = {
    "whether there is a caller": "{% macro f() %}{% if caller is defined %}a{% endif %}{% endmacro %}"
    + FOR
    + RAW
    + END,
    "plain": FOR + RAW + END,
    "a namespace": "{% set ns = namespace(n=0) %}" + FOR + LATER + RAW + END,
    "a slice": "{% set rest = messages[1:] %}{% for m in rest %}" + RAW + END,
    "the loop": FOR + "{% if loop.first or not loop.last %}a{% endif %}" + RAW + END,
    "some messages": "{% for m in messages | selectattr('role', 'equalto', 'user') %}" + RAW + END,
    "some as a list": "{% set u = messages | selectattr('role', 'equalto', 'user') | list %}"
    + FOR
    + RAW
    + END,
    "a parameter": "{% macro f(namespace='a') %}{{ namespace }}{% endmacro %}" + FOR + RAW + END,
    "roles": FOR + "{% if m.role in ['user', 'tool'] %}a{% endif %}" + RAW + END,
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_outside(name: str) -> None:
    assert read_template(OUTSIDE[name]).why_outside()


@pytest.mark.parametrize("name", INSIDE)
def test_what_is_inside(name: str) -> None:
    assert read_template(INSIDE[name]).why_outside() == ""


@pytest.mark.parametrize("name", ["break", "items of the loop", "namespaces in one", "an iterator", "lists"])
def test_nothing_is_proved_outside(name: str, qwen: Tokenizer) -> None:
    found = guard.template(qwen, OUTSIDE[name], roles=["user", "assistant"])
    verdicts = [found.appending, *(each for role in found.roles for each in role.verdicts)]
    assert not any(verdicts)
    assert found.unsettled
