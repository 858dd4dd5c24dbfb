"""OpenFst's text form of acceptors, transducers and tables of symbols.

A line is a transition or an accepting state; the source of the first line is the start state::

    0   1   97        acceptor: source, target, label
    0   1   97   0    transducer: source, target, input, output
    1                 state 1 accepts

(https://www.openfst.org/twiki/bin/view/FST/FstQuickTour.)  In OpenFst, label 0 is epsilon; here, 0 is a
symbol, such as a byte or a token.  So symbol s is written as label ``s + shift``, by default s + 1.  With
``shift=0`` bytes have pynini's labels, and symbol 0 cannot be written.

A weight may follow; since a set has no weights, it must be that of an unweighted machine, 0.  An
accepting state of weight ``Infinity`` does not accept.  We write such a line for a start state without
transitions, so that the first line still names the start.

An automaton over tokens is written as an acceptor, without its width and stop tokens, which the reader
passes.

A table of symbols has a name and a label on each line, ``<eps>`` and 0 on the first.  Names with
whitespace are written with escapes, and a name that two symbols share gets a number.

States are renumbered when read, in order of their numbers, so that a file of one line cannot request a
billion of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from tokamata.automata.account import Account
from tokamata.automata.machine import EPSILON, MAX_SYMBOL, Machine, Names
from tokamata.calls.arguments import checked_instance
from tokamata.errors import MachineError, MachineFileError

_EPSILON_NAME = "<eps>"
_NUMBER = re.compile("[0-9]{1,10}")
_WEIGHT_ONE = re.compile(r"[-+]?0+(\.0*)?([eE][-+]?[0-9]+)?")
_BLANKS = re.compile("[ \t]+")

Transition = tuple[int, tuple[int, ...], int]

# Reads a label of a line: returns its symbol, or raises an error about the line.
_ReadLabel = Callable[[int, str], int]


def write(machine: Machine[Any], tables: Sequence[Names | None], shift: int, named: bool) -> str:
    """The machine as OpenFst's text; the methods ``to_openfst`` call this.

    Args:
        machine: the machine.
        tables: for each side of a label, the names of its symbols.
        shift: symbol s becomes label s + shift.
        named: write names instead of labels; :func:`symbol_table` writes their table.

    Raises:
        MachineError: the label of a symbol would be 0 or less, or a symbol has no name.
    """
    sides = [_label_writer(names, shift, named) for names in tables]
    lines = []
    for state in (machine.start, *(s for s in range(machine.states) if s != machine.start)):
        for label, target in machine.rows[state]:
            symbols: tuple[int, ...] = label if isinstance(label, tuple) else (label,)
            labels = [text(symbol) for text, symbol in zip(sides, symbols, strict=True)]
            lines.append("\t".join((str(state), str(target), *labels)))
        if state in machine.accepting:
            lines.append(str(state))
        elif state == machine.start and not machine.rows[state]:
            lines.append(f"{state}\tInfinity")
    return "".join(f"{line}\n" for line in lines)


def symbol_table(names: Names, shift: int = 1) -> str:
    """OpenFst's table of these symbols: a name and a label on each line.

    Raises:
        MachineError: the label of a symbol would be 0 or less.
    """
    lines = [f"{_EPSILON_NAME}\t0\n"]
    lines += [f"{name}\t{_label(symbol, shift)}\n" for symbol, name in _unique_names(names).items()]
    return "".join(lines)


class Text(NamedTuple):
    """The contents of a text of OpenFst.

    Attributes:
        transitions: (source, labels, target), a label for each side.
        accepting: the accepting states.
        start: the start state.
        states: the number of states.
        names: for each side, the names of symbols, or ``None`` without a table.
    """

    transitions: list[Transition]
    accepting: list[int]
    start: int
    states: int
    names: list[Names | None]


def read(text: str, tables: Sequence[str | None], shift: int, account: Account) -> Text:
    """Read OpenFst's text; the methods ``from_openfst`` call this.

    Args:
        text: lines as above.
        tables: for each side, its table of symbols if ``text`` has their names; one side is an acceptor,
            two are a transducer.
        shift: label l becomes symbol l - shift.
        account: bounds on the result.

    Raises:
        MachineFileError: a line has another form.
        LimitExceeded: too many states or transitions.
    """
    sides = [_label_reader(table, shift) for table in tables]
    transitions: list[Transition] = []
    accepting: list[int] = []
    states: set[int] = set()
    start: int | None = None
    for number, line, columns in _lines(text):
        account.add_transitions()
        source = _state(number, columns[0])
        start = source if start is None else start
        states.add(source)
        if len(columns) <= 2:
            if not (len(columns) == 2 and columns[1] == "Infinity"):
                _check_weight(number, columns[1:])
                accepting.append(source)
        elif len(columns) in (2 + len(sides), 3 + len(sides)):
            target = _state(number, columns[1])
            states.add(target)
            labels = tuple(
                side(number, column) for (_, side), column in zip(sides, columns[2:], strict=False)
            )
            _check_weight(number, columns[2 + len(sides) :])
            transitions.append((source, labels, target))
        else:
            form = "source, target and label" if len(sides) == 1 else "source, target, input and output"
            raise MachineFileError(number, line, f"{form}, or an accepting state")
    account.add_states(len(states))
    start = 0 if start is None else start
    numbers = {state: number for number, state in enumerate(sorted(states | {start}))}
    return Text(
        [(numbers[source], labels, numbers[target]) for source, labels, target in transitions],
        [numbers[state] for state in accepting],
        numbers[start],
        len(numbers),
        [names for names, _ in sides],
    )


def _lines(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """The number, the text and the columns of each line that is not blank."""
    checked_instance("text", text, str, "OpenFst's text, a str")
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip(" \t\r")
        if stripped:
            yield number, stripped, _BLANKS.split(stripped)


def _state(line: int, column: str) -> int:
    if not _NUMBER.fullmatch(column) or int(column) > MAX_SYMBOL:
        raise MachineFileError(line, column, f"the number of a state, 0 to {MAX_SYMBOL}")
    return int(column)


def _check_weight(line: int, columns: Iterable[str]) -> None:
    for column in columns:
        if not _WEIGHT_ONE.fullmatch(column):
            raise MachineFileError(
                line,
                column,
                "no weight, or 0: these machines have no weights, and a line with an output label belongs "
                "to a transducer",
            )


def _label_reader(symbols: str | None, shift: int) -> tuple[Names | None, _ReadLabel]:
    """The names of a table, and the reader of labels for it; without a table, labels are numbers."""
    if symbols is None:
        return None, lambda line, column: _symbol(line, column, shift)
    by_name: dict[str, int] = {}
    names: dict[int, str] = {}
    for line, text, columns in _lines(symbols):
        if len(columns) != 2:
            raise MachineFileError(line, text, "a name and a label, in the table of symbols")
        name, symbol = columns[0], _symbol(line, columns[1], shift)
        if name in by_name or symbol in names:
            raise MachineFileError(line, text, "a name and a label that no earlier line has")
        by_name[name] = symbol
        names[symbol] = name

    def read_name(line: int, column: str) -> int:
        if column not in by_name:
            raise MachineFileError(line, column, "a name of the table of symbols")
        return by_name[column]

    names.pop(EPSILON, None)
    return names, read_name


def _symbol(line: int, column: str, shift: int) -> int:
    if _NUMBER.fullmatch(column):
        label = int(column)
        if label == 0:
            return EPSILON
        if 0 <= label - shift <= MAX_SYMBOL:
            return label - shift
    first, last = max(shift, 1), MAX_SYMBOL + shift
    raise MachineFileError(line, column, f"a label: 0 for epsilon, or {first} to {last}")


def _label(symbol: int, shift: int) -> int:
    if symbol + shift < 1:
        raise MachineError(
            f"symbol {symbol} would have the label {symbol + shift} with shift={shift}, and labels of "
            "symbols begin at 1 (0 is epsilon); use a larger shift"
        )
    return symbol + shift


def _label_writer(names: Names | None, shift: int, named: bool) -> Callable[[int], str]:
    if not named:
        return lambda symbol: "0" if symbol == EPSILON else str(_label(symbol, shift))
    written = _unique_names(names or {})

    def write_name(symbol: int) -> str:
        if symbol == EPSILON:
            return _EPSILON_NAME
        if symbol not in written:
            raise MachineError(f"symbol {symbol} has no name; give names to the machine, or write labels")
        return written[symbol]

    return write_name


def _unique_names(names: Names) -> dict[int, str]:
    """Names for a table: without whitespace and without repetitions."""
    taken = {_EPSILON_NAME}
    written = {}
    for symbol in sorted(names):
        name = "".join(
            c if c.isprintable() and not c.isspace() else c.encode("unicode_escape").decode()
            for c in names[symbol].replace(" ", r"\x20")
        )
        while not name or name in taken:
            name = f"{name}#{symbol}"
        taken.add(name)
        written[symbol] = name
    return written
