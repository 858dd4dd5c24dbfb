"""Control tokens: which text becomes one, and what they do to the text around them.

For a token with the name N, the program encodes four texts::

    N            the token, or not
    aNb          the same in the midst of letters; a token that is a "single word" is not found there
    a N b        a token that strips takes the spaces into itself (where the tokenizer keeps them otherwise)
    N as text    by the mode of the program that reads control tokens as ordinary text

Tokens that behave alike form one group, since there may be thousands.  Names may lie within each other, or
begin where another ends; then which of them is found depends on the program, and the fact ``overlapping``
shows the first such pair.

Cost: linear in the tokens, of which the first 20,000 are tried.  Names of more than 256 characters are not
compared with each other, and neither are those that come after some 100,000 others.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from tokamata.guard.manifests.facts import Fact, Json, counted, not_measured
from tokamata.guard.manifests.subject import ControlToken, Subject
from tokamata.guard.verdicts import Witness
from tokamata.tokenization.running import RunningTokenizer

__all__ = ["Behavior", "behaviors", "control_facts"]

_LONGEST = 256  # characters of a name that is compared with others
_MOST = 20_000  # tokens that are tried
_MOST_COMPARED = 20_000_000  # squares of the lengths of all compared names together
_PROBED = 4096  # characters of a name that is encoded


class Behavior(NamedTuple):
    """What a program does with the name of a control token.

    Attributes:
        alone, inside: whether the name becomes the token: as a text of its own, between two letters.
        strips: the sides on which it takes spaces into itself.
        as_text: whether the name becomes the token even when the program reads control tokens as text;
            ``None`` if it has no such mode.
    """

    alone: bool
    inside: bool
    strips: tuple[str, ...]
    as_text: bool | None


def behaviors(program: RunningTokenizer, tokens: list[ControlToken]) -> dict[int, Behavior]:
    """The behavior of each control token that has a name.

    Raises:
        ProgramFailed: the program raised an error.
    """
    named = [one for one in tokens[:_MOST] if one.name and len(one.name) <= _PROBED]
    names = [one.name for one in named]
    alone = program.encode_many(names)
    inside = program.encode_many([f"a{name}b" for name in names])
    spaced = program.encode_many([f"a {name} b" for name in names])
    close = program.encode_many([f"a{name} b" for name in names])
    near = program.encode_many([f"a {name}b" for name in names])
    # A space at the end of a text that the tokenizer drops anyway is no matter of the token.
    before, a, after, b = program.encode_many(["a ", "a", " b", "b"])
    as_text = program.encode_text_many([f"a{name}b" for name in names])
    found = {}
    for place, one in enumerate(named):
        strips = []
        if one.token in spaced[place]:
            if spaced[place] == close[place] and before != a:
                strips.append("left")
            if spaced[place] == near[place] and after != b:
                strips.append("right")
        found[one.token] = Behavior(
            one.token in alone[place],
            one.token in inside[place],
            tuple(strips),
            None if as_text is None else one.token in as_text[place],
        )
    return found


def control_facts(subject: Subject) -> dict[str, Fact]:
    """The facts about control tokens and added tokens.

    Raises:
        ProgramFailed: the program raised an error.
    """
    tokens, program = subject.control_tokens, subject.program
    lines = [f"{one.token} {one.name!a} {'special' if one.special else 'text'}" for one in tokens]
    listed = Fact(counted(lines, lines), "all tokens beside the model, with their ids")
    empty = [one.token for one in tokens if not one.name]
    facts = {"control_tokens": listed, "empty_names": Fact(empty[:8], f"{len(empty)} tokens without a name")}
    if program is None:
        reason = not_measured(subject.no_program)
        return {**facts, "control_behavior": reason, "overlapping": reason}
    found = behaviors(program, tokens)
    return {
        **facts,
        "control_behavior": _groups(tokens, found),
        "overlapping": _overlapping(subject, tokens),
    }


def _groups(tokens: list[ControlToken], found: dict[int, Behavior]) -> Fact:
    groups: dict[tuple[bool, tuple[str, ...], Behavior], list[ControlToken]] = defaultdict(list)
    for one in tokens:
        if one.token in found:
            groups[one.special, one.flags, found[one.token]].append(one)
    value: list[Json] = []
    for (special, flags, behavior), members in sorted(groups.items(), key=lambda group: group[1][0].token):
        value.append(
            {
                "special": special,
                "flags": list(flags),
                "by_text": behavior.inside,
                "alone": behavior.alone,
                "strips": list(behavior.strips),
                "as_text": behavior.as_text,
                "tokens": counted(
                    [f"{one.token} {one.name!a}" for one in members], (o.name for o in members)
                ),
            }
        )
    how = f"{len(found):,} names N as 'N', 'aNb', 'a N b', and 'aNb' as ordinary text"
    return Fact(value, how)


def _overlapping(subject: Subject, tokens: list[ControlToken]) -> Fact:
    """Names within each other, and names that begin where another ends."""
    names = [one.name for one in tokens if one.name]
    short, spent = [], 0
    for name in names:
        if len(name) <= _LONGEST and (spent := spent + len(name) ** 2) <= _MOST_COMPARED:
            short.append(name)
    known = set(short)
    inner = [
        (name, name[begin:end])
        for name in short
        for begin in range(len(name))
        for end in range(begin + 1, len(name) + 1)
        if end - begin < len(name) and name[begin:end] in known
    ]
    beginning = defaultdict(list)
    for name in short:
        for end in range(1, len(name)):
            beginning[name[:end]].append(name)
    crossing = 0
    first: tuple[str, str, int] | None = None
    for name in short:
        for begin in range(1, len(name)):
            if (others := beginning.get(name[begin:])) is not None:
                crossing += len(others)
                first = first or (name, others[0], len(name) - begin)
    witness: Witness | None = None
    assert subject.program is not None
    if inner:
        witness = subject.witness(inner[0][0], f"the name {inner[0][1]!r:.80} is within {inner[0][0]!r:.80}")
    elif first is not None:
        text = first[0] + first[1][first[2] :]
        begin = len(first[0][: -first[2]].encode())
        witness = subject.witness(text, f"{first[1]!r:.80} begins where {first[0]!r:.80} ends", begin)
    skipped = len(names) - len(short)
    how = f"{len(short):,} names" + (f"; {skipped:,} others are too long or too many" if skipped else "")
    return Fact({"within": len(inner), "crossing": crossing}, how, None, witness)
