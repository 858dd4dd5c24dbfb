"""Bars of work that takes long: where they appear, and where they do not."""

from __future__ import annotations

import functools
import io
import sys
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import tokamata as tk
from tokamata.display import progress
from tokamata.display.progress import late_bar

pytestmark = pytest.mark.usefixtures("plain_terminal")


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error is a terminal, and all that takes a moment is late."""
    made = Terminal()
    # Not in `sys` itself, which pytest sets anew between the fixtures and the test.
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=made, modules=sys.modules))
    monkeypatch.setattr(progress, "LATE_S", 0.0)
    monkeypatch.setattr(progress, "_REFRESH_S", 0.005)
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    return made


def until(seen: Callable[[], bool]) -> None:
    """Wait for the thread of the bar."""
    for _ in range(2000):
        if seen():
            return
        time.sleep(0.005)
    pytest.fail("no bar was drawn")


def bars() -> int:
    """How many threads of bars there are."""
    return sum(thread.name == "tokamata bar" for thread in threading.enumerate())


def test_a_bar_asks_how_much_is_done(terminal: Terminal) -> None:
    count = 0
    with late_bar("working", 4, lambda: count):
        until(lambda: "working" in terminal.getvalue() and "0%" in terminal.getvalue())
        count = 3
        until(lambda: "75%" in terminal.getvalue())
    assert terminal.getvalue().endswith("\x1b[2K")  # taken away
    assert bars() == 0
    with late_bar("again"):
        assert bars() == 1
        until(lambda: "again" in terminal.getvalue())
    assert bars() == 0


def test_the_bar_ends_with_an_error(terminal: Terminal) -> None:
    def fail() -> None:
        with late_bar("working"):
            until(lambda: "working" in terminal.getvalue())
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert bars() == 0
    assert terminal.getvalue().endswith("\x1b[2K")


def test_one_bar_at_a_time(terminal: Terminal) -> None:
    with late_bar("outer"):
        until(lambda: "outer" in terminal.getvalue())
        with late_bar("inner"):
            time.sleep(0.1)
    assert "inner" not in terminal.getvalue()


def no_bar(terminal: Terminal) -> None:
    with late_bar("working"):
        assert bars() == 0
    assert terminal.getvalue() == ""


def test_none_for_files_and_pipes(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "isatty", lambda: False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    no_bar(terminal)
    monkeypatch.setattr(progress.sys, "stderr", None)  # as in programs without a console
    no_bar(terminal)


def test_none_where_bars_are_off(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TQDM_DISABLE", "1")
    no_bar(terminal)


def test_none_without_rich(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    no_bar(terminal)


def test_none_where_the_work_is_short(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LATE_S", 60.0)
    with late_bar("working"):
        pass
    assert terminal.getvalue() == ""


def test_notebooks_have_bars_where_rich_can_draw_them(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "isatty", lambda: False)
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    monkeypatch.setattr(progress, "find_spec", lambda name: None if name == "ipywidgets" else sys)
    no_bar(terminal)
    monkeypatch.setattr(progress, "find_spec", lambda name: sys)
    assert progress._can_show()


class Slow:
    """A function that waits for the bar in its first call."""

    def __init__(self, terminal: Terminal, what: str, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)  # hosts ask for the signature
        self._terminal, self._what, self._function = terminal, what, function
        self.calls = 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.calls += 1
        until(lambda: self._what in self._terminal.getvalue())
        return self._function(*args, **options)


def test_several_prompts(
    terminal: Terminal, model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(terminal, "generating", model.forward)
    monkeypatch.setattr(model, "forward", slow)
    results = tk.generate(model, tokenizer, ["x", "y"], tk.regex("[0-9]{6}"), seed=1)
    assert [len(result.text) for result in results] == [6, 6]
    assert slow.calls > 0
    written = terminal.getvalue()
    tk.generate(model, tokenizer, "x", tk.regex("[0-9]{3}"))
    assert terminal.getvalue() == written  # a single text has no bar


def test_samples(terminal: Terminal, model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "forward", Slow(terminal, "sampling", model.forward))
    assert len(tk.sample(model, tokenizer, "x", tk.regex("[0-9]"), 3, seed=1)) == 3


def test_preparing_masks(terminal: Terminal, byte_vocabulary: tk.Vocabulary) -> None:
    compiled = tk.json(max_depth=3).compile(byte_vocabulary)
    core = compiled._core

    class Waits:
        prepare = Slow(terminal, "preparing masks", core.prepare)

    compiled._core = Waits()
    assert compiled.prepare(seconds=0.1).masks > 0
