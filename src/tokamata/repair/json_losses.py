"""What a repair has lost, invented and changed of the content of JSON; :mod:`.losses` defines these.

How.  Both texts are cut into units of content (:mod:`.contents`), those of the repaired one by its tokens of
JSON.  The edits align the texts byte by byte.
1. A unit that both texts have at the same bytes is kept.  Only tokens that an edit touches are compared.
2. Between two kept units, each unit of the value takes one unit of the text with the same key, so that
   content may move: a name that is quoted, a text within a longer one.  Each occurrence counts for itself:
   of ``[7, 7]`` that becomes ``[7]``, a 7 is lost.  Then literals are compared in all dialects.
3. What is left of a token and of the text at the same place is the same content spelled otherwise
   (``1.234,56`` and ``1234.56``), or a word that was continued, whose rest is invented, or else changed
   content.  At the same place means: their bytes touch, and a mark before the token, or a part of it, stood
   in the text.
4. The rest of the value is invented, the rest of the text is lost.

Cost.  Linear in both texts, and a logarithm of the number of edits for each unit.
Not taken.  A longest common subsequence of both texts: quadratic, and blind to what the edits say.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import cast

from tokamata.repair.contents import (
    Place,
    Token,
    Unit,
    is_number,
    json_tokens,
    literal_of,
    number_readings,
    units,
)
from tokamata.repair.depths import Depths
from tokamata.repair.losses import (
    BareEdit,
    ContentChange,
    ContentChanges,
    Kind,
    Path,
    Piece,
    character_changes,
    pieces_of,
)

__all__ = ["content_changes"]

# What lies between two units that are one piece of content.
_BREAKS = re.compile(rb"[\"'`{}\[\]:\n]|,\s")
_NAME_ENDS = re.compile(rb"[\"'`\s]*[:=]")
_QUOTES = (b'"', b"'", b"`")


def content_changes(broken: bytes, text: bytes, edits: Iterable[BareEdit], is_json: bool) -> ContentChanges:
    """What edits have lost, invented and changed.

    Args:
        broken: the text before.
        text: the text after.
        edits: what leads from one to the other, in order.
        is_json: whether the text after is JSON; otherwise each character is content.
    """
    pieces = list(pieces_of(len(broken), edits))
    if all(piece.is_kept for piece in pieces):
        return ContentChanges((), (), ())
    if is_json:
        return _Comparison(broken, text, pieces).changes()
    return character_changes(broken, text, pieces)


class _Written:
    """A token that an edit touches, and what of it did not come from the text.

    Attributes:
        token: the token; of an empty array or object, its brackets.
        low, high: what became it, in the broken text.
        is_inserted: no byte of it was kept or written in place of others.
        has_slot: it may stand in place of what stood in the text.
        count: how many units it has.
        runs: its units that are not found in the text, those between two that are found as one run.
    """

    __slots__ = ("count", "has_slot", "high", "is_inserted", "low", "runs", "token")

    def __init__(self, token: Token, low: int, high: int, is_inserted: bool, has_slot: bool) -> None:
        self.token, self.low, self.high = token, low, high
        self.is_inserted, self.has_slot = is_inserted, has_slot
        self.count = 0
        self.runs: list[list[_Open]] = []


class _Open:
    """A unit of either text that is not found in the other.

    Attributes:
        unit: the unit.
        low, high: where it stands, in the broken text.
        before, after: the number of the kept or matched unit before and after it.
    """

    __slots__ = ("after", "before", "high", "low", "unit")

    def __init__(self, unit: Unit, low: int, high: int) -> None:
        self.unit, self.low, self.high = unit, low, high
        self.before = self.after = -1


class _Member:
    """A name that was written, and where its value ends."""

    __slots__ = ("end", "token")

    def __init__(self, token: Token) -> None:
        self.token, self.end = token, token.end


class _Comparison:
    """The comparison of a broken text with the JSON that it became."""

    def __init__(self, broken: bytes, text: bytes, pieces: Sequence[Piece]) -> None:
        self.broken, self.text, self.pieces = broken, text, pieces
        self.of_broken = [piece.begin for piece in pieces]
        self.of_text = [piece.at for piece in pieces]
        self.written: list[_Written] = []
        self.members: list[_Member] = []
        self.places: list[Place | None] = []  # of each piece: what it stands in
        self.value: tuple[int, int] | None = None  # of the broken text, what became the value
        self.lost: list[ContentChange] = []
        self.invented: list[ContentChange] = []
        self.changed: list[ContentChange] = []

    def changes(self) -> ContentChanges:
        """What was lost, invented and changed."""
        self._read_tokens()
        kept, open_units = self._units_of_broken()
        left = self._matched(kept, open_units)
        left = self._compared(left)
        self._report_invented()
        self._report_lost(left)
        order = (sorted(one, key=attrgetter("begin")) for one in (self.lost, self.invented, self.changed))
        return ContentChanges(*map(tuple, order))

    # ---- alignment ----------------------------------------------------------------------------

    def _piece_at(self, at: int) -> Piece:
        """The piece with a byte of the repaired text: of several that begin there, the one that has it."""
        return self.pieces[bisect_right(self.of_text, at) - 1]

    def _origin(self, at: int, until: int) -> tuple[int, int]:
        """What became ``text[at:until]``, in the broken text."""
        first, last = self._piece_at(at), self._piece_at(until - 1)
        low = first.begin + (at - first.at if first.is_kept else 0)
        return low, last.begin + (until - last.at) if last.is_kept else last.end

    def _is_kept(self, at: int) -> bool:
        return self._piece_at(at).is_kept

    def _is_inserted(self, at: int, until: int) -> bool:
        piece = self._piece_at(at)
        return not piece.is_kept and piece.begin == piece.end and until <= piece.until

    # ---- tokens -------------------------------------------------------------------------------

    def _read_tokens(self) -> None:
        """The tokens that an edit touches, names that were written, and what each edit stands in."""
        index = 0
        mark = first = -1  # the last mark, and the beginning of the value
        last_end = 0
        open_members: list[list[_Member]] = [[]]
        previous: Token | None = None
        for token in json_tokens(self.text):
            first = token.begin if first < 0 else first
            # Edits before the token, or within it, stand in what is around it, or in it.
            while index < len(self.pieces) and self.pieces[index].at < token.end:
                inside = self.pieces[index].at > token.begin or token.kind in ("]", "}")
                place = token.place if inside or token.kind in (",", ":") else _around(token)
                self.places.append(place)
                index += 1
            if token.kind in ("{", "["):
                open_members.append([])
            elif token.kind in (",", "}", "]"):
                for member in open_members[-1]:
                    member.end = last_end
                open_members[-1].clear()
                if token.kind != "," and len(open_members) > 1:
                    open_members.pop()
            self._read_token(token, previous, mark, open_members[-1])
            mark = token.begin if token.kind in "{}[],:" else mark
            last_end, previous = token.end, token
        self.places += [None] * (len(self.pieces) - len(self.places))
        if first >= 0:
            self.value = (self._origin(first, first + 1)[0], self._origin(last_end - 1, last_end)[1])

    def _read_token(self, token: Token, previous: Token | None, mark: int, members: list[_Member]) -> None:
        if token.kind in ("]", "}"):
            if (
                previous is not None
                and previous.kind in ("[", "{")
                and self._is_inserted(previous.begin, token.end)
            ):
                both = Token(previous.begin, token.end, "empty", token.place)
                self.written.append(_Written(both, *self._origin(both.begin, both.end), True, False))
            return
        if token.kind in "{[,:" or self._is_untouched(token):
            return
        is_inserted = self._is_inserted(token.begin, token.end)
        has_slot = mark < 0 or self._is_kept(mark) or not self._is_inserted(token.begin, token.end)
        self.written.append(_Written(token, *self._origin(token.begin, token.end), is_inserted, has_slot))
        if is_inserted and token.kind == "name":
            self.members.append(_Member(token))
            members.append(self.members[-1])

    def _is_untouched(self, token: Token) -> bool:
        piece = self._piece_at(token.begin)
        begins = token.begin > piece.at or piece.at == 0
        return (
            piece.is_kept
            and begins
            and (token.end < piece.until or token.end == len(self.text) == piece.until)
        )

    # ---- units --------------------------------------------------------------------------------

    def _units_of_broken(self) -> tuple[list[Unit], list[Unit]]:
        """The units of the broken text that are kept, and those that are to be compared."""
        kept: list[Unit] = []
        others: list[Unit] = []
        begins = [one.token.begin for one in self.written]

        def is_escaped(position: int, is_odd: bool) -> bool:
            piece = self.pieces[bisect_right(self.of_broken, position) - 1]
            if not piece.is_kept:
                return is_odd
            at = piece.at + position - piece.begin
            end = at
            while end > 0 and self.text[end - 1] == 0x5C:
                end -= 1
            return (at - end) % 2 == 1

        for unit in units(self.broken, is_escaped):
            piece = self.pieces[bisect_right(self.of_broken, unit.begin) - 1]
            if not piece.is_kept or unit.end > piece.end:
                others.append(unit)
                continue
            at = piece.at + unit.begin - piece.begin
            number = bisect_right(begins, at) - 1
            is_compared = number >= 0 and at < self.written[number].token.end
            (others if is_compared else kept).append(unit)
        return kept, others

    def _matched(self, kept: list[Unit], open_units: list[Unit]) -> list[_Open]:
        """Finds the units of tokens in the text; returns those of the text that are left."""
        by_span = {(unit.begin, unit.end): unit for unit in open_units}
        theirs: list[tuple[_Open, _Written]] = []
        anchors = [unit.begin for unit in kept]
        for one in self.written:
            own = [] if one.token.kind == "empty" else self._units_of(one.token)
            one.count = len(own)
            for unit in own:
                low, high = self._origin(unit.begin, unit.end)
                same = by_span.get((low, high))
                if same is not None and same.key == unit.key and self._is_kept(unit.begin):
                    anchors.append(low)
                    del by_span[low, high]
                else:
                    theirs.append((_Open(unit, low, high), one))
        anchors.sort()
        ours = [_Open(unit, unit.begin, unit.end) for unit in by_span.values()]
        pairs: list[tuple[_Open, _Open]] = []
        for key_of in (_key, literal_of):
            ours, theirs = _paired(ours, theirs, anchors, key_of, pairs)
        numbered = [*((begin, self._becomes(begin)) for begin in anchors)]
        numbered += [(our.low, their.unit.begin) for our, their in pairs]
        in_broken = sorted((begin, number) for number, (begin, _) in enumerate(numbered))
        in_text = sorted((at, number) for number, (_, at) in enumerate(numbered))
        _set_neighbours(ours, in_broken, lambda unit: unit.low)
        _set_neighbours([unit for unit, _ in theirs], in_text, lambda unit: unit.unit.begin)
        for one_unit, token in theirs:
            if token.runs and token.runs[-1][-1].before == one_unit.before:
                token.runs[-1].append(one_unit)
            else:
                token.runs.append([one_unit])
        return ours

    def _becomes(self, position: int) -> int:
        """Where a kept byte stands in the repaired text."""
        piece = self.pieces[bisect_right(self.of_broken, position) - 1]
        return piece.at + position - piece.begin

    def _units_of(self, token: Token) -> list[Unit]:
        if token.kind == "literal":
            return [Unit(token.begin, token.end, self.text[token.begin : token.end].decode())]
        return [
            Unit(unit.begin + token.begin, unit.end + token.begin, unit.key)
            for unit in units(self.text[token.begin : token.end])
        ]

    # ---- what is left -------------------------------------------------------------------------

    def _compared(self, left: list[_Open]) -> list[_Open]:
        """Reports what was changed; what is left of the broken text was lost."""
        lost: list[_Open] = []
        index = 0
        runs = [(one, own) for one in self.written for own in one.runs]
        for one in self.written:
            one.runs = []
        for number, (one, own) in enumerate(runs):
            while index < len(left) and (left[index].high < one.low or self._is_before(left[index], own)):
                lost.append(left[index])
                index += 1
            following = runs[number + 1][1] if number + 1 < len(runs) else None
            run: list[_Open] = []
            while index < len(left) and left[index].low <= one.high and one.has_slot:
                if following is not None and _overlap(left[index], following) > _overlap(left[index], own):
                    break  # more of it became the next one
                if not self._goes_on(run, left[index], own):
                    break
                run.append(left[index])
                index += 1
            if not run:
                one.runs.append(own)
            elif not self._is_same(run, own):
                self._report_changed(run, own, one.token)
        return lost + left[index:]

    def _is_before(self, unit: _Open, own: Sequence[_Open]) -> bool:
        """Whether a unit of the text stands before another place of a token."""
        return unit.high < own[0].low and unit.before != own[0].before and unit.after != own[0].after

    def _goes_on(self, run: Sequence[_Open], unit: _Open, own: Sequence[_Open]) -> bool:
        """Whether a unit of the text may have become a part of some units of a token."""
        if unit.before != own[0].before and unit.after != own[0].after:
            return False
        return not run or not _BREAKS.search(self.broken, run[-1].high, unit.low)

    def _is_same(self, run: Sequence[_Open], own: Sequence[_Open]) -> bool:
        """Whether some units of the text are those of a token, spelled otherwise."""
        removed = self.broken[run[0].low : run[-1].high].decode("utf-8", "surrogateescape")
        if len(own) == 1 and is_number(own[0].unit):
            return own[0].unit.key in number_readings(removed)
        if any(is_number(one.unit) for one in own):
            return False
        written = "".join(one.unit.key for one in own)
        return written == "".join(one.unit.key for one in run)

    def _report_changed(self, run: Sequence[_Open], own: Sequence[_Open], token: Token) -> None:
        begin, end = run[0].low, run[-1].high
        first, last = own[0].unit, own[-1].unit
        written, path, kind = self.text[first.begin : last.end], _path(token.place), _kind(token)
        is_word = len(run) == len(own) == 1 and not is_number(first) and begin == own[0].low
        if is_word and first.key.startswith(run[0].unit.key) and self._is_kept(first.begin + end - begin - 1):
            rest = written[end - begin :]
            self.invented.append(ContentChange(end, end, b"", rest, path, kind, 1))
            return
        size = max(len(run), len(own))
        self.changed.append(ContentChange(begin, end, self.broken[begin:end], written, path, kind, size))

    def _report_invented(self) -> None:
        members = self.members
        covered = -1
        number = 0
        for one in self.written:
            while number < len(members) and members[number].end <= one.token.begin:
                number += 1
            if one.token.begin < covered:
                continue
            member = members[number] if number < len(members) else None
            if (
                member is not None
                and member.token.begin == one.token.begin
                and self._is_invented(member, one)
            ):
                covered = member.end
                self._report_member(member, one.low)
                continue
            for run in one.runs:
                written = self.text[run[0].unit.begin : run[-1].unit.end]
                self._report_written(one, written, _kind(one.token), len(run))
            if one.count == 0 and one.is_inserted and one.token.kind != "name":
                self._report_written(one, self.text[one.token.begin : one.token.end], "empty", 1)

    def _report_written(self, one: _Written, written: bytes, kind: Kind, size: int) -> None:
        at = one.runs[0][0].low if one.runs else one.low
        self.invented.append(ContentChange(at, at, b"", written, _path(one.token.place), kind, size))

    def _is_invented(self, member: _Member, name: _Written) -> bool:
        """Whether no part of a member stood in the text."""
        if not self._is_inserted(member.token.begin, member.end):
            return False
        begin = bisect_left(self.written, member.token.begin, key=lambda one: one.token.begin)
        end = bisect_left(self.written, member.end, key=lambda one: one.token.begin)
        inner = self.written[begin:end]
        return all(sum(map(len, one.runs)) == one.count for one in inner)

    def _report_member(self, member: _Member, at: int) -> None:
        written = self.text[member.token.begin : member.end]
        size = max(1, len(units(written)))
        self.invented.append(ContentChange(at, at, b"", written, _path(member.token.place), "member", size))

    def _report_lost(self, left: Sequence[_Open]) -> None:
        """The units that are left, those that no other content parts as one entry."""
        depth = Depths(self.broken, self.value)
        run: list[_Open] = []
        for unit in left:
            if run and not self._is_one(run[-1], unit, depth):
                self._report_run(run, depth)
                run = []
            run.append(unit)
        if run:
            self._report_run(run, depth)

    def _is_one(self, last: _Open, unit: _Open, depth: Depths) -> bool:
        """Whether all between two units was removed, and both are prose or neither is."""
        number = bisect_right(self.of_broken, last.high - 1) - 1
        is_whole = unit.high <= self.pieces[number].end and unit.before == last.before
        return is_whole and depth.is_prose(last.low) == depth.is_prose(unit.low)

    def _report_run(self, run: Sequence[_Open], depth: Depths) -> None:
        begin, end = run[0].low, run[-1].high
        piece = bisect_right(self.of_broken, begin) - 1
        is_outside = depth.is_outside(begin)
        kind: Kind = "number" if len(run) == 1 and is_number(run[0].unit) else "text"
        if depth.is_prose(begin):
            kind = "prose"
        else:
            names = _NAME_ENDS.search(self.broken, begin, end)
            if names is not None and len(run) > 1:
                kind = "member"
                begin -= self.broken[begin - 1 : begin] in _QUOTES and begin > self.pieces[piece].begin
                end += self.broken[end : end + 1] in _QUOTES and end < self.pieces[piece].end
            elif names is not None or _NAME_ENDS.match(self.broken, end):
                kind = "name"
        path = None if is_outside else _path(self.places[piece])
        self.lost.append(ContentChange(begin, end, self.broken[begin:end], b"", path, kind, len(run)))


def _overlap(unit: _Open, own: Sequence[_Open]) -> int:
    """How many bytes of a unit of the text became some units of a token."""
    return sum(max(0, min(unit.high, one.high) - max(unit.low, one.low)) for one in own)


def _key(unit: Unit) -> str | None:
    return unit.key


def _paired(
    ours: list[_Open],
    theirs: list[tuple[_Open, _Written]],
    anchors: Sequence[int],
    key_of: Callable[[Unit], str | None],
    pairs: list[tuple[_Open, _Open]],
) -> tuple[list[_Open], list[tuple[_Open, _Written]]]:
    """Adds pairs of units with one key between two anchors; returns what is left of both texts."""
    waiting: defaultdict[tuple[int, str], deque[_Open]] = defaultdict(deque)
    for unit in ours:
        key = key_of(unit.unit)
        if key is not None:
            waiting[bisect_right(anchors, unit.low), key].append(unit)
    left: list[tuple[_Open, _Written]] = []
    taken: set[int] = set()
    for unit, token in theirs:
        queue = waiting.get((bisect_right(anchors, unit.low), unit.unit.key))
        if queue:
            taken.add(id(queue[0]))
            pairs.append((queue.popleft(), unit))
        else:
            left.append((unit, token))
    return [unit for unit in ours if id(unit) not in taken], left


def _set_neighbours(
    units_: Sequence[_Open], matched: Sequence[tuple[int, int]], begin_of: Callable[[_Open], int]
) -> None:
    """Sets which kept or matched units, by their numbers, stand before and after each unit of a text.

    ``matched``: the beginning and the number of each, in order.
    """
    begins = [begin for begin, _ in matched]
    for unit in units_:
        index = bisect_right(begins, begin_of(unit))
        unit.before = matched[index - 1][1] if index > 0 else -1
        unit.after = matched[index][1] if index < len(matched) else -1


def _around(token: Token) -> Place | None:
    """What a token stands in."""
    return token.place.around if token.place is not None else None


def _kind(token: Token) -> Kind:
    return cast(Kind, token.kind)


def _path(place: Place | None) -> Path:
    return () if place is None else place.path()
