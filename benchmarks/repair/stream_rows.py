"""Texts that arrive in pieces: what following them costs, and what is reported before the end.

json_repair and partial-json-parser parse all that has arrived again with each piece; parse-broken-json goes
on where it was, and says that what it shows is final.  What a peer shows of a text is compared with what it
shows of the whole.
"""

from __future__ import annotations

import importlib
import json
import random
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import json_repair

import tokamata as tk
from benchmarks.common.program import progress, say
from benchmarks.common.report import Report, Target
from benchmarks.repair.corruptions import STRUCTURE
from benchmarks.repair.engines import OURS
from benchmarks.repair.instances import Instance, drawn_cases

__all__ = ["add_followed_texts"]

_PIECE = 20
_LONGEST_OF_PEERS = 10_000  # bytes: they take quadratic time
_RUNS = 3
_LIMITS = tk.Limits(memory_bytes=1 << 32)  # rewrites of a megabyte
Peer = Callable[[str], Iterator[Any]]
"""What it shows of a text after each piece, and at the end."""


def add_followed_texts(report: Report, instances: list[Instance], options: Namespace, count: int) -> None:
    """Both tables."""
    peers = _peers()
    sizes = (1_000, 10_000, 100_000) if options.quick else (1_000, 10_000, 100_000, 1_000_000)
    rows = [_times(size, peers) for size in sizes]
    notes = [
        f"pieces of {_PIECE} bytes; tokamata reports its events after each, and repairs the whole at the end",
        "prose, a fence, single quotes and a comma at the end; medians of runs that take turns",
    ]
    report.add("Texts that arrive in pieces, ms", rows, notes)
    hundred = next(row for row in rows if row["bytes"] > 90_000)
    report.targets.append(Target("100 kB in pieces, times repair at once", hundred["ratio"], 3.0, "×"))
    _add_finality(report, instances, options, peers, count)


def _peers() -> dict[str, Peer]:
    peers: dict[str, Peer] = {
        "json_repair": _read_again(lambda text: json_repair.loads(text, stream_stable=True))
    }
    for package, module in (
        ("partial-json-parser", "partial_json_parser"),
        ("parse-broken-json", "parse_broken_json"),
    ):
        try:
            found = importlib.import_module(module)
        except ImportError:
            say(f"{package} is not installed: its figures are left out")
            continue
        peers[package] = (
            _read_again(found.loads) if module == "partial_json_parser" else _fed(found.StreamParser)
        )
    return peers


def _read_again(parse: Callable[[str], Any]) -> Peer:
    def shown(text: str) -> Iterator[Any]:
        for end in (*range(_PIECE, len(text), _PIECE), len(text)):
            try:
                yield parse(text[:end])
            except Exception:  # what a peer raises is not known; it has nothing to show then
                yield None

    return shown


def _fed(parser: Callable[[], Any]) -> Peer:
    def shown(text: str) -> Iterator[Any]:
        one = parser()
        for piece in _pieces(text):
            one.feed(piece)
            yield one.value
        yield one.finish().value

    return shown


def _text(size: int) -> str:
    draw = random.Random(size)
    rows: list[dict[str, Any]] = []
    length = 0
    while length < size:
        name = "".join(draw.choices("abcdefgh ijkl", k=draw.randrange(4, 30)))
        tags = draw.choices(["red", "green", "blue"], k=draw.randrange(4))
        row = {
            "id": draw.randrange(10**6),
            "name": name,
            "tags": tags,
            "on": draw.random() < 0.5,
            "note": None,
        }
        rows.append(row)
        length += len(json.dumps(row)) + 2
    broken = json.dumps({"rows": rows}).replace('"id"', "'id'", 1)
    return f"Here it is:\n```json\n{broken[:-1]},}}\n```"


def _pieces(text: str) -> Iterator[str]:
    for at in range(0, len(text), _PIECE):
        yield text[at : at + _PIECE]


def _times(size: int, peers: dict[str, Peer]) -> dict[str, Any]:
    constraint, text = tk.json(), _text(size)
    found: dict[str, list[float]] = {"repair at once": [], "following": [], "whole stream": []}
    for _ in range(_RUNS):
        start = time.perf_counter()
        constraint.repair(text, limits=_LIMITS)
        found["repair at once"].append(time.perf_counter() - start)
        start = time.perf_counter()
        stream = constraint.repair_stream(limits=_LIMITS)
        for piece in _pieces(text):
            stream.feed(piece)
            stream.events()
        found["following"].append(time.perf_counter() - start)
        stream.finish()
        found["whole stream"].append(time.perf_counter() - start)
        for name, shown in peers.items() if size <= _LONGEST_OF_PEERS else ():
            start = time.perf_counter()
            for _ in shown(text):
                pass
            found.setdefault(name, []).append(time.perf_counter() - start)
    ms = {name: round(1e3 * sorted(times)[len(times) // 2], 2) for name, times in found.items()}
    ratio = round(ms["whole stream"] / max(ms["repair at once"], 0.01), 2)
    return {"bytes": len(text), **ms, "ratio": ratio}


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _leaves(one, f"{path}/{name}")
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _leaves(one, f"{path}/{number}")
    else:
        yield path, json.dumps(value, default=str)


def _add_finality(
    report: Report, instances: list[Instance], options: Namespace, peers: dict[str, Peer], count: int
) -> None:
    """Of the values of the end: how many were reported, or shown, before; and how many others were."""
    constraint = tk.json(whitespace="any", spelling="any")
    totals: dict[str, Counter[str]] = {name: Counter() for name in (OURS, *peers)}
    cases = drawn_cases([(kind,) for kind in STRUCTURE], instances, count, f"{options.seed} streams")
    with progress("texts in pieces", len(cases)) as step:
        for corruption, _ in cases:
            text = corruption.broken
            _count_ours(constraint, text, totals[OURS])
            for name, shown in peers.items():
                _count_peer(shown, text, totals[name])
            step(corruption.kind)
    rows = [
        {
            "engine": name,
            "texts": total["texts"],
            "values at the end": total["end"],
            "there before the end %": round(100 * total["early"] / max(total["end"], 1), 1),
            "others, that did not stay %": round(100 * total["wrong"] / max(total["shown"], 1), 1),
            "texts with such %": round(100 * total["texts with wrong"] / max(total["texts"], 1), 1),
        }
        for name, total in totals.items()
    ]
    notes = [
        "values: strings, numbers and literals.  tokamata: those that were reported as final",
        "peers: all that they showed after any piece, but for the last value, which may be going on",
    ]
    report.add("What is there before the end", rows, notes)


def _add(total: Counter[str], shown: set[tuple[str, str]], end: set[tuple[str, str]]) -> None:
    total["texts"] += 1
    total["end"] += len(end)
    total["early"] += len(shown & end)
    total["shown"] += len(shown)
    total["wrong"] += len(shown - end)
    total["texts with wrong"] += bool(shown - end)


def _count_ours(constraint: tk.Constraint[Any], text: str, total: Counter[str]) -> None:
    stream = constraint.repair_stream()
    shown: set[tuple[str, str]] = set()
    for piece in _pieces(text):
        stream.feed(piece)
        for event in stream.events():
            if not isinstance(event.value, (dict, list)):
                shown.add((_path(event.pointer), json.dumps(event.value)))
    _add(total, shown, set(_leaves(json.loads(stream.finish().text))))


def _path(pointer: str) -> str:
    return pointer.replace("~1", "/").replace("~0", "~")


def _count_peer(peer: Peer, text: str, total: Counter[str]) -> None:
    *before, end = peer(text)
    shown = {leaf for value in before for leaf in list(_leaves(value))[:-1]}
    _add(total, shown, set(_leaves(end)))
