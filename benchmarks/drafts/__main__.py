"""Masks of drafts: a tree of 64 nodes against xgrammar, chains of 8 for 32 requests against llguidance.

    python -m benchmarks.drafts                      # Llama 3.1
    python -m benchmarks.drafts --quick

At places within JSON instances of MaskBench's schemas, each library gets the same drafts.  A chain is the
next eight tokens of the instance, of which one in four is changed to another token.  A tree has such chains
as branches.  Each call is made once before it is timed, so that what the libraries keep is there; then their
calls take turns.  xgrammar reads the tree in one call, llguidance the chains of all requests in one call on
two threads of its own; tokamata reads either in one call, the chains on two threads.
"""

from __future__ import annotations

import json
import random
import time
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tokamata as tk
from benchmarks.common import environment
from benchmarks.common.program import parser_for, progress, run
from benchmarks.common.report import Report, Target, ranks
from benchmarks.common.tokenizers import Tokenizer, load_known
from benchmarks.repair.instances import load

_NODES, _CHAIN, _REQUESTS = 64, 8, 32
_CHANGED = 0.25
_TURNS = 5
_THREADS = 2
_LONGEST = 160  # tokens of a text that are walked


class Case(NamedTuple):
    """A schema as JSON text, and the tokens of an instance."""

    schema: str
    tokens: list[int]


class Tree(NamedTuple):
    """Tokens, and the number of the token before each; -1 at the text."""

    tokens: list[int]
    parents: list[int]


def main() -> int:
    """The program."""
    return run(measure, parser_for(__doc__).parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """Both tables."""
    tokenizer = load_known("llama-3.1", options.tokenizers, work)
    draw = random.Random(f"{options.seed} drafts")
    cases = _cases(options, tokenizer, draw, options.count or (3 if options.quick else 12))
    report = Report(environment.describe())
    trees, chains = _trees(cases, tokenizer, draw), _chains(cases, tokenizer, draw)
    for title, rows, peer in (
        (f"A tree of {_NODES} nodes, µs a call", trees, "xgrammar"),
        (f"Chains of {_CHAIN} for {_REQUESTS} requests, µs a call", chains, "llguidance"),
    ):
        table = [{"": name, **ranks(samples)} for name, samples in rows.items()]
        report.add(title, table, [f"{len(rows[peer])} calls of each library, in turns"])
        ratio = table[0]["p50"] / table[1]["p50"]
        report.targets.append(Target(f"{title.split(',')[0]}, p50, of {peer}'s", ratio, 0.5, "times"))
    return report


def _cases(options: Namespace, tokenizer: Tokenizer, draw: random.Random, count: int) -> list[Case]:
    instances = load(options.schemas, is_training=False)
    draw.shuffle(instances)
    cases: list[Case] = []
    known = _Libraries(tokenizer)
    for instance in instances:
        schema = json.dumps(instance.schema)
        tokens = tokenizer.encode(json.dumps(instance.value))
        case = Case(schema, tokens)
        if len(tokens) > 20 and known.accept(case):
            cases.append(case)
        if len(cases) == count:
            break
    return cases


class _Libraries:
    """What each library makes once for a vocabulary."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        import llguidance
        import torch
        import xgrammar

        torch.set_num_threads(1)
        self.vocabulary = tokenizer.vocabulary
        width, stop = self.vocabulary.width, list(self.vocabulary.stop)
        texts = [value or b"" for value in self.vocabulary.tokens]
        info = xgrammar.TokenizerInfo(texts, vocab_size=width, stop_token_ids=stop)
        self._xgrammar = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self._llguidance = llguidance.LLTokenizer(tokenizer.json_text, n_vocab=width, eos_token=stop)
        self._matchers = xgrammar.GrammarMatcher, llguidance.LLMatcher

    def tokamata(self, schema: str) -> tk.Matcher:
        tk.forget_constraints()
        return tk.json_schema(schema).compile(self.vocabulary).matcher()

    def xgrammar(self, schema: str) -> Any:
        compiled = self._xgrammar.compile_json_schema(schema, strict_mode=False)
        return self._matchers[0](compiled, max_rollback_tokens=_NODES + 1)

    def llguidance(self, schema: str) -> Any:
        matcher = self._matchers[1]
        return matcher(self._llguidance, matcher.grammar_from_json_schema(schema))

    def accept(self, case: Case) -> bool:
        """Whether all three take the schema and the instance."""
        try:
            ours, theirs, others = (
                make(case.schema) for make in (self.tokamata, self.xgrammar, self.llguidance)
            )
        except (tk.TokamataError, RuntimeError, ValueError):
            return False
        return (
            ours.validate(case.tokens) == len(case.tokens)
            and all(map(theirs.accept_token, case.tokens))
            and not others.is_error()
            and others.validate_tokens(case.tokens) == len(case.tokens)
        )


def _draft(case: Case, place: int, count: int, width: int, draw: random.Random) -> list[int]:
    return [
        draw.randrange(width) if draw.random() < _CHANGED else token
        for token in case.tokens[place : place + count]
    ]


def _tree(case: Case, place: int, width: int, draw: random.Random) -> Tree:
    """Chains that begin at the text or at a node of the one before."""
    tokens: list[int] = []
    parents: list[int] = []
    while len(tokens) < _NODES:
        depth, parent = 0, -1
        if tokens and draw.random() < 0.5:
            parent = draw.randrange(min(len(tokens), _CHAIN))
            depth = parent + 1
        for token in _draft(case, place + depth, min(_CHAIN, _NODES - len(tokens)), width, draw):
            tokens.append(token)
            parents.append(parent)
            parent = len(tokens) - 1
        if place + depth >= len(case.tokens) - 1:
            tokens.append(draw.randrange(width))
            parents.append(-1)
    return Tree(tokens, parents)


def _in_turns(samples: dict[str, list[float]], **calls: Callable[[], object]) -> None:
    """Times the calls in turns, after one that makes what the libraries keep."""
    for turn in range(_TURNS):
        for name, call in calls.items():
            start = time.perf_counter_ns()
            call()
            if turn > 0 and name in samples:
                samples[name].append(time.perf_counter_ns() - start)


def _trees(cases: list[Case], tokenizer: Tokenizer, draw: random.Random) -> dict[str, list[float]]:
    import torch

    known = _Libraries(tokenizer)
    width = tokenizer.vocabulary.width
    samples: dict[str, list[float]] = {"tokamata": [], "xgrammar": []}
    with progress("trees", len(cases)) as step:
        for case in cases:
            ours, theirs = known.tokamata(case.schema), known.xgrammar(case.schema)
            mask = ours.compiled.allocate_mask(_NODES + 1)
            bitmask = torch.full((_NODES + 1, mask.shape[1]), -1, dtype=torch.int32)
            for place in range(0, min(len(case.tokens) - _CHAIN, _LONGEST), _CHAIN):
                tree = _tree(case, place, width, draw)
                child, sibling, tokens = _links(tree)
                _in_turns(
                    samples,
                    tokamata=partial(ours.fill_draft_masks, mask, tree.tokens, tree.parents),
                    xgrammar=partial(theirs.traverse_draft_tree, child, sibling, tokens, bitmask),
                )
                passed = case.tokens[place : place + _CHAIN]
                assert ours.advance_all(passed)
                for token in passed:
                    theirs.accept_token(token)
            step(case.schema[:40])
    return samples


def _links(tree: Tree) -> tuple[Any, Any, Any]:
    """The tree as xgrammar has it: first child and next sibling of each node; node 0 is the text."""
    import torch

    child = [-1] * (_NODES + 1)
    sibling = [-1] * (_NODES + 1)
    last: dict[int, int] = {}
    for node, parent in enumerate(tree.parents):
        place = parent + 1
        if place in last:
            sibling[last[place]] = node + 1
        else:
            child[place] = node + 1
        last[place] = node + 1
    tokens = torch.tensor([0, *tree.tokens[:_NODES]], dtype=torch.int64)
    return torch.tensor(child, dtype=torch.int64), torch.tensor(sibling, dtype=torch.int64), tokens


def _chains(cases: list[Case], tokenizer: Tokenizer, draw: random.Random) -> dict[str, list[float]]:
    import llguidance

    known = _Libraries(tokenizer)
    width = tokenizer.vocabulary.width
    executor = llguidance.LLExecutor(num_threads=_THREADS)
    samples: dict[str, list[float]] = {"tokamata": [], "llguidance": []}
    requests = [cases[i % len(cases)] for i in range(_REQUESTS)]
    ours = [known.tokamata(case.schema) for case in requests]
    theirs = [known.llguidance(case.schema) for case in requests]
    mask = ours[0].compiled.allocate_mask(_REQUESTS * (_CHAIN + 1))
    other = np.zeros_like(mask)
    shortest = min(len(case.tokens) for case in requests)
    places = range(0, min(shortest - _CHAIN, _LONGEST), 2)
    with progress("chains", len(places)) as step:
        for place in places:
            drafts = [_draft(case, place, _CHAIN, width, draw) for case in requests]
            given = [
                (matcher, row * (_CHAIN + 1), draft)
                for row, (matcher, draft) in enumerate(zip(theirs, drafts, strict=True))
            ]
            _in_turns(
                samples,
                tokamata=partial(tk.fill_draft_masks, ours, mask, drafts, threads=_THREADS),
                llguidance=partial(
                    executor.unsafe_compute_mask_ptr_with_draft_token,
                    given,
                    other.ctypes.data,
                    other.shape[1] * 4,
                    len(other),
                ),
            )
            for mine, their, case in zip(ours, theirs, requests, strict=True):
                passed = case.tokens[place : place + 2]
                assert mine.advance_all(passed)
                their.consume_tokens(passed)
            step(str(place))
    return samples


if __name__ == "__main__":
    raise SystemExit(main())
