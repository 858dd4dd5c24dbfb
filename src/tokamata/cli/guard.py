"""``tokamata guard``: whether a tokenizer keeps boundaries, and its chat template the texts of others apart.

    tokenizer   tokenizer.json
    self-test   ✓ tokenizers 0.23.3 writes 2,600 texts with our tokens
    boundaries  the control tokens that the chat template names, and 4 others
    ╭─ { · token 90 ─────────────────────────────────────╮
    │ ✗ witness  no token crosses the left border        │
    │     }{                                             │
    │      ^                                             │
    │     the token '}{' crosses a border of '{'         │
    │     tokens }{ 15170 · replayed by its own program  │

A witness is drawn with its tokens in alternating colours and a caret under the border.  Colours may be
missing, so the tokens stand below it once more, each with its id, and each verdict is a word too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from rich.console import Group
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from tokamata.cli.console import Bar, Form, Screen
from tokamata.cli.constraints import OptionError
from tokamata.cli.guard_json import as_json
from tokamata.display.texts import shown_bytes, shown_text
from tokamata.errors import TemplateError
from tokamata.guard.boundaries import Boundary, boundary
from tokamata.guard.chat_templates import ChatTemplate, template
from tokamata.guard.manifest import manifest
from tokamata.guard.self_test import self_test
from tokamata.guard.template_sources import TemplateSource, template_source
from tokamata.guard.verdicts import Outcome, Verdict, Witness, worst
from tokamata.tokenization.canonical import added_names
from tokamata.tokenization.self_test import SelfTest
from tokamata.vocabulary import Vocabulary

__all__ = ["Parts", "run"]

_Result = TypeVar("_Result")

_OTHERS = ("</think>", "```", "{", '"')  # boundaries by default, besides control tokens
_MOST_CONTROLS = 8  # where no chat template says which matter
_MOST_BYTES = 1 << 20  # of a file of boundaries
_MOST_TOKENS = 12  # of a witness, that are listed with their ids
_MOST_SAID = 400  # characters of a sentence about a witness, which may have a whole boundary in it
_INDENT = 4  # columns
_CODES: dict[Outcome, int] = {"proved": 0, "witness": 1, "not settled": 2}
_COLOURS: dict[Outcome, str] = {"proved": "green", "witness": "red", "not settled": "yellow"}
_APART = "Texts that are encoded apart become no control tokens: guard.encode and tokamata.generate do so."
_PROVED = "Proved is for all texts that the tokenizer reproduces; --json has the reasons."


class Parts(NamedTuple):
    """What is requested.

    Attributes:
        boundaries: a file of boundaries; ``None`` for the usual ones.
        template: whether the chat template is examined too.
        manifest: whether the manifest is printed, and nothing else.
        form: how the result is shown.
    """

    boundaries: Path | None
    template: bool
    manifest: bool
    form: Form


class _Asked(NamedTuple):
    boundaries: list[str]
    how: str  # they were chosen


def run(screen: Screen, path: Path, parts: Parts) -> int:
    """Ask about one tokenizer, and show the verdicts; returns the exit code.

    Args:
        path: the tokenizer's file or folder.

    Raises:
        OptionError: options contradict each other, or a file cannot be read.
        VocabularyError, MissingExtraError: the tokenizer cannot be read.
        UnsupportedTokenizerError: it has a part of which nothing can be proved.
        TemplateError: the chat template is requested, and there is none, or it does not parse.
        LimitExceeded: a boundary is too large.
    """
    if parts.manifest:
        if parts.boundaries is not None or parts.template or parts.form != "report":
            raise OptionError("--manifest prints the manifest alone, which is JSON; leave out other options")
        with screen.late_bar() as bar:
            bar.describe("measuring the tokenizer")
            text = manifest(path).to_json()
        screen.out.out(text, end="", highlight=False)
        return 0
    given = None if parts.boundaries is None else _in_file(parts.boundaries)
    with screen.late_bar() as bar:
        bar.describe("reading the tokenizer")
        vocabulary = Vocabulary.load(path, stop=())
        if parts.template:
            template_source(path, None, None, None)  # raises before the work begins
        asked = _usual(path, vocabulary) if given is None else given
        bar.grow(1 + len(asked.boundaries) + parts.template)
        test = _step(bar, "testing against its own program", lambda: self_test(path, vocabulary))
        found = [
            _step(bar, f"boundary {each!r:.40}", partial(boundary, path, each)) for each in asked.boundaries
        ]
        chat = _step(bar, "the chat template", lambda: template(path)) if parts.template else None
    outcome = _outcome(test, found, chat)
    if parts.form == "json":
        value = as_json(str(path), outcome, test, dict(zip(asked.boundaries, found, strict=True)), chat)
        screen.out.out(json.dumps(value, indent=1, ensure_ascii=True), highlight=False)
    elif parts.form == "summary":
        _Report(screen).summarize(test, asked, found, chat, outcome)
    else:
        _Report(screen).show(path, test, asked, found, chat, outcome)
    return _CODES[outcome]


def _step(bar: Bar, what: str, work: Callable[[], _Result]) -> _Result:
    bar.describe(what)
    result = work()
    bar.advance(1)
    return result


def _outcome(test: SelfTest, found: list[Boundary], chat: ChatTemplate | None) -> Outcome:
    """That of all verdicts.  Proofs are about our tables: none holds if the program writes other tokens."""
    verdicts = [verdict for each in found for verdict in each.verdicts]
    if chat is not None:
        verdicts += [chat.appending, *(verdict for role in chat.roles for verdict in role.verdicts)]
    if test.mismatch is not None:
        verdicts.append(Verdict("the program writes our tokens", "not settled"))
    return worst(verdicts)


# ---- boundaries -------------------------------------------------------------------------------


def _usual(path: Path, vocabulary: Vocabulary) -> _Asked:
    """The control tokens that the chat template names, or the shortest if there is none; and some others."""
    tokens, named = vocabulary.tokens, added_names(vocabulary)
    control = [name for name, token in named.items() if tokens[token] is None]
    names = sorted(control, key=lambda name: (len(name), name))
    try:
        source = template_source(path, None, None, None)
    except TemplateError:
        controls, how = names[:_MOST_CONTROLS], f"the {len(names[:_MOST_CONTROLS])} shortest control tokens"
        if not controls:
            how = "there are no control tokens"
    else:
        controls, how = _named(source, names), "the control tokens that the chat template names"
    others = [each for each in _OTHERS if each not in controls]
    return _Asked([*controls, *others], f"{how}, and {len(others)} others")


def _named(source: TemplateSource, names: list[str]) -> list[str]:
    """The control tokens in a template's source, by their names or by the variables that stand for them."""
    variables = {
        "bos_token": source.bos_token,
        "eos_token": source.eos_token,
        **source.special_tokens,
    }
    by_variable = {text for name, text in variables.items() if name in source.source}
    return [name for name in names if name in source.source or name in by_variable]


def _in_file(path: Path) -> _Asked:
    """The boundaries of a file, one a line; a line that is a JSON string stands for its value.

    Raises:
        OptionError: the file cannot be read, is too large, or has no boundary, or a line is the empty text.
    """
    name = f"--boundaries {str(path)!r:.200}"
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise OptionError(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise OptionError(f"{name} is not UTF-8: byte {error.start} is wrong") from None
    if len(data) > _MOST_BYTES:
        raise OptionError(f"{name} is larger than {_MOST_BYTES:,} bytes; keep one boundary a line")
    found: dict[str, None] = {}
    for number, line in enumerate(text.split("\n"), 1):
        given = line.removesuffix("\r")
        if not given:
            continue
        value = _unquoted(given)
        if not value:
            raise OptionError(f"{name}, line {number}: a boundary is not the empty text")
        if any(0xD800 <= ord(c) < 0xE000 for c in value):
            raise OptionError(f"{name}, line {number}: half of a surrogate pair is no text")
        found[value] = None
    if not found:
        raise OptionError(f"{name} has no boundary; write one a line")
    return _Asked(list(found), f"those of {path}")


def _unquoted(line: str) -> str:
    if line.startswith('"'):
        try:
            value = json.loads(line)
        except ValueError:  # a boundary that begins with a quote
            return line
        if isinstance(value, str):
            return value
    return line


# ---- showing ----------------------------------------------------------------------------------


class _Report:
    """The report for people."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def show(
        self,
        path: Path,
        test: SelfTest,
        asked: _Asked,
        found: list[Boundary],
        chat: ChatTemplate | None,
        outcome: Outcome,
    ) -> None:
        out = self._screen.out
        out.print(Text.assemble(("tokenizer   ", "dim"), shown_text(str(path))))
        out.print(Text.assemble(("self-test   ", "dim"), self._test(test)))
        out.print(Text.assemble(("boundaries  ", "dim"), shown_text(asked.how)))
        for text, each in zip(asked.boundaries, found, strict=True):
            out.print(self._panel(_title(text, each), each.outcome, each.verdicts))
        if chat is not None:
            for role in chat.roles:
                out.print(self._panel(f"role {role.role}", worst(role.verdicts), role.verdicts))
            out.print(self._panel("another turn", chat.appending.outcome, (chat.appending,)))
            for part in chat.unsettled:
                out.print(Text.assemble(("not followed  ", "yellow"), shown_text(part)))
        roles = () if chat is None else chat.roles
        control = [*(each.from_text for each in found), *(role.control for role in roles)]
        if any(verdict.outcome == "witness" for verdict in control):
            out.print(Text(_APART))
        out.print(Text(_PROVED, style="dim"))
        out.print(Text.assemble(("in all      ", "dim"), self._outcome(outcome)))

    def summarize(
        self,
        test: SelfTest,
        asked: _Asked,
        found: list[Boundary],
        chat: ChatTemplate | None,
        outcome: Outcome,
    ) -> None:
        """A line for the self-test, for each boundary, for each role of the chat template, and for all."""
        self._screen.out.print(Text.assemble("self-test  ", self._test(test)), soft_wrap=True)
        outcomes = [
            (f"boundary {_title(text, each)}", each.outcome)
            for text, each in zip(asked.boundaries, found, strict=True)
        ]
        if chat is not None:
            outcomes += [(f"role {role.role}", worst(role.verdicts)) for role in chat.roles]
            outcomes.append(("another turn", chat.appending.outcome))
        for what, verdict in [*outcomes, ("in all", outcome)]:
            self._screen.out.print(Text.assemble(self._outcome(verdict), "  ", what), soft_wrap=True)

    def _test(self, test: SelfTest) -> Text:
        if test.mismatch is not None:
            return Text.assemble(
                self._screen.mark(False),
                " failed, so that no proof below holds: ",
                shown_text(str(test.mismatch)),
            )
        if test.reason:
            return Text(f"not tested: {shown_text(test.reason)}", style="yellow")
        says = f" passed: {test.program} writes {test.texts:,} texts with our tokens"
        return Text.assemble(self._screen.mark(True), shown_text(says))

    def _outcome(self, outcome: Outcome) -> Text:
        if outcome == "not settled":
            return Text("? not settled", style="bold yellow")
        return Text.assemble(
            self._screen.mark(outcome == "proved"), " ", (outcome, f"bold {_COLOURS[outcome]}")
        )

    def _panel(self, title: str, outcome: Outcome, verdicts: tuple[Verdict, ...]) -> Panel:
        lines: list[Text | Padding] = []
        drawn: set[tuple[bytes, int]] = set()
        for verdict in verdicts:
            line = Text.assemble(self._outcome(verdict.outcome), "  ", shown_text(verdict.claim))
            if verdict.reason and not verdict:
                line.append(f": {_short(verdict.reason)}", style="dim")
            lines.append(line)
            witness = verdict.witness
            if witness is None:
                continue
            if (witness.text, witness.position) in drawn:
                lines.append(_indented(Text("the text above", style="dim")))
                continue
            drawn.add((witness.text, witness.position))
            lines += self._drawing(witness)
        return Panel(Group(*lines), title=Text(title), title_align="left", border_style=_COLOURS[outcome])

    def _drawing(self, witness: Witness) -> Iterator[Padding]:
        """The text, a caret under the border, what happens there, and the tokens with their ids."""
        room = max(8, self._screen.out.width - 4 - _INDENT)  # within the panel
        before, after = self._halves(witness)
        before = _last(before, max(room // 2, room - after.cell_len) - 1)
        after.truncate(room - before.cell_len, overflow="ellipsis")
        yield _indented(before + after)
        yield _indented(Text.assemble(" " * before.cell_len, ("^", "bold red")))
        yield _indented(Text(_short(witness.says)))
        if witness.tokens:
            yield _indented(self._tokens(witness))

    def _halves(self, witness: Witness) -> tuple[Text, Text]:
        """The text before and after the border; a token across it has one colour on both sides."""
        pieces = witness.pieces if b"".join(witness.pieces) == witness.text else (witness.text,)
        before, after = Text(), Text()
        begin = 0
        for index, piece in enumerate(pieces):
            cut = min(max(witness.position - begin, 0), len(piece))
            style = self._screen.token_style(index)
            before.append(shown_bytes(piece[:cut]), style=style)
            after.append(shown_bytes(piece[cut:]), style=style)
            begin += len(piece)
        return before, after

    def _tokens(self, witness: Witness) -> Text:
        """The tokens near the border, with their ids, and whether the tokenizer's program was run."""
        ends = [0]
        for piece in witness.pieces:
            ends.append(ends[-1] + len(piece))
        at = sum(end <= witness.position for end in ends[1:])  # the token that the border is in or before
        first = max(0, min(at - _MOST_TOKENS // 2, len(witness.tokens) - _MOST_TOKENS))
        line = Text("tokens ")
        line.append("… " if first else "")
        last = first + _MOST_TOKENS
        for index, (token, piece) in enumerate(
            zip(witness.tokens[first:last], witness.pieces[first:last], strict=False), first
        ):
            line.append(shown_bytes(piece), style=self._screen.token_style(index))
            line.append(f" {token}  ", style="dim")
        line.append("… " if last < len(witness.tokens) else "")
        says = {
            True: "written so by its own program",
            False: "its own program writes other tokens",
            None: "by our tables; its own program was not asked",
        }
        line.append(f"({says[witness.replayed]})", style="dim")
        return line


def _short(text: str) -> str:
    return shown_text(text if len(text) <= _MOST_SAID else text[: _MOST_SAID - 1] + "…")


def _indented(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, _INDENT))


def _title(text: str, each: Boundary) -> str:
    tokens = ", ".join(map(str, each.tokens[:4])) + (", …" if len(each.tokens) > 4 else "")
    named = f"token {tokens}" if each.tokens else "no token of its own"
    return f"{shown_bytes(text.encode()):.60} · {named}"


def _last(text: Text, cells: int) -> Text:
    """The end of a text that fits."""
    if text.cell_len <= cells:
        return text
    text = text[-cells:]
    while text.cell_len >= cells:
        text = text[1:]
    return Text("…") + text
