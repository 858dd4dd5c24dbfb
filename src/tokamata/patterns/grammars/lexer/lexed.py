"""A grammar with a lexer, as a grammar without: what the lexer knows becomes part of the rules.

Problem.  Under a lexer a terminal is not its regular language: ``NAME NAME`` needs something between the two
names, since the first would have read on.
How.  The grammar is combined with the lexer's configurations (:mod:`.lexers`).  For a rule, a configuration
before it and a set of configurations after it, there is a rule of the texts that lead from the one to the
others.  A configuration that does not matter to anything that may follow counts as none, so most grammars
hardly grow.

Worked example.  ``pair: NAME NAME`` with blanks ignored.  The first NAME leads to two configurations: "no
letter follows", or nothing where a blank follows.  The second NAME cannot begin in the first one, so::

    pair: NAME BLANKS NAME BLANKS?

and ``item: NAME "=" NAME`` becomes ``NAME BLANKS? "=" BLANKS? NAME BLANKS?``, because ``=`` is no letter.

Ignored texts follow the terminal before them; at the start of a text they come first.

Source.  Bar-Hillel, Perles and Shamir 1961, section 8: a grammar intersected with a finite automaton.
Cost.  Rules times the pairs of configurations that matter to them; ``Limits.seconds`` bounds it.
Rejected: conditions in the engine's states.  Every state would have to be searched for whether it leads to an
end; here that is decided once for each rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import tokamata._core as _core
from tokamata.patterns.grammars.lexer.beginnings import Beginnings, followers
from tokamata.patterns.grammars.lexer.blocks import Layout
from tokamata.patterns.grammars.lexer.competition import LexerName
from tokamata.patterns.grammars.lexer.embedded import EmbeddedTexts
from tokamata.patterns.grammars.lexer.ignoring import IgnoredTexts
from tokamata.patterns.grammars.lexer.indentation import with_blocks
from tokamata.patterns.grammars.lexer.lexer_configurations import Configuration
from tokamata.patterns.grammars.lexer.lexers import Lexer
from tokamata.patterns.grammars.lexer.widths import with_widths
from tokamata.patterns.grammars.rules import expressions
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.patterns.grammars.rules.factoring import factored
from tokamata.patterns.grammars.rules.merging import merge_alike
from tokamata.resources.limits import Watch

__all__ = ["without_lexer"]

_Ends = frozenset[Configuration]
_Key = tuple[str, frozenset[str] | None, bool]  # of a terminal: its name, the context after it, brackets
_NEVER = trees.Choice(())  # no text


def without_lexer(
    grammar: trees.Grammar, lexer: LexerName, watch: Watch, *, keeps_rules_apart: bool = False
) -> trees.Grammar:
    """The texts of a grammar under a lexer, as a grammar whose terminals are their regular languages.

    Args:
        grammar: one without :class:`.Repeat`, whose terminals have a :class:`.Pattern`.
        lexer: how its terminals are distinguished.
        watch: stops the work.
        keeps_rules_apart: whether a rule of the result is always of one rule of the grammar: for who asks
            for derivations.  Its name is then that of the rule, a blank and a number.

    Raises:
        GrammarError: a block or a bracket does not end in the alternative in which it begins.
        UnsupportedPatternError: a terminal has an assertion within a lookbehind.
        LimitExceeded, Cancelled: the work was stopped.
    """
    if grammar.indentation is not None:
        grammar = with_blocks(grammar)
    return _Product(grammar, lexer, watch).grammar(keeps_rules_apart)


class _Product:
    def __init__(self, grammar: trees.Grammar, lexer: LexerName, watch: Watch) -> None:
        self._watch = watch
        names = grammar.indentation
        newline = next((one for one in grammar.terminals if names and one.name == names.newline), None)
        leaves = [
            node
            for node in trees.children_first(grammar.rules.values())
            if isinstance(node, (trees.Terminal, trees.Embedded))
        ]
        self._lexer = Lexer(lexer, grammar.terminals, grammar.ignored, leaves, names, watch)
        self._ignored = IgnoredTexts(self._lexer, grammar.ignored, newline, watch)
        self._layout = Layout(self._lexer, self._ignored, names, watch) if names else None
        if grammar.context is not None:
            grammar = _with_fewer_contexts(grammar, grammar.context, self._lexer, watch)
        self._rules = grammar.rules
        self._start = grammar.start
        self._begin = self._lexer.start._replace(context=grammar.context)
        self._embedded = EmbeddedTexts(self._lexer, watch)
        self._text = grammar.text
        self._beginnings = Beginnings(grammar.rules)
        self._followers = followers(grammar.rules, grammar.start, self._beginnings, watch)
        self._ends: dict[tuple[str, Configuration], set[Configuration]] = {}
        self._terminal_ends: dict[tuple[_Key, Configuration], _Ends] = {}
        self._made_terminals: dict[tuple[_Key, Configuration, _Ends], trees.Terminal] = {}
        self._names: dict[tuple[str, Configuration, _Ends], str] = {}
        self._open: list[tuple[str, Configuration, _Ends]] = []

    def grammar(self, keeps_rules_apart: bool) -> trees.Grammar:
        begin = self._begin
        befores = self._ignored.after(begin)
        afters = frozenset(
            end
            for before in befores
            for end in self._rule_ends(self._start, before)
            if self._lexer.may_end(end)
        )
        options: list[trees.Node] = []
        first, is_nullable = self._beginnings.of_rest((trees.Reference(self._start),), 0)
        for before, group in self._groups(befores, first, is_nullable, afters):
            some, may_be_empty = self._ignored.between(begin, group)
            texts = self._node(trees.Reference(self._start), before, afters)
            if some is not None:
                options.append(trees.Sequence((trees.Terminal("ignored", some), texts)))
            if may_be_empty:
                options.append(texts)
        rules: dict[str, trees.Node] = {"": trees.Choice(tuple(options))}
        while self._open:
            rule, before, wanted = self._open.pop()
            ends = self._ends_of(self._rules[rule], {before}, self._rule_ends)
            inside = frozenset(end for end in ends if self._after(rule, end) in wanted)
            rules[self._names[rule, before, wanted]] = self._node(self._rules[rule], before, inside)
        if keeps_rules_apart:
            merged, start = merge_alike(rules, "", self._watch, lambda name: name.rpartition(" ")[0])
        else:
            merged, start = merge_alike(rules, "", self._watch)
        if self._layout is None:
            return trees.Grammar(merged, start, text=self._text)
        if not keeps_rules_apart:  # once, and not for each width
            merged = factored(merged, self._watch)
        merged, start = with_widths(merged, start, self._layout.line_breaks, self._watch)
        return trees.Grammar(merged, start, text=self._text, is_factored=not keeps_rules_apart)

    # ---- configurations ----

    def _ends_of_terminal(self, terminal: trees.Terminal, before: Configuration) -> _Ends:
        """Those that a terminal leads to, and what is ignored after it."""
        key = (_key(terminal), before)
        if key not in self._terminal_ends:
            if self._layout is not None and terminal.name in self._layout.names:
                self._terminal_ends[key] = self._layout.ends(terminal, before)
            else:
                self._terminal_ends[key] = frozenset(
                    after
                    for at in self._settled(before)
                    for end in self._lexer.ends(terminal, at)
                    for after in self._ignored.after(end)
                )
        return self._terminal_ends[key]

    def _settled(self, before: Configuration) -> _Ends:
        """Those in which the lexer reads on, where a line break came before."""
        return frozenset([before]) if self._layout is None else self._layout.settled(before)

    def _ends_of_embedded(self, node: trees.Embedded, before: Configuration) -> _Ends:
        """Those that embedded texts lead to, and what is ignored after them."""
        ends = self._embedded.after(node, before)
        return frozenset(after for end in ends for after in self._ignored.after(end))

    def _rule_ends(self, rule: str, before: Configuration) -> set[Configuration]:
        """Those that the texts of a rule lead to: a least fixed point over the pairs that are met."""
        key = (rule, self._before(rule, before))
        if key in self._ends:
            return self._ends[key]
        users: dict[tuple[str, Configuration], set[tuple[str, Configuration]]] = {}
        waiting = [key]
        new = {key}
        self._ends[key] = set()
        while waiting:
            self._watch.check()
            current = waiting.pop()
            new.discard(current)

            def ends_of(
                rule: str, before: Configuration, current: tuple[str, Configuration] = current
            ) -> set[Configuration]:
                used = (rule, self._before(rule, before))
                if used not in self._ends:
                    self._ends[used] = set()
                    waiting.append(used)
                    new.add(used)
                users.setdefault(used, set()).add(current)
                return self._ends[used]

            ends = self._ends_of(self._rules[current[0]], {current[1]}, ends_of)
            found = {self._after(current[0], end) for end in ends}
            if not found <= self._ends[current]:
                self._ends[current] |= found
                for user in users.get(current, ()):
                    if user not in new:
                        new.add(user)
                        waiting.append(user)
        return self._ends[key]

    def _before(self, rule: str, configuration: Configuration) -> Configuration:
        """The configuration as far as it matters to a rule."""
        first, is_open = self._beginnings.of_rule(rule)
        return configuration if is_open else self._lexer.reduced(configuration, first)

    def _after(self, rule: str, configuration: Configuration) -> Configuration:
        """The configuration at the end of a rule, as far as it matters to what may follow the rule."""
        following = self._followers[rule]
        return configuration if following is None else self._lexer.reduced(configuration, following)

    def _entered(self, rule: str, before: Configuration) -> _Ends:
        """Those from which a rule is read: where a margin is due, it comes before the rule."""
        return self._settled(before) if self._follows_margin(rule, before) else frozenset([before])

    def _follows_margin(self, rule: str, before: Configuration) -> bool:
        """Whether a margin is due, and the rule says nothing about it: it is that of its first terminal."""
        if before.line.kind in ("outside", "brackets"):
            return False
        first, is_open = self._beginnings.of_rule(rule)
        return not is_open and self._lexer.reads(first)

    def _ends_of(
        self, node: trees.Node, befores: set[Configuration], ends_of_rule: object
    ) -> set[Configuration]:
        if isinstance(node, trees.Terminal):
            return {end for before in befores for end in self._ends_of_terminal(node, before)}
        if isinstance(node, trees.Embedded):
            return {end for before in befores for end in self._ends_of_embedded(node, before)}
        if isinstance(node, (trees.Block, trees.Reference)):
            return {
                end
                for before in befores
                for at in self._entered(node.rule, before)
                for end in ends_of_rule(node.rule, at)  # type: ignore[operator]
            }
        if isinstance(node, trees.Choice):
            return {end for child in node.children for end in self._ends_of(child, befores, ends_of_rule)}
        if isinstance(node, trees.Lookahead):
            return {end for before in befores if (end := _expecting(before, node)) is not None}
        ends = befores
        for child in node.children:
            ends = self._ends_of(child, ends, ends_of_rule)
        return ends

    # ---- nodes ----

    def _node(self, node: trees.Node, before: Configuration, wanted: _Ends) -> trees.Node:
        """The texts of a node that lead from a configuration to those that are wanted."""
        if isinstance(node, trees.Terminal):
            return self._terminal(node, before, wanted)
        if isinstance(node, trees.Embedded):
            return self._embedded_texts(node, before, wanted)
        if isinstance(node, trees.Reference):
            return self._reference(node.rule, before, wanted)
        if isinstance(node, trees.Block):
            inside = self._reference(node.rule, before, wanted)
            return trees.Block(inside.rule) if isinstance(inside, trees.Reference) else inside
        if isinstance(node, trees.Choice):
            return trees.Choice(tuple(self._node(child, before, wanted) for child in node.children))
        if isinstance(node, trees.Lookahead):
            return trees.Sequence(()) if _expecting(before, node) in wanted else _NEVER
        assert isinstance(node, trees.Sequence), node
        if not node.children:
            return trees.Sequence(()) if before in wanted else _NEVER
        return self._sequence(node.children, before, wanted)

    def _sequence(self, items: tuple[trees.Node, ...], before: Configuration, wanted: _Ends) -> trees.Node:
        """Forwards, the configurations before each item; then backwards, the texts from each of them."""
        steps: list[dict[Configuration, list[tuple[Configuration, _Ends]]]] = []
        befores = {before}
        for index, item in enumerate(items[:-1]):
            self._watch.check()
            first, is_nullable = self._beginnings.of_rest(items, index + 1)
            groups = {
                at: self._groups(self._ends_of(item, {at}, self._rule_ends), first, is_nullable, wanted)
                for at in befores
            }
            befores = {after for found in groups.values() for after, _ in found}
            steps.append(groups)
        # The items of each rest, the last first; mostly there is one rest, which grows.
        made = {at: [self._node(items[-1], at, wanted)] for at in befores}
        for item, groups in zip(reversed(items[:-1]), reversed(steps), strict=True):
            made = {
                at: self._begun(
                    [
                        (self._node(item, at, group), made[after])
                        for after, group in found
                        if made[after] != [_NEVER]
                    ],
                    is_shared=len(groups) > 1,
                )
                for at, found in groups.items()
            }
        rest = made[before]
        return rest[0] if len(rest) == 1 else trees.Sequence(tuple(reversed(rest)))

    @staticmethod
    def _begun(options: list[tuple[trees.Node, list[trees.Node]]], is_shared: bool) -> list[trees.Node]:
        """The rest that begins with an item and goes on with a rest, for one of some pairs of them."""
        options = [(first, rest) for first, rest in options if first != _NEVER]
        if not options:
            return [_NEVER]
        if len(options) == 1:
            first, rest = options[0]
            if is_shared:
                return [*rest, first]
            rest.append(first)
            return rest
        return [trees.Choice(tuple(trees.Sequence((first, *reversed(rest))) for first, rest in options))]

    def _groups(
        self,
        configurations: Iterable[Configuration],
        first: frozenset[str],
        is_nullable: bool,
        wanted: _Ends,
    ) -> list[tuple[Configuration, _Ends]]:
        """Configurations that do not matter to what follows, together; with what they count as.

        What follows begins with one of some terminals, or may be empty.
        """
        groups: dict[tuple[Configuration, bool], set[Configuration]] = {}
        for configuration in configurations:
            as_what = configuration if is_nullable else self._lexer.reduced(configuration, first)
            groups.setdefault((as_what, is_nullable and configuration in wanted), set()).add(configuration)
        return [(as_what, frozenset(group)) for (as_what, _), group in groups.items()]

    def _after_margin(
        self,
        before: Configuration,
        first: frozenset[str],
        wanted: _Ends,
        made: Callable[[Configuration], trees.Node],
    ) -> trees.Node:
        """A margin, and what is made of each configuration that it leads to."""
        assert self._layout is not None
        options: list[trees.Node] = []
        for after, group in self._groups(self._layout.settled(before), first, False, wanted):
            node = made(after)
            if node != _NEVER:
                options += [trees.Sequence((margin, node)) for margin in self._layout.margins(before, group)]
        return options[0] if len(options) == 1 else trees.Choice(tuple(options))

    def _reference(self, rule: str, before: Configuration, wanted: _Ends) -> trees.Node:
        if self._follows_margin(rule, before):
            first, _ = self._beginnings.of_rule(rule)
            return self._after_margin(before, first, wanted, lambda at: self._reference(rule, at, wanted))
        before = self._before(rule, before)
        ends = frozenset(self._rule_ends(rule, before)) & wanted
        if not ends:
            return _NEVER
        key = (rule, before, ends)
        if key not in self._names:
            self._names[key] = f"{rule} {len(self._names)}"
            self._open.append(key)
        return trees.Reference(self._names[key])

    def _terminal(self, terminal: trees.Terminal, before: Configuration, wanted: _Ends) -> trees.Node:
        wanted &= self._ends_of_terminal(terminal, before)
        if not wanted:
            return _NEVER
        layout = self._layout
        is_layout = layout is not None and terminal.name in layout.names
        if before.line.is_broken and (not is_layout or terminal.pattern is not None):
            first = frozenset([terminal.name])
            return self._after_margin(before, first, wanted, lambda at: self._terminal(terminal, at, wanted))
        if layout is not None and is_layout:
            return layout.node(terminal, before, wanted)
        key = (_key(terminal), before, wanted)
        if key not in self._made_terminals:
            groups: dict[tuple[_core.Expression | None, bool], set[Configuration]] = {}
            for end in self._lexer.ends(terminal, before):
                if self._ignored.after(end) & wanted:
                    groups.setdefault(self._ignored.between(end, wanted), set()).add(end)
            options, own = [], []
            for (some, may_be_empty), ends in groups.items():
                texts = self._lexer.language(terminal, before, frozenset(ends))
                texts = texts if terminal.texts else expressions.terminal(texts)
                after = [] if some is None else [some]
                own.append(texts)
                options.append(
                    expressions.concat(
                        [texts, expressions.union([*after, expressions.epsilon()] if may_be_empty else after)]
                    )
                )
            self._made_terminals[key] = trees.Terminal(
                terminal.name,
                expressions.union(options),
                own=expressions.union(own) if own != options else None,
            )
        return self._made_terminals[key]

    def _embedded_texts(self, node: trees.Embedded, before: Configuration, wanted: _Ends) -> trees.Node:
        options: list[trees.Node] = []
        for end, texts in self._embedded.after(node, before).items():
            if self._ignored.after(end) & wanted:
                some, may_be_empty = self._ignored.between(end, wanted)
                after = [
                    *([] if some is None else [some]),
                    *([expressions.epsilon()] if may_be_empty else []),
                ]
                expression = expressions.concat([texts, expressions.union(after)])
                fits = node.is_regular or (node.is_of_rules and texts is node.expression)
                options.append(replace(node, expression=expression, is_of_rules=fits, own=texts))
        if not options:
            return _NEVER
        return options[0] if len(options) == 1 else trees.Choice(tuple(options))


def _with_fewer_contexts(
    grammar: trees.Grammar, context: frozenset[str], lexer: Lexer, watch: Watch
) -> trees.Grammar:
    """The same grammar, with one context for many, and one rule for all that are alike then."""
    terminals = {
        node for node in trees.children_first(grammar.rules.values()) if isinstance(node, trees.Terminal)
    }
    contexts = {terminal.context for terminal in terminals if terminal.context is not None}
    united = lexer.united_contexts({*contexts, context})
    made = {
        terminal: replace(terminal, context=united[terminal.context])
        for terminal in terminals
        if terminal.context is not None
    }
    rules = {
        rule: trees.rewritten(
            body, lambda node: made.get(node, node) if isinstance(node, trees.Terminal) else node
        )
        for rule, body in grammar.rules.items()
    }
    rules, start = merge_alike(rules, grammar.start, watch)
    return replace(grammar, rules=rules, start=start, context=united[context])


def _key(terminal: trees.Terminal) -> _Key:
    return terminal.name, terminal.context, terminal.is_bracketed


def _expecting(configuration: Configuration, lookahead: trees.Lookahead) -> Configuration | None:
    """The configuration before one of some terminals; ``None`` if none of them can follow."""
    expected = lookahead.terminals
    if configuration.expected is not None:
        expected &= configuration.expected
    return configuration._replace(expected=expected) if expected else None
