"""The drop-in for json_repair: what its documentation promises, and where its errors are typed."""

from __future__ import annotations

import io
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

import tokamata as tk
from tests.support.repair.library_cases import suite_cases
from tokamata.compat import json_repair, searches


def values(seed: str, count: int) -> list[Any]:
    """Random JSON values."""
    draw = random.Random(seed)

    def one(depth: int) -> Any:
        kind = draw.randrange(8 if depth else 5)
        if kind < 2:
            return "".join(draw.choice('ab ,:{}[]"\\\n/#é😀') for _ in range(draw.randrange(5)))
        if kind < 4:
            return draw.choice([0, -12, 1.5, 10**20, 1e-7, True, False, None])
        if kind == 4:
            return draw.choice([[], {}])
        if kind == 5:
            return [one(depth - 1) for _ in range(draw.randrange(4))]
        return {"".join(draw.choices("abc ", k=2)): one(depth - 1) for _ in range(draw.randrange(4))}

    return [one(3) for _ in range(count)]


@pytest.mark.parametrize("is_bytes", [False, True])
def test_valid_json_is_what_json_loads_makes_of_it(is_bytes: bool) -> None:
    texts = [json.dumps(value, ensure_ascii=False) for value in values("valid", 100)]
    texts += ['{"a": 1, "a": 2}', "[1e999, -1e999]", '{"a": "\\ud800"}', " true ", '""', "12"]
    for text in texts:
        assert json_repair.loads(text.encode() if is_bytes else text) == json.loads(text)
        assert json_repair.repair_json(text) == json.dumps(json.loads(text))
        assert json_repair.loads(text, logging=True) == (json.loads(text), [])
    assert math.isnan(json_repair.loads("NaN"))  # type: ignore[arg-type]


def test_json_test_suite() -> None:
    for name, text, is_json in suite_cases():
        if is_json:
            assert json_repair.loads(text) == json.loads(text), name


def test_of_names_that_stand_twice_the_last_one_counts() -> None:
    assert json_repair.loads('{"a": 1, "a": 2') == {"a": 2}
    assert json_repair.loads('{"a": {"x": }, "a": 1}') == {"a": 1}
    assert json_repair.loads('{"a":1,"a":2}', skip_json_loads=True) == {"a": 2}


@pytest.mark.parametrize(
    "text", ["", " ", "hello", "hello world", '"abc', "True", "// no", "12.", "}", "```json\n```", b"\xff"]
)
def test_a_text_without_brackets_has_no_value(text: str | bytes) -> None:
    assert json_repair.loads(text) == ""
    assert json_repair.repair_json(text) == ""
    assert json_repair.loads(text, logging=True) == ("", [])


def test_what_was_repaired_is_written_by_json_dumps() -> None:
    broken = "{'b': 'é', 'a': [1, 2,"
    assert json_repair.repair_json(broken) == '{"b": "\\u00e9", "a": [1, 2]}'
    assert json_repair.repair_json(broken, ensure_ascii=False) == '{"b": "é", "a": [1, 2]}'
    value = {"b": "é", "a": [1, 2]}
    options: dict[str, Any] = {"indent": 2, "sort_keys": True, "separators": (",", ":")}
    assert json_repair.repair_json(broken, **options) == json.dumps(value, **options)
    assert json_repair.repair_json(broken, return_objects=True) == value
    with pytest.raises(TypeError, match="nonsense"):
        json_repair.repair_json(broken, nonsense=1)


def test_a_member_without_a_value_has_an_empty_one() -> None:
    assert json_repair.loads('{"a": , "b": {"c": }, "d": 1}') == {"a": "", "b": {"c": ""}, "d": 1}
    assert json_repair.loads('{"a": ') == {"a": ""}
    assert json_repair.loads("[1, , 2") == [1, 2]


def test_the_log_has_what_was_done_and_where() -> None:
    broken = "{'a': [1, 2,, 3"
    value, log = json_repair.loads(broken, logging=True)  # type: ignore[misc]
    assert value == {"a": [1, 2, 3]}
    texts = [entry["text"] for entry in log]  # type: ignore[union-attr]
    assert texts[0].startswith("single quotes: ")
    assert "drop a doubled comma: ',' was removed" in texts
    assert texts[-1] == "inserted ']}'"
    for entry in log:  # type: ignore[union-attr]
        assert entry.keys() == {"text", "context"}
        assert entry["context"] in broken
        assert entry["context"]
    assert json_repair.repair_json('{"a": }', logging=True)[1][-1]["text"] == "no value of $.a: wrote ''"


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(b"\xef\xbb\xbf{'a': '\xc3\xa9', 'b': [1, 2}")
    expected = {"a": "é", "b": [1, 2]}
    assert json_repair.from_file(path) == json_repair.from_file(str(path), chunk_length=2) == expected
    with path.open("rb") as binary, path.open(encoding="utf-8") as text:
        assert json_repair.load(binary) == json_repair.load(text) == expected
    file = io.StringIO('{"stale": 1}\n{"a": }')
    file.seek(13)
    assert json_repair.load(file, skip_json_loads=True) == {"a": ""}
    assert json_repair.repair_json(json_fd=io.StringIO("[1,")) == "[1]"
    with pytest.raises(FileNotFoundError):
        json_repair.from_file(tmp_path / "none.json")


STRICT = [
    ('{"a": }', "lacks the value of $.a"),
    ('{"a" 1}', "lacks ':' at byte"),
    ('{"a": 1}{"b": 2}', "byte"),
    ('[{"a": 1, "a": 2},]', "a repeated name"),
    ('{"": 1,}', "an empty name"),
    ("[1]]", "']]' in excess at byte 2"),
]


@pytest.mark.parametrize(("text", "reason"), STRICT)
def test_strict_refuses(text: str, reason: str) -> None:
    with pytest.raises(tk.ArgumentError, match="strict=True admits") as caught:
        json_repair.loads(text, strict=True)
    assert reason in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert json_repair.loads(text) is not None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': 1, b: True,}", {"a": 1, "b": True}),
        ('Here: {"a": [1, 2}', {"a": [1, 2]}),
        ('{"a": 1, // one\n"b": "x"', {"a": 1, "b": "x"}),
        ('{"a": 1, "a": 2}', {"a": 2}),
    ],
)
def test_strict_repairs_dialects(text: str, value: Any) -> None:
    assert json_repair.loads(text, strict=True) == value


def test_arguments_are_checked() -> None:
    for function, arguments, reason in (
        (json_repair.loads, ([1],), "json_str must be a str, or bytes, not list"),
        (json_repair.load, (1,), "fd must be a file that can be read, not 1"),
        (json_repair.from_file, (1,), "filename must be a path, not 1"),
        (json_repair.repair_json, ("", 1), "return_objects must be True or False, not 1"),
        (json_repair.loads, ("", "no"), "skip_json_loads must be True or False, not 'no'"),
    ):
        with pytest.raises(tk.ArgumentError, match=reason):
            function(*arguments)  # type: ignore[operator]
    for options, reason in (
        ({"logging": 1}, "logging must be True or False"),
        ({"stream_stable": None}, "stream_stable must be True or False"),
        ({"strict": 1}, "strict must be True or False"),
        ({"schema": "{}"}, "schema must be a JSON Schema, or a model of pydantic 2"),
        ({"schema": int}, r"tokamata.type\(…\).repair"),
        ({"schema": {}, "strict": True}, "strict must be False with a schema"),
        ({"schema_repair_mode": "salvage"}, "pass schema="),
        ({"schema": {}, "schema_repair_mode": "x"}, "schema_repair_mode must be"),
        ({"limits": 5}, "limits must be"),
        ({"cancel": 5}, "cancel must be"),
    ):
        with pytest.raises(tk.ArgumentError, match=reason):
            json_repair.loads("{", **options)  # type: ignore[arg-type]
    with pytest.raises(tk.ArgumentError, match="chunk_length"):
        json_repair.load(io.StringIO("{"), chunk_length=-1)


def test_bounds_hold() -> None:
    cancel = tk.CancelToken()
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        json_repair.loads("[1, 2", cancel=cancel)
    with pytest.raises(tk.LimitExceeded):
        json_repair.loads('["a": b "c" d] }' * 2000, limits=tk.Limits(seconds=0.01))


@pytest.mark.parametrize(
    "text",
    ["[" * 300, "[1" + "0" * 5000, '{"a": "\ud800', "[\ufffe\udc00", '{"\ud83d\ude00": 1', "[" + "]" * 3000],
)
def test_texts_of_strangers(text: str) -> None:
    """A value, or an error that is typed."""
    try:
        value = json_repair.loads(text)
    except (tk.ParseError, tk.LimitExceeded):
        return
    assert isinstance(value, (dict, list))


def test_a_text_that_takes_longer_has_the_first_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "_WEIGHTS", ((2.0, 0.0), (5.0, 0.0)))
    value = [{"a": number, "b": [str(number)]} for number in range(2000)]
    assert json_repair.loads(json.dumps(value)[:-1]) == value


def test_halves_of_surrogate_pairs() -> None:
    assert json_repair.loads('{"a": "x\ud800y"') == {"a": "x\ufffdy"}
    assert json_repair.loads('{"a": "\ud83d\ude00"') == {"a": "😀"}
