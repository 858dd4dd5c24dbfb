"""Attacks on the guard's proofs about real tokenizers: texts drawn to refute each of them.

    python -m fuzz.attack_proofs --seed 1 --texts 1000000 --tokenizers FOLDER qwen-3 gpt2 ...

For each tokenizer the proofs of ``guard.boundary`` (about a hundred boundaries, names of control tokens read
and as ordinary text), ``guard.seams`` (usual templates) and ``guard.template`` (ChatML, Llama 3, Gemma and
others) are gathered.  Texts are drawn against each, in batches: the boundary between tokens that end with its
first bytes or begin with its last ones, names of control tokens and pieces of them, white space, combining
marks, tokens, and mutations of witnesses of other boundaries.  The tokenizer's own program encodes them.  A
text that refutes a proof is a *fault*; the program ends with 1.

Can the attacks refute anything?  The same texts are drawn against claims that have a witness, which is
hidden.  The share of these false claims that the texts refute is printed as *found*.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tokamata as tk
from tests.support.tokenizers.manifest_sources import NAMES, tokenizer_of
from tests.support.tokenizers.written_texts import Question, is_violated, occurrences
from tokamata import guard
from tokamata.guard.token_edges import ControlTokens, TokenEdges

BATCH = 5_000
LIMITS = tk.Limits(states=300_000, seconds=3.0)
QUESTIONS: dict[str, Question] = {"crossed_left": "left", "crossed_right": "right", "one_token": "one token"}
BOUNDARIES = [
    *("</think>", "<think>", "<tool_call>", "</tool_call>", "<|im_end|>", "<|im_start|>", "<|eot_id|>"),
    *("<|endoftext|>", "<end_of_turn>", "<start_of_turn>", "</s>", "<s>", "[INST]", "[/INST]", "[UNK]"),
    *("<unk>", "<|user|>", "<image>", "<｜User｜>"),
    *("{", "}", "[", "]", ":", ",", '"', '":', '"}', '{"', '": "', "[]", "{}", "}}", "null", "true"),
    *("```", "```json", "```\n", "\n```", "#", "# ", "\n#", "---", "- ", "|", "**", "`"),
    *("user", "assistant", "system", "User:", "Assistant:", "\nuser", "user\n", "### ", "\n\nHuman:"),
    *("\n", "\n\n", "\r\n", "\t", " ", "  ", "    ", " \n", "\n "),
    *("the", " the", "a", "answer", "Answer:", "yes", "1", "12", "1234"),
    *("'s", ".", ".\n", "!", "...", "(", "()", "=", "==", "::=", "->", "/*"),
    *("é", "中", "한", "\U0001f600", "\u0301"),
]
_SPACES = [
    "",
    "",
    "",
    " ",
    "  ",
    "   ",
    "\n",
    "\n\n",
    " \n",
    "\t",
    "\r\n",
    "\r",
    "\u00a0",
    "\u3000",
    "\u2028",
]
_MARKS = ["\u0301", "\u0338", "\u0327", "\u0308", "\u20d2", "\u0323", "\u200d", "\ufe0f", "\u200b", "\u3099"]
_OTHERS = [
    "a",
    "A",
    "1",
    "é",
    "中",
    "'",
    "'s",
    ".",
    "_",
    "-",
    "\u2581",
    "<",
    ">",
    "|",
    "/",
    "{",
    '"',
    "\\",
    "\0",
]
_MARKER = "\ue000\ue001"  # stands for a text of a conversation
_ANY = r"(?s:.*)"
_TRIMMED = r"(?s:\S(?:.*\S)?)?"
_NO_SPACE_FIRST = r"(?s:\S.*)?"
# Literal texts and slots in turn.
TEMPLATES = [
    ["<|im_start|>user\n", _ANY, "<|im_end|>\n"],
    ["<|im_start|>user\n", _TRIMMED, "<|im_end|>\n"],
    ["<|im_start|>user\n", _NO_SPACE_FIRST, "<|im_end|>\n"],
    ["<|im_start|>", _ANY, "<|im_end|>"],
    ["<|start_header_id|>user<|end_header_id|>\n\n", _ANY, "<|eot_id|>"],
    ["<|start_header_id|>user<|end_header_id|>\n\n", _TRIMMED, "<|eot_id|>"],
    ["<start_of_turn>user\n", _ANY, "<end_of_turn>\n"],
    ["<start_of_turn>user\n", _TRIMMED, "<end_of_turn>\n"],
    ["<｜User｜>", _ANY, "<｜Assistant｜>"],
    ["[INST] ", _TRIMMED, " [/INST]"],
    ["User: ", _TRIMMED, "\nAssistant:"],
    ["### User:\n", r"[a-z]+(?: [a-z]+)*", "\n\n### Assistant:\n"],
    ["Question: ", r"[A-Z][a-z]*\?", "\n"],
    ['{"name": "', r"[a-z_]+", '"}'],
    ['{"age": ', r"[0-9]{1,3}", "}"],
    ["<think>\n", _TRIMMED, "\n</think>\n\n"],
    ["<think>", _ANY, "</think>"],
    ["<tool_response>\n", _TRIMMED, "\n</tool_response>"],
    ["\n", r"[^\s].*", "\n"],
    ["```\n", r"(?s:[a-z].*[a-z])", "\n```"],
]
_CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
_LLAMA_3 = (
    "{% for m in messages %}<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n"
    "{{ m.content | trim }}<|eot_id|>{% endfor %}"
)
_GEMMA = (
    "{% for m in messages %}<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n"
    "{{ m.content | trim }}<end_of_turn>\n{% endfor %}"
)
CHATS = {
    "ChatML": _CHATML,
    "ChatML, trimmed": _CHATML.replace("m.content", "m.content | trim"),
    "Llama 3": _LLAMA_3,
    "Llama 3, not trimmed": _LLAMA_3.replace(" | trim", ""),
    "Gemma": _GEMMA,
    "lines": "{% for m in messages %}{{ m.role }}: {{ m.content | trim }}\n\n{% endfor %}",
}


@dataclass
class Line:
    """What was done for one question of one tokenizer.

    Attributes:
        proofs: how many were attacked.
        texts, checks: texts that were encoded, and claims that they were checked against.
        refuted: proofs that a text refutes.
        planted, found: claims that have a witness, and how many of them the attacks refuted.
    """

    proofs: int = 0
    texts: int = 0
    checks: int = 0
    refuted: int = 0
    planted: int = 0
    found: int = 0


@dataclass
class Report:
    """All lines, by tokenizer and question."""

    lines: dict[tuple[str, str], Line] = field(default_factory=lambda: defaultdict(Line))

    @property
    def texts(self) -> int:
        """How many were encoded."""
        return sum(line.texts for line in self.lines.values())

    @property
    def refuted(self) -> int:
        """How many proofs a text refutes."""
        return sum(line.refuted for line in self.lines.values())

    def table(self) -> str:
        """In Markdown."""
        rows = ["| tokenizer | question | proofs | texts | checks | refuted | false claims | found |"]
        rows.append("|---|---|---:|---:|---:|---:|---:|---:|")
        for (tokenizer, question), each in self.lines.items():
            numbers = each.proofs, each.texts, each.checks, each.refuted, each.planted, each.found
            rows.append(f"| {tokenizer} | {question} | {' | '.join(f'{n:,}' for n in numbers)} |")
        return "\n".join(rows)


# ---- the program -----------------------------------------------------------------------------------


class Program:
    """A tokenizer's own program, on many texts at once, in one reading."""

    def __init__(self, source: object, edges: TokenEdges) -> None:
        self.edges, self.reading = edges, edges.control_tokens
        self._batch = self._encoder(source)
        vocabulary = edges.vocabulary
        names = [vocabulary.name(token).encode() for token in range(len(vocabulary.tokens))]
        pairs = zip(vocabulary.tokens, names, strict=True)
        self._lengths = [len(name if text is None else text) for text, name in pairs]
        first = vocabulary.start_tokens()
        self._first = [
            length if first is None or first[token] is None else len(first[token] or b"")
            for token, length in enumerate(self._lengths)
        ]

    def _encoder(self, source: object) -> Callable[[list[str]], list[list[int]]]:
        from tokenizers import Tokenizer

        if isinstance(source, (str, Path)) and str(source).endswith(".json"):
            try:
                source = Tokenizer.from_file(str(source))
            except Exception:  # one of mistral-common
                source = Path(str(source))
        if isinstance(source, Tokenizer):
            own: Any = Tokenizer.from_str(source.to_str())
            own.no_truncation()
            own.no_padding()
            own.encode_special_tokens = self.reading == "text"
            return lambda texts: [e.ids for e in own.encode_batch_fast(texts, add_special_tokens=False)]
        if type(source).__module__.startswith("tiktoken"):
            given: Any = source
            if self.reading == "text":
                return lambda texts: given.encode_ordinary_batch(texts, num_threads=1)
            return lambda texts: given.encode_batch(texts, allowed_special="all", num_threads=1)
        running = self.edges.running
        assert running is not None, self.edges.why_not_running
        encode = running.encode if self.reading == "read" else running.encode_text
        return lambda texts: [encode(text) or [] for text in texts]

    def encoded(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text."""
        return self._batch(list(texts))

    def borders(self, ids: list[int]) -> int:
        """Bits of the bytes at which a token ends, or the first begins; right if the text is reproduced."""
        borders, at, lengths = 1, 0, self._lengths
        for token in ids[:1]:
            at = self._first[token]
            borders |= 1 << at
        for token in ids[1:]:
            at += lengths[token]
            borders |= 1 << at
        return borders

    def is_reproduced(self, text: str, ids: list[int]) -> bool:
        """Whether the tokens spell the text."""
        return b"".join(self.edges.pieces_of(ids)) == text.encode()


# ---- texts -----------------------------------------------------------------------------------------


class Texts:
    """Draws texts against boundaries and slots.

    Args:
        edges: the tokenizer.
        seed: for the same texts again.
    """

    def __init__(self, edges: TokenEdges, seed: int) -> None:
        self.draw = random.Random(seed)
        vocabulary = edges.vocabulary
        spelled = (
            token.decode("utf-8", "ignore") for token in vocabulary.tokens if token and len(token) < 40
        )
        self.tokens = [text for text in spelled if text] or ["a"]
        self.names = [*edges.added_names, "<|im_end|>", "</s>"]
        self.witnesses: list[tuple[str, str]] = []  # texts, and the boundaries in them
        self._ending: dict[str, list[str]] = {}
        self._beginning: dict[str, list[str]] = {}
        self._by_last: dict[str, list[str]] = defaultdict(list)
        self._by_first: dict[str, list[str]] = defaultdict(list)
        for text in self.tokens:
            self._by_last[text[-1]].append(text)
            self._by_first[text[0]].append(text)

    def many_against(self, b: str, count: int) -> list[str]:
        """So many texts: some drawn one by one, and what may stand before and after in all combinations."""
        size = math.isqrt(count * 3 // 4)
        left, right = ([side(b) for _ in range(size)] for side in (self._left, self._right))
        pairs = [before + b + after for before in left for after in right]
        return pairs + [self.against(b) for _ in range(count - len(pairs))]

    def against(self, b: str) -> str:
        """A text with a boundary, mostly."""
        draw = self.draw
        kind = draw.random()
        if kind < 0.06 and self.witnesses:
            text, other = draw.choice(self.witnesses)
            whole = text.replace(other, b)
        elif kind < 0.72:
            left, right = self._left(b), self._right(b)
            left, right = (left, "") if kind < 0.25 else ("", right) if kind < 0.4 else (left, right)
            whole = left + b + right
        elif kind < 0.82:  # overlapping
            size = draw.randrange(1, len(b) + 1)
            whole = self._left(b) + b[:size] + b + self._right(b)
        elif kind < 0.9:
            whole = b.join(self._any() for _ in range(draw.randint(2, 4)))
        else:
            whole = self._any() + self._left(b) + b + self._right(b) + self._any()
        return self._changed(whole) if draw.random() < 0.15 else whole

    def of_slot(self) -> str:
        """A text for a slot: what stands at its ends matters."""
        draw = self.draw
        kind = draw.random()
        if kind < 0.3:
            return self._any() + draw.choice(["", self._any(), draw.choice(_SPACES)])
        if kind < 0.5:
            return draw.choice(_SPACES + _MARKS) + self._any() + draw.choice(_SPACES + _MARKS)
        if kind < 0.6 and self.names:
            return self._piece(draw.choice(self.names)) + self._any() + self._piece(draw.choice(self.names))
        if kind < 0.8:
            return "".join(draw.choices(self.tokens, k=draw.randint(1, 5)))
        if kind < 0.9:
            return "".join(draw.choices("abcdefghij klmnoprstuvwyz", k=draw.randint(1, 12))).strip()
        return "".join(draw.choices("0123456789AZaz_?.", k=draw.randint(1, 4)))

    def _left(self, b: str) -> str:
        """What may join the first characters of a text: a token that ends with them, without them."""
        draw = self.draw
        size = draw.randrange(1, len(b) + 1)
        head = b[:size]
        if head not in self._ending:
            self._ending[head] = [text for text in self._by_last[head[-1]] if text.endswith(head)]
        if self._ending[head] and draw.random() < 0.75:
            found = draw.choice(self._ending[head])[: -len(head)]
            return (self._any() if draw.random() < 0.4 else draw.choice(_SPACES)) + found
        return self._any()

    def _right(self, b: str) -> str:
        draw = self.draw
        tail = b[draw.randrange(len(b)) :]
        if tail not in self._beginning:
            self._beginning[tail] = [text for text in self._by_first[tail[0]] if text.startswith(tail)]
        if self._beginning[tail] and draw.random() < 0.75:
            found = draw.choice(self._beginning[tail])[len(tail) :]
            return found + (self._any() if draw.random() < 0.4 else draw.choice(_SPACES))
        return self._any()

    def _any(self) -> str:
        draw = self.draw
        kind = draw.randrange(9)
        if kind < 3:
            return draw.choice(self.tokens)
        if kind == 3:
            return draw.choice(_SPACES) * draw.randint(1, 3)
        if kind == 4:
            return draw.choice(_MARKS)
        if kind == 5:
            return self._piece(draw.choice(self.names))
        if kind == 6:
            return draw.choice(self.tokens) + draw.choice(_SPACES) + draw.choice(self.tokens)
        return draw.choice(_OTHERS) * draw.choice([1, 1, 2, 3])

    def _piece(self, name: str) -> str:
        if self.draw.random() < 0.3:
            return name
        begin, end = sorted((self.draw.randrange(len(name) + 1), self.draw.randrange(len(name) + 1)))
        return name[begin:end]

    def _changed(self, text: str) -> str:
        draw = self.draw
        at = draw.randrange(len(text) + 1)
        kind = draw.randrange(4)
        if kind == 0:
            return text[:at] + draw.choice(_MARKS) + text[at:]
        if kind == 1:
            return text[:at] + draw.choice(_SPACES + _OTHERS) + text[at:]
        if kind == 2:
            return text[:at] + text[at + 1 :]
        return text.swapcase()


# ---- boundaries ------------------------------------------------------------------------------------


@dataclass
class Claim:
    """One claim about a boundary; a false one has a witness, which the attacks do not see."""

    b: str
    name: str
    is_false: bool
    is_refuted: bool = False


class Boundaries:
    """The claims about all boundaries in one reading, and attacks on them."""

    def __init__(self, where: str, source: object, reading: ControlTokens, seed: int, report: Report) -> None:
        self.where, self._report = where, report
        self.edges = TokenEdges.of(source, reading)
        self.program = Program(source, self.edges)
        self.texts = Texts(self.edges, seed)
        self.claims: dict[str, list[Claim]] = {}
        self._reading = reading
        guard.boundary(source, "a", control_tokens=reading)  # what all others share, without a limit
        names = sorted(self.edges.added_names, key=len)
        chosen = [*BOUNDARIES, *names[:: max(1, len(names) // 12)][:14]]
        for b in dict.fromkeys(chosen):
            self._gather(source, b)

    def line(self, name: str) -> Line:
        """The line of a question."""
        read = "names read" if self._reading == "read" else "names are text"
        return self._report.lines[self.where, f"{name}, {read}"]

    def _gather(self, source: object, b: str) -> None:
        found = guard.boundary(source, b, control_tokens=self._reading, limits=LIMITS)
        claims = []
        for name in [*QUESTIONS, "from_text"]:
            verdict: guard.Verdict = getattr(found, name)
            if verdict.outcome == "not settled" or (name == "from_text" and not verdict):
                continue
            if name == "from_text" and b not in self.edges.added_names:
                continue
            if verdict.witness is not None and name != "from_text":
                self.texts.witnesses.append((verdict.witness.text.decode(), b))
            claims.append(Claim(b, name, is_false=not verdict))
            self.line(name).proofs += bool(verdict)
            self.line(name).planted += not verdict
        if claims:
            self.claims[b] = claims

    def attack(self, texts_of_each: int) -> None:
        """One round: so many texts against each boundary that has a proof, or a false claim not refuted."""
        for b, claims in self.claims.items():
            open_claims = [claim for claim in claims if not claim.is_refuted]
            if not open_claims:
                continue
            drawn = self.texts.many_against(b, texts_of_each)
            self._check(drawn, b, open_claims)

    def _check(self, drawn: list[str], b: str, claims: list[Claim]) -> None:
        encoded = self.program.encoded(drawn)
        proved = [claim for claim in claims if not claim.is_false]
        if proved:
            self.line(proved[0].name).texts += len(drawn)
        for claim in proved:
            self.line(claim.name).checks += len(drawn)
        token = self.edges.added_names.get(b)
        for text, ids in zip(drawn, encoded, strict=True):
            spans = list(occurrences(text, [b]))
            borders = self.program.borders(ids)
            for claim in claims:
                if claim.is_refuted:
                    continue
                if claim.name == "from_text":
                    is_wrong = token in ids
                else:
                    question = QUESTIONS[claim.name]
                    is_wrong = any(is_violated(borders, *span, question) for span in spans)
                    is_wrong = is_wrong and self.program.is_reproduced(text, ids)
                if is_wrong:
                    self._refuted(claim, text, ids)

    def _refuted(self, claim: Claim, text: str, ids: list[int]) -> None:
        claim.is_refuted = True
        if claim.is_false:
            self.line(claim.name).found += 1
            return
        self.line(claim.name).refuted += 1
        shown = self.edges.pieces_of(ids)
        print(
            f"FAULT {self.where}, {self._reading}: {claim.name} of {claim.b!r}: {text!r} {shown}", flush=True
        )


# ---- seams -----------------------------------------------------------------------------------------


class SeamAttack:
    """The proofs of usual templates, and attacks on them."""

    def __init__(self, where: str, source: object, boundaries: Boundaries, read: Program) -> None:
        self.where, self._report = where, boundaries._report
        self._texts, self._program = boundaries.texts, boundaries.program
        self._edges, self._read = boundaries.edges, read
        self._open: list[tuple[list[str], bool]] = []
        for template in TEMPLATES:
            given = [tk.regex(part) if number % 2 else part for number, part in enumerate(template)]
            verdict = guard.seams(source, given, limits=LIMITS).of_slot(0).verdict
            if verdict.outcome == "not settled":
                continue
            self.line.proofs += bool(verdict)
            self.line.planted += not verdict
            self._open.append((template, not verdict))

    @property
    def line(self) -> Line:
        """The line of all templates."""
        return self._report.lines[self.where, "seams"]

    def attack(self, texts: int) -> None:
        """One round against each template."""
        for template, is_false in list(self._open):
            pattern = re.compile(template[1])
            drawn = [text for _ in range(texts) if pattern.fullmatch(text := self._texts.of_slot())]
            wrong = self._refuting(template, drawn)
            if not is_false:
                self.line.texts += len(drawn)
                self.line.checks += len(drawn)
            if wrong is None:
                continue
            self._open.remove((template, is_false))
            if is_false:
                self.line.found += 1
            else:
                self.line.refuted += 1
                print(f"FAULT {self.where}: seams of {template!r}: {wrong}", flush=True)

    def _refuting(self, template: list[str], drawn: list[str]) -> str | None:
        before, after = (
            list(self._edges.split_controls(template[0])),
            list(self._edges.split_controls(template[2])),
        )
        start = max((i + 1 for i, (_, is_control) in enumerate(before) if is_control), default=0)
        end = next((i for i, (_, is_control) in enumerate(after) if is_control), len(after))
        left = "".join(text for text, _ in before[start:])
        right = "".join(text for text, _ in after[:end])
        controls = [before[start - 1][0]] if start else []
        after_controls = [after[end][0]] if end < len(after) else []
        names = self._edges.control_names
        before_ids = [names[name] for name in controls]
        after_ids = [names[name] for name in after_controls]
        outer = [text for text in (left, right) if text]
        alone = dict(zip(outer, self._program.encoded(outer), strict=True))
        for text, ids in alone.items():
            if not self._program.is_reproduced(text, ids):
                return None
        wholes = [left + text + right for text in drawn]
        slots = self._program.encoded(drawn)
        around = [("".join(controls) + whole + "".join(after_controls)) for whole in wholes]
        readable = [
            [piece for piece, is_control in self._edges.split_controls(text) if is_control]
            == [*controls, *after_controls]
            for text in around
        ]
        as_text = self._program.encoded(wholes)
        as_read = self._read.encoded(around)
        hides = self._edges.hides_space and bool(controls)
        for text, slot, whole, read, is_readable in zip(
            drawn, slots, as_text, as_read, readable, strict=True
        ):
            expected = [*alone.get(left, []), *slot, *alone.get(right, [])]
            differs = (whole != expected and not hides) or (
                is_readable and read != [*before_ids, *expected, *after_ids]
            )
            if differs and text and self._program.is_reproduced(text, slot):
                return f"{text!r}: {whole[:16]}, read {read[:16]}, parts {expected[:16]}"
        return None


# ---- chats -----------------------------------------------------------------------------------------


class ChatAttack:
    """The proofs about chat templates, and conversations drawn against them."""

    ROLES = ("user", "assistant")

    def __init__(self, where: str, source: object, boundaries: Boundaries, read: Program) -> None:
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        self.where, self._report = where, boundaries._report
        self._texts, self._edges, self._read = boundaries.texts, boundaries.edges, read
        self._text = boundaries.program
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        self._open: list[tuple[str, str, bool]] = []
        self._templates = {name: environment.from_string(text) for name, text in CHATS.items()}
        for name, text in CHATS.items():
            if not set(re.findall(r"<[^\s{}]+?>", text)) <= set(self._edges.added_names):
                continue  # a template of other tokenizers
            found = guard.template(source, text, roles=self.ROLES)
            claims = {"appending": found.appending}
            for role in found.roles:
                claims[f"unchanged {role.role}"] = role.unchanged
                claims[f"apart {role.role}"] = role.apart
            for claim, verdict in claims.items():
                if verdict.outcome == "not settled":
                    continue
                self.line(claim).proofs += bool(verdict)
                self.line(claim).planted += not verdict
                self._open.append((name, claim, not verdict))

    def line(self, claim: str) -> Line:
        """The line of a claim about roles, or about all turns."""
        return self._report.lines[self.where, f"template: {claim.partition(' ')[0]}"]

    def attack(self, conversations: int) -> None:
        """One round: so many conversations of up to four turns for each template with an open claim."""
        for name in CHATS:
            claims = [(claim, is_false) for other, claim, is_false in self._open if other == name]
            if not claims:
                continue
            drawn = [self._conversation() for _ in range(conversations)]
            cut = [turns[:-1] for turns in drawn]
            rendered = [self._rendered(name, turns) for turns in drawn]
            shorter = [self._rendered(name, turns) for turns in cut]
            longer_ids, shorter_ids = self._read.encoded(rendered), self._read.encoded(shorter)
            for claim, is_false in claims:
                if not is_false:
                    self.line(claim).checks += len(drawn)
            first = next((claim for claim, is_false in claims if not is_false), None)
            if first is not None:
                self.line(first).texts += len(drawn)
            for turns, whole, before, ids, ids_before in zip(
                drawn, rendered, shorter, longer_ids, shorter_ids, strict=True
            ):
                for claim, is_false in claims:
                    if (name, claim, is_false) in self._open and self._is_refuted(
                        name, claim, turns, whole, before, ids, ids_before
                    ):
                        self._refuted(name, claim, is_false, turns)

    def _refuted(self, name: str, claim: str, is_false: bool, turns: list[tuple[str, str]]) -> None:
        self._open.remove((name, claim, is_false))
        if is_false:
            self.line(claim).found += 1
        else:
            self.line(claim).refuted += 1
            print(f"FAULT {self.where}: {name}: {claim}: {turns!r}", flush=True)

    def _is_refuted(
        self,
        name: str,
        claim: str,
        turns: list[tuple[str, str]],
        whole: str,
        before: str,
        ids: list[int],
        ids_before: list[int],
    ) -> bool:
        if claim.startswith("unchanged"):
            role = claim.split()[1]
            return any(text not in whole for other, text in turns if other == role)
        if any(self._has_name(text) for _, text in turns) or not self._has_own_names(name, turns, whole):
            return False  # the whole would be read otherwise; that is what `control` is about
        if claim == "appending":
            if ids[: len(ids_before)] == ids_before:
                return False
            return self._read.is_reproduced(whole, ids) and self._read.is_reproduced(before, ids_before)
        role = claim.split()[1]
        return self._is_encoded_otherwise(name, turns, role, whole, ids)

    def _is_encoded_otherwise(
        self, name: str, turns: list[tuple[str, str]], role: str, whole: str, ids: list[int]
    ) -> bool:
        """Whether the tokens of the first text of a role, and of what is before it, are others alone."""
        number = next(number for number, (other, _) in enumerate(turns) if other == role)
        text = turns[number][1]
        if "| trim" in CHATS[name]:
            text = text.strip()
        marked = [*turns[:number], (role, _MARKER), *turns[number + 1 :]]
        at = self._rendered(name, marked).index(_MARKER)
        if not text or not whole.startswith(text, at):
            return False
        left = self._stretch_before(whole[:at])
        alone, before = self._text.encoded([text, left])
        if not (self._text.is_reproduced(text, alone) and self._read.is_reproduced(whole, ids)):
            return False
        outer = whole[: at - len(left)]
        known = self._read.encoded([outer])[0] if outer else []
        expected = [*known, *(before if left else []), *alone]
        return ids[: len(expected)] != expected

    def _stretch_before(self, text: str) -> str:
        """What stands after the last control token."""
        rest = ""
        for piece, is_control in self._edges.split_controls(text):
            rest = "" if is_control else rest + piece
        return rest

    def _has_name(self, text: str) -> bool:
        return any(is_control for _, is_control in self._edges.split_controls(text)) or any(
            name in text for name in self._edges.added_names
        )

    def _has_own_names(self, name: str, turns: list[tuple[str, str]], whole: str) -> bool:
        plain = self._rendered(name, [(role, "a") for role, _ in turns])
        plain_names, own_names = (
            sum(is_control for _, is_control in self._edges.split_controls(text)) for text in (plain, whole)
        )
        return plain_names == own_names

    def _conversation(self) -> list[tuple[str, str]]:
        size = self._texts.draw.randint(2, 4)
        roles = itertools.islice(itertools.cycle(self.ROLES), size)
        return [(role, self._texts.of_slot()) for role in roles]

    def _rendered(self, name: str, turns: list[tuple[str, str]]) -> str:
        messages = [{"role": role, "content": text} for role, text in turns]
        return self._templates[name].render(messages=messages)


# ---- all -------------------------------------------------------------------------------------------


class Attack:
    """Everything about one tokenizer."""

    def __init__(self, where: str, source: object, seed: int, report: Report) -> None:
        read = Boundaries(where, source, "read", seed, report)
        text = Boundaries(where, source, "text", seed, report)
        self._both = read, text
        self._seams = SeamAttack(where, source, text, read.program)
        self._chats = ChatAttack(where, source, text, read.program)

    def round(self, texts: int) -> None:
        """So many texts against each boundary and template; conversations are slow, so they are fewer."""
        for boundaries in self._both:
            boundaries.attack(texts)
        self._seams.attack(2 * texts)
        self._chats.attack(texts // 5)


def _named_sources(folder: Path | None, names: list[str]) -> Iterator[tuple[str, object]]:
    from tokenizers import Tokenizer

    for path in sorted(folder.glob("*.json")) if folder else ():
        yield path.stem, Tokenizer.from_file(str(path))
    for name in names:
        try:
            source = tokenizer_of(name)
        except BaseException as error:  # a skip of pytest, if its package is not installed
            if type(error).__name__ != "Skipped":
                raise
            print(f"{name}: {error}", flush=True)
            continue
        yield name, source


def run(
    sources: Iterable[tuple[str, object]],
    seed: int,
    texts: int,
    of_each: int = BATCH,
    seconds: float = math.inf,
) -> Report:
    """Attacks each tokenizer in turn with at least so many texts, or until the time is up."""
    report = Report()
    end = time.monotonic() + seconds
    for where, source in sources:
        began = time.monotonic()
        if began > end:
            break
        try:
            attack = Attack(where, source, seed, report)
        except (tk.UnsupportedTokenizerError, tk.VocabularyError, tk.MissingExtraError) as error:
            print(f"{where}: {error!s:.150}", flush=True)
            continue
        gathered = time.monotonic() - began
        start = report.texts
        print(f"{where}: gathered in {gathered:.0f} s", flush=True)
        while report.texts - start < texts and time.monotonic() < end:
            before = report.texts
            attack.round(of_each)
            if report.texts == before:
                break  # nothing is proved
        lines = [line for (name, _), line in report.lines.items() if name == where]
        total = Counter[str]()
        for line in lines:
            total.update(vars(line))
        seconds = time.monotonic() - began - gathered
        print(f"{where}: {dict(total)}, in {seconds:.0f} s; {report.texts:,} texts in all", flush=True)
        print("\n".join(line for line in report.table().splitlines() if f"| {where} |" in line), flush=True)
    return report


def main() -> int:
    """Runs the program; 1 if a proof is refuted."""
    parser = argparse.ArgumentParser(prog="fuzz.attack_proofs", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=NAMES, help="of tests/data/manifests")
    parser.add_argument("--tokenizers", type=Path, metavar="FOLDER", help="further tokenizer.json files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--texts", type=int, default=500_000, help="of each tokenizer, at least")
    parser.add_argument("--seconds", type=float, default=math.inf)
    arguments = parser.parse_args()
    sources = _named_sources(arguments.tokenizers, arguments.names)
    report = run(sources, arguments.seed, arguments.texts, seconds=arguments.seconds)
    print(report.table())
    return 1 if report.refuted else 0


if __name__ == "__main__":
    sys.exit(main())
