"""The grammars and texts of llguidance's own tests (test_lark.rs): its verdicts, and where ours differ."""

from __future__ import annotations

import json

import pytest

import tokamata as tk
from tests.support.matchers import takes
from tests.support.paths import ROOT
from tests.support.vocabularies import BYTE_VOCABULARY

FILE = ROOT / "tests/data/grammars/llguidance/test_lark.json"
CASES = {case["name"]: case for case in json.loads(FILE.read_text("utf-8"))["cases"]}

# Grammars that we refuse, by the beginning of their name, and what the error says.
REFUSED = {
    "parametric_": "parametric rules",
    # Sets of ids with text tokens among them: tokens of texts are written as texts.
    "lark_syntax_general_27": "is text",
    "lark_syntax_general_35": "only control tokens can be left out",
    "lark_syntax_general_36": "only control tokens can be left out",
}
# Grammars that it refuses and we read: schemas that we support.
SUPPORTED = {
    "lark_syntax_perc_4": "if without then",
    "json_pattern_properties_1": "patterns of names that overlap",
    "json_pattern_properties_2": "patterns of names that overlap",
    "json_pattern_properties_3": "patterns of names that overlap",
    "json_min_max_properties_1": "bounds on the number of optional properties",
    "json_min_max_properties_2": "bounds on the number of optional properties",
}
# Texts of another verdict, by the beginning of the name of the grammar.
OTHER_VERDICTS = {
    "json_dw_pattern_3": "we write what is not ASCII as an escape too, also in a pattern",
    "json_general_unicode_escapes_are_opt_in_1": "escapes of what is not ASCII need no option",
    "json_general_unicode_escapes_do_not_change_regex_constraints_": "in patterns and constants too",
    "json_general_unicode_escapes_respect_allowed_escapes_": "its options in a schema are annotations to us",
}


def reason_of(name: str, reasons: dict[str, str]) -> str | None:
    return next((reason for begin, reason in reasons.items() if name.startswith(begin)), None)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "error" in case])
def test_what_it_refuses_is_refused(name: str) -> None:
    if name in SUPPORTED:
        tk.grammar(CASES[name]["source"])
        return
    with pytest.raises(tk.TokamataError):
        tk.grammar(CASES[name]["source"]).compile(BYTE_VOCABULARY)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "error" not in case])
def test_its_verdicts_are_ours(name: str) -> None:
    case = CASES[name]
    if (reason := reason_of(name, REFUSED)) is not None:
        with pytest.raises((tk.GrammarError, tk.UnknownTokenError), match=reason):
            tk.grammar(case["source"]).compile(BYTE_VOCABULARY)
        return
    matcher = tk.grammar(case["source"]).compile(BYTE_VOCABULARY).matcher()
    verdicts = {text: takes(matcher, text.encode()) for text in case["accepts"] + case["rejects"]}
    other = {text for text, is_text in verdicts.items() if is_text != (text in case["accepts"])}
    assert bool(other) == (reason_of(name, OTHER_VERDICTS) is not None), other
    for text in case["unfinished"]:  # a text begins like this, and none ends here
        fork = matcher.fork()
        assert all(map(fork.advance, text.encode()))
        assert not fork.is_accepting, text


def test_the_cases_are_complete() -> None:
    """168 grammars, 73 of which llguidance refuses, with some 400 texts."""
    texts = sum(
        len(case.get(kind, ())) for case in CASES.values() for kind in ("accepts", "rejects", "unfinished")
    )
    assert (len(CASES), sum("error" in case for case in CASES.values())) == (168, 73)
    assert texts > 380
