# Made by tools/make_stub.py from core/bindings.
"""
The engine (C++): this module only converts arguments and results; core/ has the algorithms.
"""

import enum
from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import numpy
import numpy.typing
from numpy.typing import NDArray

def report_leaks() -> None:
    """
    At the end of the process, nanobind reports its objects that are still alive; for tests.
    """

def steps_of_thread() -> int:
    """
    The steps of work that all calls of this thread have taken, the same in every run; for tests.
    """

class Expression:
    """A pattern in the engine: an immutable tree."""

    @property
    def depth(self) -> int:
        """How deep the tree nests."""

    @property
    def control_tokens(self) -> list[str]:
        """The names of the control tokens in it."""

    @property
    def sees_edges(self) -> bool:
        """Whether it contains a :func:`one_token`."""

    @property
    def has_rules(self) -> bool:
        """Whether rules are in it, so that its texts need not be a regular set."""

def empty() -> Expression:
    """No text at all."""

def epsilon() -> Expression:
    """The empty text."""

def literal(data: bytes) -> Expression:
    """Exactly these bytes."""

def code_points(ranges: Sequence[tuple[int, int]]) -> Expression:
    """
    One code point of the inclusive ranges, in UTF-8; surrogates are dropped.
    """

def concat(items: Sequence[Expression]) -> Expression:
    """The items in sequence."""

def union(items: Sequence[Expression]) -> Expression:
    """Any one of them."""

def repeat(body: Expression, minimum: int, maximum: int | None, position: int = -1) -> Expression:
    """
    ``body``, ``minimum`` to ``maximum`` times; ``None`` means no bound.

    ``position`` is its offset in the pattern, for errors, or -1.
    """

def text() -> Expression:
    """Every valid UTF-8 text."""

def anything() -> Expression:
    """
    Every sequence of bytes and control tokens: what lookarounds leave open.
    """

def intersect(items: Sequence[Expression]) -> Expression:
    """The texts of all of them."""

def complement(body: Expression) -> Expression:
    """Every sequence of :func:`anything` that is not in ``body``."""

def look_ahead(rest: Expression) -> Expression:
    """Matches the empty text where the rest of the scope is in ``rest``."""

def look_behind(prefix: Expression) -> Expression:
    """
    Matches the empty text where the text since the beginning of the scope is in ``prefix``.
    """

def scope(body: Expression) -> Expression:
    """``body``, whose lookarounds see only its own text."""

def strings(strings: list[str]) -> Expression:
    """One of these strings."""

def substrings(text: str, limits: Limits, cancel: CancelToken | None) -> Expression:
    """
    Any substring of ``text``, including the empty one; made within the limits.
    """

def until(phrase: str) -> Expression:
    """Text that ends with ``phrase``, which appears nowhere in it before."""

def numbers(
    minimum: str | None,
    exclusive_minimum: bool,
    maximum: str | None,
    exclusive_maximum: bool,
    multiple_of: str | None,
    integral: bool,
    digits_only: bool,
    spelling: str,
) -> Expression:
    """
    The JSON numbers with a value within the bounds, a multiple, and an integer if ``integral``.

    Bounds and ``multiple_of`` are decimals in JSON's syntax; values are compared exactly.

    Args:
        minimum: the least value; ``None`` means no bound.
        exclusive_minimum: whether the minimum itself is excluded.
        maximum: likewise.
        exclusive_maximum: likewise.
        multiple_of: greater than zero.
        integral: the value is an integer; ``1.0`` and ``1e2`` are.
        digits_only: written as an optional minus and digits alone, and so integral.
        spelling: ``"any"``: every spelling that JSON allows, with exponents of at most four digits;
            ``"plain"``: that of ``json.dumps`` for integers and floats; ``"natural"``: see
            ``core/json/number_set.hpp``.

    Raises:
        ValueError: not a JSON number, more than 400 significant digits (18 of ``multiple_of``), or an
            exponent of more than four digits.
    """

def spelled_in_json(expression: Expression, any_spelling: bool) -> Expression:
    """
    The texts of ``expression``, spelled as between the quotes of a JSON string.

    As ``json.dumps(ensure_ascii=False)`` writes them, or in any spelling that JSON allows: ``\\/``,
    ``\\u00E9``, pairs of surrogates, but no lone ones.  Algorithm: ``core/expression/json_spelling.hpp``.

    Raises:
        ValueError: the expression has control tokens or token edges.
    """

def control_token(name: str) -> Expression:
    """The control token of that name."""

def one_token(ranges: Sequence[tuple[int, int]]) -> Expression:
    """
    One text token, from edge to edge, whose bytes are all in the inclusive ranges.
    """

class RuleSetError(ValueError):
    """
    Expressions that are not a valid set of rules; the message says which of them, and why.
    """

def terminal(body: Expression) -> Expression:
    """
    ``body``, a regular set of texts that is handled as one unit in rules: a string, a number.

    It has the texts of ``body``; its segment of a vocabulary is computed once, whatever follows it.
    """

def reference(rule: int) -> Expression:
    """A text of a rule, by its number; only within :func:`rules`."""

def rules(bodies: Sequence[Expression], start: Expression) -> Expression:
    """
    The texts of ``start``, which like ``bodies`` may refer to rules: number i is ``bodies[i]``.

    Algorithm: ``core/expression/expression_rules.hpp``.

    Raises:
        RuleSetError: a rule accepts the empty text, is left recursive, or contains control tokens or token
            edges; a reference names no rule, or is within a complement, an intersection, a lookaround or a
            terminal.
    """

def shortest_text(
    expression: Expression, limits: Limits, cancel: CancelToken | None, pattern: str | None, is_pattern: bool
) -> bytes | None:
    """A shortest text of the expression; ``None`` if it has none."""

class JsonType(enum.Flag):
    """Types of JSON values, as bits."""

    NULL = 1

    FALSE = 2

    TRUE = 4

    NUMBER = 8

    STRING = 16

    ARRAY = 32

    OBJECT = 64

class ValueTable:
    """
    Sets of JSON values, as nodes that refer to each other.

    Members are as in ``tokamata.patterns.json_schema.table``.  Nodes are numbers; an unknown number raises
    ``IndexError``.  ``core/json/`` defines the table and its texts.
    """

    def __init__(self) -> None: ...
    def any_value(self) -> int: ...
    def no_value(self) -> int: ...
    def all_of(self, nodes: list[int]) -> int: ...
    def any_of(self, nodes: list[int]) -> int: ...
    def one_of(self, nodes: list[int]) -> int: ...
    def negate(self, node: int) -> int: ...
    def types(self, mask: int) -> int: ...
    def integral(self) -> int: ...
    def number_range(
        self,
        minimum: str | None,
        exclusive_minimum: str | None,
        maximum: str | None,
        exclusive_maximum: str | None,
        multiple_of: str | None,
    ) -> int:
        """
        Raises ValueError if a bound is not a number, or has too many digits for exact comparison.
        """

    def string(self, language: Expression) -> int: ...
    def string_length(self, minimum: int, maximum: int | None) -> int: ...
    def items(self, prefix: list[int], rest: int) -> int: ...
    def array_length(self, minimum: int, maximum: int | None) -> int: ...
    def contains(self, node: int, minimum: int, maximum: int | None) -> int: ...
    def unique(self) -> int: ...
    def property(self, name: str, node: int) -> int: ...
    def matching(self, language: Expression, node: int) -> int: ...
    def others(self, names: list[str], languages: Sequence[Expression], node: int) -> int: ...
    def has(self, name: str) -> int: ...
    def property_count(self, minimum: int, maximum: int | None) -> int: ...
    def nested(self, depth: int, most_inside: int | None) -> int: ...
    def constant(self, value: Any | None) -> int: ...
    def constants(self, values: list[Any]) -> int: ...
    def reserve(self) -> int: ...
    def define(self, number: int, node: int) -> None: ...
    def include(self, other: ValueTable, root: int) -> int:
        """
        Copies the nodes of another table; returns the number of its ``root`` in this one.
        """

    def words(self) -> tuple[list[str], list[str], bool]:
        """
        The names of members, and the strings that are constants, or stand within one.
        """

    def texts(
        self,
        root: int,
        property_order: str,
        whitespace: str,
        spelling: str,
        most_blanks: int | None = None,
        within: Expression | None = None,
    ) -> Expression:
        """
        The JSON texts of the values of a node, in a style; with no more than so many blanks, one after the
        other; ``within``: the spellings of strings and names.
        """

    def tagged_texts(
        self,
        root: int,
        property_order: str,
        whitespace: str,
        spelling: str,
        most_blanks: int | None,
        pieces: dict[str, Any],
    ) -> Expression:
        """
        The objects of a node, their members between tags; ``pieces``: json/tag_style.hpp.
        """

class Split:
    """The split of a text that arrives piece by piece."""

    def fork(self) -> Split:
        """A second one at the same position."""

    def feed(self, data: bytes) -> None:
        """
        Reads more bytes.  A call that raises LimitExceeded or Cancelled changes nothing.
        """

    def certain(self, skip: int) -> list[tuple[int, int]]:
        """
        The marks that all continuations have in common, with positions, except the first ``skip``.
        """

    @property
    def bound(self) -> int:
        """
        The position up to which all continuations assign the text to the current part.
        """

    def end(self) -> list[tuple[int, int]] | None:
        """All marks if the text ends here; ``None`` if it cannot."""

class Splitter:
    """
    Splits texts into the parts of a program; ``core/programs/splitter.hpp`` has the algorithm.

    Args:
        leaves: the expressions that the program's parts read.
        code: the instructions, as ``tokamata.patterns.regex.program`` makes them.
        limits, cancel: for each call.
        pattern: the pattern that errors show.

    Raises:
        ValueError: the program refers to a leaf or an instruction that does not exist.
        LimitExceeded, Cancelled: the work was stopped.
    """

    def __init__(
        self,
        leaves: Sequence[Expression],
        code: Sequence[tuple[str, int, int, int, int | None, str]],
        limits: Limits,
        cancel: CancelToken | None,
        pattern: str,
    ) -> None: ...
    def split(self, text: bytes) -> tuple[list[tuple[int, int]] | None, int]:
        """
        The marks of the preferred split with their positions, or ``None`` without a split; and the length
        of the longest prefix that some accepted text has too.

        Raises:
            LimitExceeded, Cancelled: the work was stopped.
        """

    def begin(self) -> Split:
        """Begins to split a text that arrives piece by piece."""

    @property
    def memory_bytes(self) -> int:
        """How many bytes of expressions, transitions and borders are held now."""

NO_EDIT: int = 4294967295

MOST_MODES: int = 16

ALL_MODES: int = 65535

BY_WRITTEN: int = 255

class EditKind(enum.IntEnum):
    """What an edge of a search for repairs does."""

    KEEP = 0

    REWRITE = 1

    REMOVE = 2

    INSERT = 3

    REPLACE = 4

class GraphBytes(enum.IntEnum):
    """Which insertions and replacements a graph has at a position."""

    CHEAPEST = 0
    """The cheapest between two nodes."""

    ALL = 1
    """Every byte, but none that leads from a node to itself."""

    ALL_WITH_LOOPS = 2
    """Every byte."""

class EditMachine:
    """
    The transducer of edits: its modes and the costs of single bytes; ``core/repair/edit_model.hpp``.

    Args:
        after: for each mode 256 bytes: the mode that each byte leads to that is kept or rewritten to.
        inserted: the same for each byte that is inserted or replaces another.
        costs: for each mode six tables by byte, as ``uint32``: to prepend, insert, append, remove, replace
            and keep one; 2^32 - 1: never.

    Raises:
        ValueError: there are no modes, or more than 16, or a byte leads to none of them.
    """

    def __init__(self, after: bytes, inserted: bytes, costs: bytes) -> None: ...

class Rewrites:
    """
    The rewrites that a text admits, by position; those of one position by the number of their pattern.

    Args:
        rewrites: begin, end, what is written, the cost, the modes in which it may be taken as bits, and the
            mode that it leads to; 255: the one that the written bytes lead to.
    """

    def __init__(self, rewrites: Sequence[tuple[int, int, bytes, int, int, int]]) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> tuple[int, int, bytes, int, int, int, int]:
        """The same, and the number of the pattern."""

    def add(self, rewrites: Sequence[tuple[int, int, bytes, int, int, int, int]]) -> None:
        """Adds more, at their places."""

class Doubts:
    """
    Bytes of a text that cost something to keep, by position; those of one position by their numbers.

    Args:
        doubts: the position, the cost, the modes where it holds as bits, and a number, such as that of the
            pattern.
    """

    def __init__(self, doubts: Sequence[tuple[int, int, int, int]]) -> None: ...
    def __len__(self) -> int: ...
    def all(self) -> list[tuple[int, int, int, int]]:
        """The same, in their order."""

    def add(self, doubts: Sequence[tuple[int, int, int, int]]) -> None:
        """Adds more, at their positions."""

    def dearest(self, position: int, mode: int) -> int | None:
        """
        The number of the dearest doubt about a byte in a mode; of equal ones the first.
        """

class BytePatterns:
    """
    Patterns of bytes, all found in one pass; ``core/repair/byte_patterns.hpp`` has the algorithm.

    Args:
        patterns: of each a number of its own, ascending; the program; sets of the bytes that it begins with
            and that may stand before it; whether it may begin the text; the modes where its matches count, as
            bits, and the mode that they lead to; and what a match means.  The template of a rewrite: two
            texts, whether what was found stands between them, and the cost.  A doubt: its cost.
        sets: sets of bytes, each in 32 bytes.
    """

    def __init__(
        self,
        patterns: Sequence[
            tuple[
                int,
                Sequence[tuple[str, int, int, int, int | None, str]],
                int,
                int,
                tuple[bytes, bool, bytes, int] | int | None,
            ]
        ],
        sets: Sequence[bytes],
    ) -> None: ...
    def found(
        self,
        text: bytes,
        machine: EditMachine,
        led: int,
        most: int,
        limits: Limits,
        cancel: CancelToken | None,
    ) -> tuple[Rewrites, Doubts, list[tuple[int, int, int]]]:
        """
        The rewrites that a text admits, the doubts about it; of other patterns number, begin and end.

        Patterns of modes that no edit leads to are left out; ``led``: modes that other rewrites lead to.

        Raises:
            LimitExceeded, Cancelled: the work was stopped, or there are more than ``most``.
        """

class KeptAutomata:
    """
    The byte automata of a pattern, kept between repairs; see ``core/repair/kept_automata.hpp``.

    Args:
        expression: the texts that are accepted.
    """

    def __init__(self, expression: Expression) -> None: ...
    def refused_at(self, text: bytes, limits: Limits, cancel: CancelToken | None, pattern: str) -> int | None:
        """
        ``None`` if the pattern accepts a text; otherwise how many bytes some text of it may begin with.

        Raises:
            LimitExceeded, Cancelled: the work was stopped.
        """

    def accepts(self, text: bytes, limits: Limits, cancel: CancelToken | None, pattern: str) -> bool:
        """
        Whether the pattern accepts a text; sooner than by ``refused_at`` if it does not.

        Raises:
            LimitExceeded, Cancelled: the work was stopped.
        """

    @staticmethod
    def idle_bytes() -> int:
        """What the automata of all patterns take that no search uses now."""

class RepairEdits:
    """The edits of an answer, which take memory and time when they are made."""

    def __len__(self) -> int: ...
    def all(self) -> list[tuple[str, int, int, bytes, int, int]]:
        """
        Each edit: kind, begin, end, what is written, the number of the rewrite, the mode before it.

        ``"keep"``: of a byte that is in doubt, or that its mode has a price for.
        """

class RepairSearch:
    """
    The search for the cheapest repair of a text; ``core/repair/search.hpp`` has the algorithm.

    Args:
        automata: of the texts that are accepted.
        text: the broken text.
        machine: modes, and the costs of single bytes.
        rewrites: as :class:`Rewrites`, in the order of their beginnings.
        doubts: as :class:`Doubts`.
        firm: positions of bytes that cost more to remove or replace, or to insert one before, and how much.
        weight: in hundredths, at least 100.
        limits, cancel: of the search as a whole.
        pattern: the pattern that errors show.

    Raises:
        EmptyConstraintError: no text is accepted.
        ValueError: the costs or the rewrites are not as above.
        LimitExceeded, Cancelled: the work was stopped before there was an answer.
    """

    def __init__(
        self,
        automata: KeptAutomata,
        text: bytes,
        machine: EditMachine,
        rewrites: Rewrites,
        doubts: Doubts,
        firm: Sequence[tuple[int, int]],
        weight: int,
        limits: Limits,
        cancel: CancelToken | None,
        pattern: str,
    ) -> None: ...
    def improve(self) -> str:
        """
        ``"better"``: there is a better answer; ``"optimal"``: there is none; ``"stopped"``: a
        limit was reached.
        """

    @property
    def text(self) -> bytes:
        """The best text so far."""

    @property
    def cost(self) -> int:
        """Its cost."""

    @property
    def edits(self) -> RepairEdits:
        """The edits of the best answer so far."""

    @property
    def lower_bound(self) -> int:
        """No answer costs less."""

    @property
    def expansions(self) -> int:
        """How many nodes were expanded."""

    @property
    def memory_bytes(self) -> int:
        """How many bytes of states and nodes are held now."""

    def proof(self) -> tuple[int, bytes, bool]:
        """
        The lower bound, what proves it, and whether its nodes are of the pattern itself.
        """

    def graph(
        self, bound: int, is_exact: bool, bytes: bytes, limits: Limits
    ) -> tuple[
        NDArray[numpy.uint32],
        bytes,
        NDArray[numpy.uint32],
        NDArray[numpy.uint32],
        NDArray[numpy.uint32],
        NDArray[numpy.uint8],
        NDArray[numpy.uint32],
        NDArray[numpy.uint32],
        NDArray[numpy.uint64],
        list[bytes],
        bool,
    ]:
        """
        All repairs that cost no more than a bound, as a graph; ``core/repair/graph.hpp`` has the details.

        The position of each node (``uint32``) and its mode (``uint8``); the numbers of the end nodes
        (``uint32``); the edges, 24 bytes each: from, to, 8 · operand + kind, the number of a set of bytes
        (``uint32``), the cost (``uint64``), in the order of the machine; the sets of bytes, of which set 0 is
        empty and stands for the operand alone; and whether the bound has left out nothing.  The start is
        node 0.

        Args:
            bound: the most that a repair costs.
            is_exact: of the pattern; otherwise of its over-approximation.
            bytes: of each position its :class:`GraphBytes`; ``CHEAPEST`` past its end.
            limits: of this call.

        Raises:
            LimitExceeded, Cancelled: the work was stopped.
        """

def flaw_of_bound(
    expression: Expression,
    text: bytes,
    machine: EditMachine,
    rewrites: Rewrites,
    doubts: Doubts,
    firm: Sequence[tuple[int, int]],
    bound: int,
    reached: bytes,
    is_exact: bool,
    limits: Limits,
    cancel: CancelToken | None,
    pattern: str,
) -> str:
    """What is wrong with the proof of a bound; ``""`` if it holds."""

class OutlineEvent(enum.Enum):
    """The kinds of events of a BracketOutline."""

    ROOT = 0
    """A bracket within no other begins."""

    ITEM = 1
    """An item has ended."""

    REPEATED = 2
    """The name of a whole member comes again."""

    CLOSED = 3
    """A bracket has closed."""

class BracketOutline:
    """
    Items that brackets hold, in a text that arrives in pieces; ``core/json/bracket_outline.hpp``.

    Args:
        begin: what stands before it is not read.
        tags: their begins in angle brackets are no text; reading stops there until the end of the text.
        most_items: of a bracket; further ones are not reported.
        reports_inner: whether closed brackets within others are reported.
        keeps_names: whether a closed object is reported with the names in it.
    """

    def __init__(
        self, begin: int, tags: Sequence[str], most_items: int, reports_inner: bool, keeps_names: bool
    ) -> None: ...
    def read(
        self, text: bytes | bytearray, is_end: bool, most_bytes: int
    ) -> tuple[list[tuple[Any, ...]], bool]:
        """
        Events, and whether there is more to read; it stops after some ``most_bytes``.

        An event begins with the number of its kind, an ``OutlineEvent``.  ``ROOT``: where it begins.
        ``ITEM``: whether it is a member, whole, the only one; its begin and end, where it ends with its
        comma, and, of the last one, where it begins with the comma before it.  ``REPEATED``: the begin of
        the member, and its end with its comma.  ``CLOSED``: whether the bracket is within no other, an
        object, has items; its begin and end, its height, and the names in it.  What there is not is -1.
        """

    def finish(self, end: int) -> list[tuple[Any, ...]]:
        """The events of items that the end of the text leaves open."""

    def open(self, index: int) -> tuple[bool, bool, int, int, int, int, int]:
        """
        An open bracket: whether it is an object, whether the item that is read has a name, and positions.

        These are the begin of the bracket, of the item, of one that has ended and is not reported, where that
        one begins with the comma before it, and where the one that is read or comes next does.
        """

    def first_open_from(self, position: int) -> int:
        """
        The first open bracket of which the item that is read begins at a position or later.
        """

    @property
    def position(self) -> int:
        """All before it has been read."""

    @property
    def depth(self) -> int:
        """How many brackets are open."""

    @property
    def last_begin(self) -> int:
        """Where the last string, word or other byte in a bracket begins."""

    @property
    def unmatched(self) -> int:
        """
        The end of the last bracket that closed nothing outside of all others; -1: there is none.
        """

class StreamSearch:
    """
    The search that follows a text while it arrives; ``core/repair/stream_search.hpp`` has the algorithm.

    Args:
        automata: of the texts that are accepted.
        machine: modes, and the costs of single bytes.
        patterns: of rewrites and doubts.
        prices: by number of a pattern: its cost as a rewrite.
        slack: what a repair may cost more than the cheapest one and count nevertheless.
        limits, cancel: of the stream as a whole.
        pattern: the pattern that errors show.

    Raises:
        EmptyConstraintError: it is seen at once that no text is accepted.
        ValueError: a pattern has no price.
        LimitExceeded, Cancelled: the work was stopped.
    """

    def __init__(
        self,
        automata: KeptAutomata,
        machine: EditMachine,
        patterns: BytePatterns,
        prices: Sequence[int],
        slack: int,
        limits: Limits,
        cancel: CancelToken | None,
        pattern: str,
    ) -> None: ...
    def feed(self, bytes: bytes) -> list[tuple[int, int, int]]:
        """
        More of the text; of patterns without a template, the matches that are certain: number, begin, end.

        Raises:
            LimitExceeded, Cancelled: the work was stopped; nothing more may be fed.
        """

    def advance(
        self,
        rewrites: Sequence[tuple[int, int, bytes, int, int, int]],
        firm: Sequence[tuple[int, int]],
        open_rewrites: Sequence[tuple[int, int, int]],
        settled: int,
        withheld: int,
    ) -> bytes:
        """
        Searches on; returns what more is decided of the repaired text.

        Args:
            rewrites, firm: what is known since the last call.
            open_rewrites: positions where rewrites may turn out to begin, their costs and modes.
            settled: the position up to which firm bytes are known.
            withheld: the position from which nothing is to be decided.

        Raises:
            ValueError: a position is beyond the text.
            Cancelled: the work was stopped.
        """

    def undecided(self) -> bytes:
        """
        The cheapest repair of the text so far, after what is decided.

        Raises:
            LimitExceeded, Cancelled: the work was stopped.
        """

    @property
    def follows(self) -> bool:
        """Whether no limit has ended the search."""

    @property
    def decided_until(self) -> int:
        """How much of the text the decided part of the repaired text has read."""

    @property
    def cost(self) -> int | None:
        """
        What the cheapest repair of what is settled costs at least; ``None``: no cheap one is known.
        """

    @property
    def bound(self) -> int | None:
        """
        What a whole repair may cost for which all holds that is decided; ``None`` where ``cost`` is.
        """

    @property
    def expansions(self) -> int:
        """How many nodes were expanded."""

    @property
    def memory_bytes(self) -> int:
        """What the search holds, and the automaton that it has borrowed."""

class TokenPlaces:
    """
    Where token sequences of a constraint may stand, as repairs search them; see
    ``core/repair/token_places.hpp``.  :meth:`Constraint.token_places` makes them.
    """

    def accepts(
        self, tokens: Sequence[int], limits: Limits, cancel: CancelToken | None, pattern: str
    ) -> bool:
        """
        Whether the constraint accepts a sequence without stop tokens.

        Raises:
            LimitExceeded, Cancelled: the work was stopped.
        """

    def flaw_of_bound(
        self,
        tokens: Sequence[int],
        insert: Sequence[int],
        remove: Sequence[int],
        replace: Sequence[int | None],
        types: bytes,
        bound: int,
        is_relaxed: bool,
        limits: Limits,
        cancel: CancelToken | None,
        pattern: str,
    ) -> str:
        """
        What is wrong with the claim that no repair costs less than ``bound``; empty where it holds.

        Args:
            tokens: the sequence that is repaired, without stop tokens at its end.
            insert, remove, replace, types: as :class:`TokenRepairSearch` has them.
            is_relaxed: whether it is claimed of a set that includes the accepted sequences.

        Raises:
            LimitExceeded, Cancelled: the work was stopped.
        """

class TokenRepairSearch:
    """
    The search for the cheapest repair of a token sequence; ``core/repair/token_search.hpp`` has it.

    Args:
        places: of the constraint.
        making: limits on what is made before the search, if no repair has made it.
        tokens: the sequence, without stop tokens at its end.
        insert, remove, replace: costs, by type of token; ``None``: such tokens are not replaced.
        types: the type of each id; empty: all are of type 0.
        weight: in hundredths, at least 100.
        limits, cancel: of the search as a whole.
        pattern: the pattern that errors show.

    Raises:
        ValueError: a type has no costs.
        LimitExceeded, Cancelled: the work was stopped before there was an answer.
    """

    def __init__(
        self,
        places: TokenPlaces,
        making: Limits,
        tokens: Sequence[int],
        insert: Sequence[int],
        remove: Sequence[int],
        replace: Sequence[int | None],
        types: bytes,
        weight: int,
        limits: Limits,
        cancel: CancelToken | None,
        pattern: str,
    ) -> None: ...
    def improve(self) -> str:
        """
        ``"better"``: there is a better answer; ``"ended"``: there is none to be found; ``"stopped"``: a
        limit was reached.
        """

    @property
    def edits(self) -> list[tuple[Any, int, int | None]]:
        """
        Those of the best answer so far: a name, an index, and the token written.
        """

    @property
    def cost(self) -> int:
        """Of the best answer so far."""

    @property
    def lower_bound(self) -> int:
        """No answer costs less."""

    @property
    def is_bound_relaxed(self) -> bool:
        """Whether that is proven of a set that includes the accepted sequences."""

    @property
    def expansions(self) -> int:
        """How many nodes were expanded."""

class CancelToken:
    """Stops work under way, from any thread."""

    def __init__(self) -> None: ...
    def cancel(self) -> None:
        """
        Makes all work that was given this token raise tokamata.Cancelled, now and later.
        """

    @property
    def cancelled(self) -> bool:
        """Whether cancel() was called."""

class Limits:
    def __init__(self, states: int, memory_bytes: int, seconds: float, depth: int) -> None: ...

class Vocabulary:
    def __init__(self, tokens: list[bytes | None], stop: Sequence[int], width: int) -> None: ...
    @property
    def content(self) -> bytes:
        """The bytes that identify the tokens, for the names of derived files."""

    def use_segment_files(self, folder: str, least_seconds: float, most_written: int) -> None:
        """
        Keeps segments of this vocabulary in a folder, and uses those that are there.

        Must be called before anything is compiled for the vocabulary.

        Args:
            folder: only for this vocabulary and this version of the engine; created by the first write.
            least_seconds: a segment that took less is not written.
            most_written: the number of bytes that this object may write.
        """

    def tokens_with(self, text: bytes) -> list[int]:
        """The tokens whose bytes are these."""

    @property
    def trie_nodes(self) -> int: ...
    @property
    def trie_bytes(self) -> int: ...
    @property
    def longest(self) -> int: ...

def merge_ids(
    merges: list[Any], ids: dict[str, int]
) -> tuple[NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.uint32]]:
    """
    The ids of the left parts of merges, of their right parts, and of their results.

    Args:
        merges: lists of two texts each, or both in one string, with a space between them.
        ids: tokens by their text.

    Returns:
        Three arrays of equal length, up to the first merge with a text that has no id.
    """

def rank_merge_ids(
    ids: dict[str, int] | dict[bytes, int],
) -> tuple[
    numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.uint32]
]:
    """
    The same, with a merge for each cut of a text into two texts that have ids.
    """

def merge_tables(
    left: NDArray[numpy.uint32],
    right: NDArray[numpy.uint32],
    result: NDArray[numpy.uint32],
    rank: NDArray[numpy.uint32],
    atom_offsets: NDArray[numpy.uint32],
    atoms: NDArray[numpy.uint32],
) -> dict[str, NDArray[numpy.uint32]]:
    """
    The engine's tables of the merges of byte-pair encoding, by name; see ``core/canonical/merges.hpp``.

    Raises:
        ValueError: the arrays have different lengths, or a number is not a token.
    """

def unigram_sets(vocabulary: Vocabulary, tables: dict[str, Any]) -> dict[str, NDArray[numpy.uint32]]:
    """
    The engine's sets of the pieces of a Unigram model, by name; see ``core/canonical/unigram_pieces.hpp``.

    Args:
        vocabulary: the tokens.
        tables: those of the model without these sets: ``scores``, ``floats``, ``unknown_score``, ``units``,
            ``are_single`` and ``byte_tokens``.

    Raises:
        ValueError: the tables contradict each other, or the vocabulary.
    """

class WordRole(enum.Enum):
    """What a token does in a word that is cut by longest match."""

    NONE = 0

    BEGINS = 1

    CONTINUES = 2

class Tokenization:
    """
    A tokenizer as an automaton over its tokens; see ``core/canonical/tokenization.hpp``.
    """

    def __init__(self, vocabulary: Vocabulary, tables: dict[str, Any]) -> None: ...
    @property
    def guesses(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...
    def first_noncanonical(self, tokens: Sequence[int]) -> int | None:
        """
        The index of the first token that no canonical sequence has there.

        ``None`` if the sequence is canonical; ``len(tokens)`` if it is only a prefix of a canonical one.
        """

class Before(enum.Enum):
    """What stands before a text."""

    NOTHING = 0

    ADDED_TOKEN = 1

    CONTROL_TOKEN = 2

class EdgeAutomaton:
    """
    An automaton over bytes and token edges; see ``core/canonical/edge_automaton.hpp``.

    Args:
        tables: ``classes`` (``uint8[256]``) and ``class_count``; ``offsets`` and ``targets`` by state and
            class, ``edge_offsets`` and ``edge_targets`` by state (``uint32``); ``accepting`` and ``wide``
            (``uint8``) by state; ``starts`` (``uint32``).

    Raises:
        ValueError: the tables contradict each other.
    """

    def __init__(self, tables: dict[str, Any]) -> None: ...
    @property
    def states(self) -> int: ...

class EdgeSearch:
    """
    Searches for texts by the token edges of their canonical tokenization.

    See ``core/canonical/edge_search.hpp``.
    """

    def __init__(self, tokenization: Tokenization, has_hidden_space: bool) -> None: ...
    def shortest(
        self,
        automaton: EdgeAutomaton,
        before: Before,
        limits: Limits,
        cancel: CancelToken | None,
        pattern: str,
    ) -> bytes | None:
        """
        A shortest text whose canonical tokenization the automaton accepts, in UTF-8.

        Returns:
            ``None`` if there is no such text: this is a proof.

        Raises:
            LimitExceeded: a limit was met before an answer was found.
            Cancelled: ``cancel`` was cancelled.
        """

    def tokens_of(
        self, text: bytes, before: Before, limits: Limits, cancel: CancelToken | None, pattern: str
    ) -> list[int] | None:
        """
        The canonical tokenization of a text in UTF-8.

        Returns:
            ``None`` if the tokenizer cannot write the text, or its normalizer changes it.

        Raises:
            LimitExceeded, Cancelled: as for ``shortest``.
        """

def seam_texts(
    tokenization: Tokenization,
    parts: EdgeAutomaton,
    before: Before,
    most_texts: int,
    limits: Limits,
    cancel: CancelToken | None,
    pattern: str,
) -> tuple[list[tuple[bytes, list[int]]], tuple[bytes, list[int]] | None, tuple[bytes, list[int]] | None]:
    """
    Texts in parts whose tokens may differ from those of the parts; see ``core/canonical/seam_search.hpp``.

    Args:
        tokenization: the tokenizer.
        parts: an automaton whose edges are the seams between the parts.
        before: what stands before the first part.
        most_texts: at most so many different ones are given.

    Returns:
        Texts in which pre-tokens of the parts end elsewhere, the shortest first; one in which a pre-token
        goes on over a seam; one whose normalizer or added tokens join parts.  Each has the offsets of its
        seams.

    Raises:
        LimitExceeded, Cancelled: as for ``EdgeSearch.shortest``.
    """

class SharedConstraint:
    """
    What is compiled once, for all callers.  A caller's limits and cancel token are not kept.
    """

    def __init__(
        self,
        expression: Expression,
        vocabulary: Vocabulary,
        start_vocabulary: Vocabulary | None,
        control_tokens: Mapping[str, Sequence[int]],
        limits: Limits,
        cancel: CancelToken | None,
        pattern: str | None,
        is_pattern: bool,
        tokenization: Tokenization | None,
        thought: tuple[Expression, bytes, int | None, int, bytes] | None = None,
    ) -> None:
        """
        ``thought``: the texts in which it has ended; its end tag; the most tokens that it may have; those
        that are reserved for the answer, or 0; a typical answer.
        """

    @property
    def compile_seconds(self) -> float: ...
    @property
    def states(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...

class Constraint:
    def __init__(
        self,
        shared: SharedConstraint,
        limits: Limits,
        cancel: CancelToken | None,
        pattern: str | None,
        is_pattern: bool,
        spent_seconds: float,
    ) -> None:
        """
        One caller's: with limits, a cancel token, and a pattern for errors.

        ``spent_seconds``: the time that compiling took this caller; 0 where another one had compiled it.
        """

    def closed_form(
        self,
    ) -> tuple[
        NDArray[numpy.uint8],
        NDArray[numpy.int32],
        NDArray[numpy.int64],
        NDArray[numpy.int32],
        NDArray[numpy.int32],
    ]:
        """
        ``accepting: uint8[S]``, ``class_of_token: int32[width]``, ``row_offsets: int64[S + 1]``,
        ``classes: int32[E]`` and ``targets: int32[E]``; state 0 is the start.
        """

    def token_places(self) -> TokenPlaces:
        """
        For repairs of token sequences: states of their own, made from the same.
        """

    def prepare(self, seconds: float, cancel: CancelToken | None) -> tuple[int, bool, float]:
        """
        The number of masks, whether all work was done, and the time in seconds.
        """

    def kept_masks(self, cancel: CancelToken | None) -> bytes:
        """The masks that are kept now, with the bytes that lead to their states."""

    def read_masks(self, bytes: bytes, seconds: float, cancel: CancelToken | None) -> int | None:
        """
        Takes masks over; the number of states that got one, or ``None`` where the bytes are damaged.
        """

    def progress(self, ids: NDArray[numpy.int64], ends: Sequence[int]) -> tuple[int, NDArray[numpy.int64]]:
        """
        Tokens needed at the start, and after each token: -1 once one was refused, -2 after a stop token.

        Args:
            ids: ``int64[tokens]``, the rows one after another, each id within the vocabulary.
            ends: where each row ends; the last one at the number of tokens.

        Raises:
            ValueError: the arguments are not as above.
            LimitExceeded, Cancelled: the work was stopped.
        """

    def mask_work(self) -> dict[str, Any]:
        """
        What was done for all masks so far, counted by name; ``masks`` by maker.
        """

    @property
    def states(self) -> int: ...
    @property
    def memory_bytes(self) -> int: ...

def fill_masks(
    matchers: Sequence[Matcher],
    mask: Any,
    threads: int,
    budgets: Sequence[int | None] | None = None,
    deadline_seconds: float | None = None,
    on_deadline: Literal["error", "some"] = "error",
) -> numpy.typing.NDArray[numpy.uint8]:
    """
    Row ``i`` of ``mask`` becomes the mask of ``matchers[i]``, within ``budgets[i]``.

    Returns whether each row is whole.
    """

def fill_draft_masks(
    matchers: Sequence[Matcher],
    mask: Any,
    drafts: list[Sequence[int]],
    parents: list[Sequence[int] | None],
    threads: int,
    budgets: Sequence[int | None] | None,
    count_stop: bool,
    deadline_seconds: float | None,
    on_deadline: Literal["error", "some"],
) -> tuple[list[numpy.typing.NDArray[numpy.uint8]], numpy.typing.NDArray[numpy.uint8]]:
    """
    The rows of all drafts, one after another.

    Returns which tokens are legal, and whether each row is whole.
    """

class Verdict(enum.Enum):
    """Why a token is refused; or that it is allowed."""

    ALLOWED = 0

    PADDING = 1

    NOT_TEXT = 2

    STOP_TOO_SOON = 3

    AFTER_STOP = 4

    BYTE = 5

    UNSPELLABLE = 6

    NEVER_MADE = 7

    MERGE = 8

    PRE_TOKEN = 9

    NORMALIZER = 10

    ADDED_TOKEN = 11

    DEAD_END = 12

    TOO_SHORT = 13

    TOO_MUCH_THOUGHT = 14

class Matcher:
    @overload
    def __init__(self, origin: Matcher) -> None: ...
    @overload
    def __init__(
        self,
        constraint: Constraint,
        context: Sequence[int],
        written: Sequence[int],
        canonical: Sequence[int],
        stops: Sequence[int] | None,
        least: int,
    ) -> None: ...
    def fill_mask(
        self,
        row: Any,
        budget: int | None = None,
        count_stop: bool = False,
        deadline_seconds: float | None = None,
        on_deadline: Literal["error", "some"] = "error",
    ) -> bool:
        """
        Copies the mask into the caller's row.

        With a budget of ``n`` tokens, it contains exactly the tokens after which at most ``n - 1`` more
        tokens lead to an accepted text, and the stop tokens if the text is accepted.  ``advance`` ignores
        budgets.  Distances in tokens are exact; algorithm: ``core/composition/completions.hpp``.

        For JSON and recursive types the mask may lack some of these tokens: it contains those after which a
        short closing text fits.  A budget of ``len(shortest_completion())`` tokens always suffices.

        Args:
            row: ``int32[ceil(width / 32)]``, contiguous and writable: a row of ``allocate_mask``, or a
                CPU tensor of the same shape and dtype.
            budget: the number of tokens that may still be written; ``None`` means no bound.
            count_stop: whether the budget includes the stop token.
            deadline_seconds: when the call ends, also while it waits for another thread; ``None``: with
                ``Limits.seconds`` alone.  What was made until then is kept.
                A known mask needs no time, unless another thread works on the constraint.
            on_deadline: at the deadline, ``"error"`` raises ``LimitExceeded``; ``"some"`` fills the row with
                the tokens of the mask that are known by then: those that were verified, and the first one of
                a text that completes this one.  Such a row is never empty, and generation goes on with it.
                The next call goes on with the work where it stands; in the end the row is the mask.

        Returns:
            Whether the row is the whole mask; ``False`` only with ``on_deadline="some"``.

        Raises:
            BudgetError: no accepted text can be finished within the budget, or it is 0 or less; the row is
                unchanged.
            MaskError: ``row`` has another dtype, length or layout.
            LimitExceeded, Cancelled: the work was stopped.
        """

    def shortest_completion(self, deadline_seconds: float | None = None) -> list[int]:
        """
        A shortest sequence of tokens after which the text is accepted, without a stop token.

        Empty if the text is accepted already.  Regular patterns: no sequence is shorter.  Method:
        breadth-first search over the states that tokens lead to; results are memoized.

        JSON and recursive types: the search begins with the tokens of a short text that closes the state, so
        it succeeds at any depth; branch and bound then searches for fewer.  It ends early after 131,072 token
        classes or 32,768 new states, with the shortest sequence found so far.  Algorithm:
        ``core/composition/rule_completions.hpp``, and ``core/canonical/canonical_rule_budgets.hpp`` for
        canonical tokens, of which it follows a sample.

        Args:
            deadline_seconds: when the search ends.  By then the tokens of a short text that the pattern knows
                are returned if that took no longer; otherwise ``LimitExceeded`` is raised.

        Raises:
            LimitExceeded, Cancelled: the work was stopped.
        """

    @property
    def mask(self) -> numpy.typing.NDArray[numpy.int32]:
        """
        The mask as a read-only view of the memo: ``int32[ceil(width / 32)]``, no copy.

        Its bits never change, even after the matcher and the memo are gone.
        """

    def advance(self, token: int) -> bool:
        """
        Takes a token; ``False`` refuses it and changes nothing.

        Raises:
            TokenIdError: ``token`` is outside the width of the vocabulary.
            LimitExceeded, Cancelled: the work was stopped.
        """

    def advance_all(self, tokens: Sequence[int]) -> bool:
        """
        Takes a run of tokens, or none of them: ``False`` refuses the run and changes nothing.

        Raises:
            TokenIdError: a token is outside the width of the vocabulary.
            LimitExceeded, Cancelled: the work was stopped.
        """

    def validate(self, tokens: Sequence[int]) -> int:
        """
        How many of the tokens are allowed, one after another; the state does not change.

        Stop tokens count where the text is accepted; after one only stop tokens are allowed.  An id outside
        of the vocabulary, such as -1, is allowed nowhere.

        Raises:
            LimitExceeded, Cancelled: the work was stopped.
        """

    def rollback(self, count: int) -> None:
        """
        Takes back the last ``count`` tokens, stop tokens included.

        Raises:
            RollbackError: the text has fewer tokens; nothing has changed.
        """

    @property
    def is_accepting(self) -> bool:
        """
        Whether the constraint accepts the text so far, and it has ``min_tokens``.
        """

    @property
    def is_finished(self) -> bool:
        """
        Whether a stop token was taken, or the text is accepted and nothing can follow.
        """

    @property
    def tokens(self) -> list[int]:
        """The tokens so far, stop tokens included."""

    @property
    def text(self) -> bytes:
        """
        The bytes of the tokens so far, without stop tokens; it may end inside a code point.
        """

    def forced_text(self) -> bytes:
        """
        The longest common prefix of all continuations, in bytes; it may end inside a code point.
        """

    def forced_tokens(self) -> list[int]:
        """
        The next tokens, as long as the mask has a single bit and that is not a stop token's.
        """

    def _show(self) -> str:
        """
        Where the text stands: the state as an expression, and the hypotheses of the tokenizer.
        """

    def _mask_work(self, deadline_seconds: float | None = None) -> dict[str, Any]: ...
    def _explain(self, token: int) -> tuple[Verdict, int, list[int], list[int], list[str]]: ...
