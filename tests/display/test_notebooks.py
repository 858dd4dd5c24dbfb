"""What notebooks show: well-formed HTML of bounded size; texts stay texts; nothing comes from elsewhere."""

from __future__ import annotations

import html.parser
import math
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch

import tokamata as tk
from tests.support.models.fakes import Constant, byte_level, preferring, token_id
from tests.support.models.small_models import small_model
from tests.support.vocabularies import BYTES
from tokamata.decoding.results import Timing
from tokamata.decoding.token_spans import token_spans
from tokamata.display import html as pieces

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&<b>\x1b[31m</pre></div>"
ELEMENTS = {"div", "pre", "span"}
ATTRIBUTES = {"style", "title"}
TOKENIZER = byte_level(["t h", "th e", "o n", "on e", "1 2"])
VOCABULARY = tk.Vocabulary.load([*BYTES, None], stop=[256])
MOST_BYTES = 400_000


class Page(html.parser.HTMLParser):
    """The text of a page; its elements are closed in their order, and none is but those of ``ELEMENTS``."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text, self.titles, self._open = "", list[str](), list[str]()
        self.styles: list[str] = []
        self.feed(source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ELEMENTS
        for name, value in attrs:
            assert name in ATTRIBUTES
            assert value is not None
            (self.titles if name == "title" else self.styles).append(value)
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        raise AssertionError(tag)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def page_of(shown: Any) -> Page:
    source = shown._repr_html_()
    assert type(source) is str
    assert len(source.encode()) < MOST_BYTES
    page = Page(source)
    for style in page.styles:
        assert "url" not in style
        assert "expression" not in style
    assert "http" not in source.replace(html.escape(HOSTILE), "")
    return page


def generation(text: str, pieces: list[tuple[bytes, float]], **more: Any) -> tk.Generation[Any]:
    return tk.Generation(
        text=text,
        tokens=[0] * len(pieces),
        stop_token=None,
        log_probability=sum(share for _, share in pieces),
        finish_reason="complete",
        prompt_tokens=[0],
        healed="",
        jumped=0,
        timing=Timing(),
        _pieces=tuple(pieces),
        **more,
    )


def abstention(partial: str, closing: str | None) -> tk.Abstention:
    return tk.Abstention("deadline", f"no time for {partial}", 0, partial, [1], closing, [0], (), Timing())


def broken(text: str) -> tk.Repair[Any]:
    return tk.json().repair(text)


SHOWN: dict[str, Callable[[], Any]] = {
    "generation": lambda: generation(HOSTILE, [(HOSTILE.encode(), -1.0)]),
    "generation without tokens": lambda: generation(HOSTILE, []),
    "abstention": lambda: abstention(HOSTILE, HOSTILE),
    "abstention without a completion": lambda: abstention(HOSTILE, None),
    "repair": lambda: broken(f'["{HOSTILE}'.replace("\x1b", "")),
    "repair of nothing": lambda: broken("[]"),
    "explanation": lambda: tk.literal("a").compile(VOCABULARY).matcher().explain(ord("<")),
    "allowed": lambda: tk.literal("<").compile(VOCABULARY).matcher().explain(ord("<")),
    "stop": lambda: tk.literal("<").compile(VOCABULARY).matcher().explain(256),
    "matcher": lambda: advanced(tk.literal(HOSTILE), HOSTILE.encode()[:40]),
    "compiled": lambda: tk.literal(HOSTILE).compile(VOCABULARY),
    "constraint": lambda: tk.literal(HOSTILE),
    "regex": lambda: tk.regex(r"<b>[\"']&amp;"),
    "json": lambda: tk.json_schema({"const": HOSTILE}),
    "sequence": lambda: tk.literal(HOSTILE) + tk.literal("<i>"),
    "type": lambda: tk.type(dict[str, int]),
}


def advanced(constraint: tk.Constraint[Any], text: bytes) -> tk.Matcher:
    matcher = constraint.compile(VOCABULARY).matcher()
    assert matcher.advance_all(list(text))
    return matcher


@pytest.mark.parametrize("name", SHOWN)
def test_texts_are_escaped(name: str) -> None:
    page_of(SHOWN[name]())


def test_what_is_shown_of_a_text() -> None:
    page = page_of(SHOWN["generation"]())
    assert HOSTILE.replace("\x1b", "␛") in page.text
    assert HOSTILE.replace("\x1b", "␛") in page_of(SHOWN["generation without tokens"]()).text
    assert page.titles == ["probability 0.3679"]
    assert "1 token · complete · log-probability -1.00" in page.text


def test_an_abstention_says_what_was_missing() -> None:
    page = page_of(abstention('{"a": ', "1}"))
    assert page.text.startswith("no text: deadline · 1 token")
    assert '{"a": 1}' in page.text
    assert page.text.endswith('✗ no time for {"a": ')
    assert page.titles == ["the shortest completion, which was not written"]


def test_tokens_and_their_probabilities() -> None:
    model = small_model(len(TOKENIZER), eos=0)
    result = tk.generate(model, TOKENIZER, "x", tk.regex("(the|one)[0-9]{3}é"), seed=1)
    page = page_of(result)
    assert result.text in page.text.replace("\n", "")
    assert len(page.titles) <= len(result.tokens)
    shares = [float(share) for title in page.titles for share in title.split("; ")[0][12:].split(", ")]
    product = 1.0
    for share in shares:
        product *= share
    assert len(shares) == len(result.tokens)
    assert product == pytest.approx(2.718281828**result.log_probability, rel=1e-2)
    assert page_of(pickle.loads(pickle.dumps(result))).titles == page.titles


def test_less_probable_tokens_are_redder() -> None:
    def redness(log_probability: float) -> float:
        [shown] = token_spans("a", [(b"a", log_probability)], ())
        style = Page(shown).styles[0]
        return float(style.split(",")[3].split(")")[0]) if "background" in style else 0.0

    grounds = [redness(share) for share in (0.0, -0.1, -1.0, -4.0, -9.0, -99.0, -float("inf"))]
    assert grounds == sorted(grounds)
    assert grounds[0] == 0.0
    assert grounds[-1] == grounds[-2] == 0.6


def test_a_code_point_in_several_tokens_is_shown_once() -> None:
    spans = list(token_spans("aé!", [(b"a\xc3", -1.0), (b"\xa9", -2.0), (b"!", 0.0)], ()))
    assert [Page(one).text for one in spans] == ["a", "é", "!"]
    alone = list(token_spans("é", [(b"\xc3", -1.0), (b"\xa9", -2.0)], ()))
    assert [(Page(one).text, Page(one).titles) for one in alone] == [("é", ["probability 0.3679, 0.1353"])]


def test_stop_texts_are_left_out() -> None:
    spans = list(token_spans("ab", [(b"a", 0.0), (b"b STO", 0.0), (b"P", 0.0)], ()))
    assert [Page(one).text for one in spans] == ["a", "b"]


def test_parts_that_the_model_did_not_draw() -> None:
    logits = torch.full((len(TOKENIZER),), -math.inf)
    logits[token_id(TOKENIZER, "the")] = 0.0
    result = tk.generate(Constant(logits), TOKENIZER, "x", tk.regex("the[0-9]"), policy=tk.Policy())
    assert isinstance(result, tk.Generation)
    assert result.switches
    page = page_of(result)
    assert any("the model's logits leave no token" in title for title in page.titles)
    assert any("dashed" in style for style in page.styles)
    unmarked = page_of(generation("the", [(b"the", 0.0)]))
    assert not any("dashed" in style for style in unmarked.styles)


def test_a_repaired_text_shows_both() -> None:
    def refuse_short(value: Any) -> bool:
        return bool(value != [])

    result = tk.generate(
        preferring(len(TOKENIZER), token_id(TOKENIZER, "["), token_id(TOKENIZER, "]")),
        TOKENIZER,
        "x",
        tk.json_schema({"enum": [[], [1]]}),
        validators=[refuse_short],
        policy=tk.Policy(),
        greedy=True,
    )
    assert isinstance(result, tk.Generation)
    assert result.repair is not None
    page = page_of(result)
    assert "[]" in page.text
    assert "2 edits" in page.text


def test_the_difference_of_a_repair() -> None:
    page = page_of(broken('{"a": 1, b: 2'))
    assert "proven optimal" in page.text
    assert '{"a": 1, ' in page.text
    assert {"removed", "written"} & {
        {pieces.REMOVED: "removed", pieces.WRITTEN: "written"}.get(style, "") for style in page.styles
    }
    assert "0 edits, cost 0, proven optimal" in page_of(broken("[]")).text


def test_an_explanation_shows_the_byte() -> None:
    vocabulary = tk.Vocabulary.load([*BYTES, None, b"ab<"], stop=[256])
    explanation = tk.regex("ab[a-c]").compile(vocabulary).matcher().explain(257)
    page = page_of(explanation)
    assert str(explanation) in page.text
    spans = Page(explanation._repr_html_())
    assert pieces.REMOVED in spans.styles
    assert page_of(SHOWN["allowed"]()).text.startswith("token 60: allowed✓ <")


def test_matchers() -> None:
    matcher = advanced(tk.regex("ab?"), b"a")
    assert "✓ accepted" in page_of(matcher).text
    assert "1 token" in page_of(matcher).text
    assert matcher.advance(ord("b"))
    assert "nothing can follow" in page_of(matcher).text
    assert "✗ not complete" in page_of(tk.regex("ab?").compile(VOCABULARY).matcher()).text


def test_huge_texts_are_bounded() -> None:
    many = [(b"word<", -2.0)] * 10_000
    page = page_of(generation("word<" * 10_000, many))
    assert "9,400 tokens" in page.text
    assert page.text.count("word<") == 600
    page_of(generation("<" * 1_000_000, []))
    page_of(generation("<" * 1_000_000, [(b"<" * 1000, -1.0)] * 1000))
    page_of(tk.literal("<" * 100_000))
    page_of(advanced(tk.regex("<*"), b"<" * 20_000))
    page_of(tk.regex("<" * 20_000).compile(VOCABULARY))
    page_of(broken("[" + "1 " * 3000))
    page_of(tk.literal("a").repair("b" * 12_000))


def test_of_many_edits_the_first_are_shown() -> None:
    repair = tk.json().repair("[" + ",".join(["'a'"] * 400) + "]")
    page = page_of(repair)
    assert len(repair.edits) > 150
    assert "more edits" in page.text
    removed = tk.literal("a").repair("b" * 12_000)
    assert "12,001 edits, " in page_of(removed).text
