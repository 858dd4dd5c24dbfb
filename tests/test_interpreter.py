"""Signals, the end of the interpreter and forks while the engine works.

Each test runs a program in a process of its own.  No time is asserted: a call that did not end would take as
long as its limits allow, far beyond the time that the process has.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
needs_kill = pytest.mark.skipif(os.name != "posix", reason="this system sends no signals to a thread")

HEAD = """
import atexit, json, os, random, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent may ignore it
import tokamata as tk

vocabulary = tk.Vocabulary.load([*(bytes([value]) for value in range(256)), None], stop=[256])
limits = tk.Limits(seconds=1_000, states=10**9, memory_bytes=8 << 30)
endless = tk.regex("(?=.*ab.{60}$)(?=.*ba.{60}$)(?=.*aab.{60}$)[ab]*")

def interrupt(after=0.3):
    threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
"""


def run(program: str, timeout: float = 100) -> str:
    """What the program prints; it has to end with status 0."""
    source = HEAD + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout


LONG_CALLS = {
    "compile": "endless.compile(vocabulary, limits=limits)",
    "shortest_text": "endless.shortest_text(limits=limits)",
    "repair": "tk.json().repair(broken, weight=1.0, costs=tk.EditCosts(), limits=limits)",
    "repairs": "list(tk.json().repairs(broken, weight=1.0, costs=tk.EditCosts(), limits=limits))",
}
# By edits of single bytes alone, its repair takes more time than there is.
BROKEN = "broken = ''.join(random.Random(1).choices('[]{}\":,a1 ', k=2000))\n"


@needs_kill
@pytest.mark.parametrize("name", LONG_CALLS)
def test_ctrl_c_ends_a_call(name: str) -> None:
    printed = run(
        BROKEN
        + f"""
interrupt()
try:
    {LONG_CALLS[name]}
except KeyboardInterrupt:
    print("interrupted")
print(tk.regex("[a-z]").compile(vocabulary).matcher().advance(97), tk.json().repair("[1").text)
"""
    )
    assert printed == "interrupted\nTrue [1]\n"


MATCHERS = """
deep = "(?=.*ab.{60}$)(?=.*ba.{60}$)[ab]*"
def matcher(number):
    # Compiling finds a text at once; the first mask searches what cannot be accepted.
    global compiled
    pattern = tk.regex(f"x{number}(" + deep + ")|[a-z0-9]y")
    compiled = pattern.compile(vocabulary, limits=limits)
    return compiled.matcher()
"""


@needs_kill
@pytest.mark.parametrize("threads", [1, 3])
def test_ctrl_c_ends_a_batch_on_threads_and_matchers_are_as_they_were(threads: int) -> None:
    printed = run(
        MATCHERS
        + f"""
matchers = [matcher(number) for number in range(4)]
for number, one in enumerate(matchers):
    assert one.advance(ord("x"))
mask = compiled.allocate_mask(4)
interrupt()
try:
    tk.fill_masks(matchers, mask, threads={threads})
except KeyboardInterrupt:
    print("interrupted")
print([bytes(one.text) for one in matchers], [one.advance(ord("y")) for one in matchers])
"""
    )
    assert printed == f"interrupted\n{[b'x'] * 4} {[True] * 4}\n"


@needs_kill
def test_ctrl_c_ends_the_wait_for_a_constraint_on_which_another_thread_works() -> None:
    printed = run(
        MATCHERS
        + """
one = matcher(1)
one.advance(ord("x"))
other = one.fork()
cancel = tk.CancelToken()
threading.Thread(target=lambda: one.advance(ord("1")) and one.mask, daemon=True).start()
time.sleep(0.3)
interrupt()
try:
    other.mask
except KeyboardInterrupt:
    print("interrupted")
"""
    )
    assert printed == "interrupted\n"


@needs_kill
def test_ctrl_c_ends_reading_by_lark() -> None:
    printed = run(
        """
        grammar = tk.grammar("start: /a/ start |")
        interrupt()
        try:
            grammar.parse("a" * 5_000, limits=limits)
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    assert printed == "interrupted\n"


@needs_kill
def test_a_handler_that_returns_does_not_end_the_call() -> None:
    printed = run(
        """
        signal.signal(signal.SIGINT, lambda *_: print("handled", flush=True))
        interrupt(0.1)
        try:
            endless.compile(vocabulary, limits=tk.Limits(seconds=1.0, states=10**9, memory_bytes=8 << 30))
        except tk.LimitExceeded as error:
            print(error.limit)
        """
    )
    assert printed == "handled\nseconds\n"


@needs_kill
def test_a_handler_can_use_other_constraints_but_not_the_one_of_the_call() -> None:
    printed = run(
        MATCHERS
        + """
one = matcher(1)
one.advance(ord("x"))
other = one.fork()

def handle(*_):
    print(tk.regex("[a-z]").compile(vocabulary).matcher().advance(97))
    try:
        other.advance(ord("1")) and other.mask
    except tk.BusyError as error:
        print("busy", error.pattern.startswith("x1("))
    raise SystemExit(0)

signal.signal(signal.SIGINT, handle)
interrupt()
one.advance(ord("1")) and one.mask
print("not interrupted")
"""
    )
    assert printed == "True\nbusy True\n"


@pytest.mark.parametrize("attempt", range(3))
def test_the_process_ends_while_threads_are_in_the_engine(attempt: int) -> None:
    printed = run(
        """
        def compile():
            while True:
                try:
                    endless.compile(vocabulary, limits=tk.Limits(seconds=0.2))
                except tk.TokamataError:
                    pass

        def short_calls():
            compiled = tk.json().compile(vocabulary)
            while True:
                compiled.matcher().advance_all(b"[1, 2, 3]")
                tk.json().parse("[1, 2]")

        atexit.register(lambda: print(tk.regex("a+").compile(vocabulary).matcher().advance(97)))
        for work in (compile, compile, short_calls, short_calls):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.3)
        print("leaving")
        """
    )
    assert printed == "leaving\nTrue\n"


def test_a_callback_at_the_very_end_can_use_the_engine() -> None:
    """One that was registered before tokamata was imported is called after its own."""
    source = (
        "import atexit\n"
        "atexit.register(lambda: print(tk.regex('a+').shortest_text(), tk.json().parse('[1]')))\n"
        "import tokamata as tk\n"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "a [1]\n"), done.stderr


@needs_fork
def test_a_forked_process_never_waits_for_a_thread_that_it_does_not_have() -> None:
    printed = run(
        """
        import faulthandler
        constraints = [tk.regex("(?=.*a.{%d}b)[ab]*" % i).compile(vocabulary) for i in range(8, 14)]
        idle = tk.json().compile(vocabulary)
        waiting = idle.matcher()
        waiting.advance_all(b"[1")

        def work():
            while True:
                matchers = [one.matcher() for one in constraints]
                for one in matchers:
                    one.advance_all([random.choice(b"ab") for _ in range(10)])
                tk.fill_masks(matchers, constraints[0].allocate_mask(len(matchers)), threads=3)
                tk.Vocabulary.load([b"a", b"b"], stop=[1]).core

        def child():
            for one in constraints:
                try:
                    matcher = one.matcher()
                    assert matcher.advance_all(b"ab")
                    assert matcher.mask[97 // 32] >> 97 % 32 & 1
                except tk.ForkError as error:
                    assert error.pattern == one.pattern
            assert waiting.advance_all(b"]") and waiting.is_accepting
            fresh = tk.Vocabulary.load([b"a", b"b", None], stop=[2])
            assert tk.regex("a+").compile(fresh).matcher().advance(0)
            assert tk.json().repair("[1").text == "[1]"

        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.3)
        ends = []
        for _ in range(12):
            pid = os.fork()
            if pid == 0:
                faulthandler.dump_traceback_later(30, exit=True)
                try:
                    child()
                    os._exit(0)
                except BaseException as error:
                    print(repr(error), flush=True)
                    os._exit(3)
            ends.append(os.waitpid(pid, 0)[1])
        print(ends)
        """
    )
    assert printed == f"{[0] * 12}\n"


@needs_fork
def test_what_was_half_changed_raises_in_the_child_and_its_copies_can_go() -> None:
    printed = run(
        MATCHERS
        + """
import gc
one = matcher(1)
one.advance(ord("x"))
compiled = tk.regex("[a-z]+").compile(vocabulary)
threading.Thread(target=lambda: one.advance(ord("1")) and one.mask, daemon=True).start()
time.sleep(0.3)
pid = os.fork()
if pid == 0:
    try:
        one.mask
    except tk.ForkError as error:
        print(str(error)[:60], flush=True)
    print(compiled.matcher().advance(97), flush=True)
    del one
    gc.collect()
    sys.stdout.flush()
    os._exit(0)
print(os.waitpid(pid, 0)[1])
"""
    )
    assert printed == "the process was forked while another thread worked on 'x1((?\nTrue\n0\n"
