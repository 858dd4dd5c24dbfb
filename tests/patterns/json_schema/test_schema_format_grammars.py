"""URIs, IRIs, templates and addresses of mail, against the grammars of their RFCs."""

from __future__ import annotations

import random
import re

import pytest

from tests.support.patterns.engine import Engine
from tests.support.schemas.abnf import Grammar
from tests.support.schemas.format_grammars import IRI, MAILBOX, TEMPLATE, URI
from tokamata.patterns.json_schema.formats import format_language
from tokamata.patterns.json_schema.formats.idn_mailboxes import most_octets

URIS = [
    "http://user:pw@www.example.com:8080/a/b.c;d=1?q=%20&r=/?#f/?", "urn:a:b", "mailto:a@b.c",
    "file:///etc", "x:",
    "//[2001:db8::7]:80/p", "//[v1f.a:b]/", "../a/b", "./a:b", "a:b:c", "/", "?q", "#f", "", "//", "///a",
    "a//b",
    "http://[::1.2.3.4]", "http://[1:2:3:4:5:6:7::]", "http://999.1.1.1", "x://a@b@c", "//a:b:c", "x:/[::1]",
    "http://é.example/ü?ö#ä", "//例え.テスト/\ue000", "/?\ue000", "x:\u200e", "x:\ufffe\U0001fffe",
    "1a:b", "a_b:c",
]  # fmt: skip
TEMPLATES = [
    "http://a/{path:3}{?q*,r}", "{+a.b,c_d}", "{a..b}", "{%41b:9999}", "{a:01}", "{}", "}{", "{!a}",
    "'a\"", "é{é}",
]  # fmt: skip
MAILBOXES = [
    "joe.bloggs+a@mail.example.com", '"a b\\"@"@x', "a..b@c", "a@-b", "a@b-c.d", "a@b_c",
    "a@[1.22.033.255]", "@b", "a@",
    "a@[IPv6:2001:db8::1]", "a@[IPv6:::]", "a@[ipv6:1:2:3:4:5:6:7::]", "a@[IPv6:::1:2:3:4:1.2.3.4]",
    'a"b@c', '""@c',
]  # fmt: skip
EDITS = "aZ09:/?#[]@!%{}.,-_~\\\"'<> \n+*=|^`(é\u200e漢\U0001f600\ue000\x7fF1234"


FORMATTING = re.compile("[\u200e\u200f\u202a-\u202e]")  # RFC 3987, section 4.1


def near(generator: random.Random, texts: list[str]) -> str:
    """A text, a few edits away from one or two of the given ones."""
    text = generator.choice(texts)
    if generator.random() < 0.3:
        other = generator.choice(texts)
        text = text[: generator.randrange(len(text) + 1)] + other[generator.randrange(len(other) + 1) :]
    for _ in range(generator.choice([0, 1, 1, 2, 3])):
        place = generator.randrange(len(text) + 1)
        text = text[:place] + generator.choice([*EDITS, ""]) + text[place + generator.randrange(2) :]
    return text


CASES = {
    "uri": (URI, "absolute", URIS),
    "uri-reference": (URI, "reference", URIS),
    "iri": (IRI, "absolute", URIS),
    "iri-reference": (IRI, "reference", URIS),
    "uri-template": (TEMPLATE, "template", TEMPLATES),
    "email": (MAILBOX, "mailbox", MAILBOXES),
}


@pytest.mark.parametrize("name", CASES)
def test_as_the_grammar_says(name: str) -> None:
    grammar, rule, texts = CASES[name]
    engine = Engine(language(name))
    generator = random.Random(f"format {name}")
    accepted = 0
    for text in [*texts, *(near(generator, texts) for _ in range(1500))]:
        expected = grammar.accepts(rule, text) and not (name[0] == "i" and FORMATTING.search(text))
        assert engine.accepts(text) == expected, text
        accepted += expected
    assert accepted > 100


def test_the_judge() -> None:
    grammar = Grammar("pair = 1*2<[0-9]> ':' [ pair ]")
    assert grammar.accepts("pair", "1:22:")
    assert not grammar.accepts("pair", "1:222:")
    assert not grammar.accepts("pair", "1")


def test_lengths_of_mailboxes() -> None:
    engine = Engine(language("email"))
    label = "d" * 63
    assert engine.accepts("a" * 64 + "@" + ".".join([label] * 2))
    assert not engine.accepts("a" * 65 + "@x")
    assert not engine.accepts("a@" + "d" * 64)
    assert engine.accepts('"' + "a" * 62 + '"@x')
    assert not engine.accepts('"' + "a" * 63 + '"@x')
    assert engine.accepts("a@" + ".".join([label] * 3 + ["d" * 60]))
    assert not engine.accepts("a@" + ".".join([label] * 3 + ["d" * 61]))


def test_octets_of_mailboxes_beyond_ascii() -> None:
    engine = Engine(language("idn-email"))
    assert engine.accepts("é" * 32 + "@x")
    assert not engine.accepts("é" * 32 + "a@x")
    assert engine.accepts("漢@例え.テスト")
    assert not engine.accepts("漢@例え。テスト")


def test_octets_of_any_code_points() -> None:
    generator = random.Random("octets")
    engines = {most: Engine(most_octets(most)) for most in (15, 16, 17, 64, 254)}
    for _ in range(60):
        letters = generator.choice(["aé漢😀", "aaaaaaa😀", "é漢", "a\u07ff\u0800\uffff\U00010000\U0010ffff"])
        for most, engine in engines.items():
            text = ""
            while len(text.encode()) < most - 4:
                text += generator.choice(letters)
            for more in ("", "a", "é", "漢", "😀", "aé漢", "漢a", "é漢"):
                assert engine.accepts(text + more) == (len((text + more).encode()) <= most)


def test_mailboxes_of_most_octets() -> None:
    engine = Engine(language("idn-email"))
    label = "d" * 63
    host = ".".join([label] * 3)  # 191
    assert engine.accepts("a" + "漢" * 17 + "é" * 4 + "😀@" + label)  # 64 before the @
    assert not engine.accepts("é" + "漢" * 17 + "é" * 4 + "😀@" + label)
    assert engine.accepts("aa" + "漢" * 10 + "@" + host + ".d" * 15)
    assert engine.accepts("ééé" + "漢" * 10 + "@" + "d" * 60 + ".例え.テスト")
    assert engine.accepts("漢" * 20 + "é@" + host)  # 62 + 1 + 191
    assert not engine.accepts("漢" * 20 + "éa@" + host)


def language(name: str) -> object:
    expression = format_language(name)
    assert expression is not None
    return expression
