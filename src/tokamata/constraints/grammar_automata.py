"""The rules of a grammar as acceptors, and the push-down automaton made of them.

Each rule is an acceptor of its right-hand sides over bytes and references, as
:func:`tokamata.automata.grammar_pushdown` takes it.  A terminal is its acceptor over bytes.  For example,
``list: "[" (item ("," item)*)? "]"``, with ``item`` as rule 1::

    (0) ─[─▶ (1) ─257─▶ (2) ─]─▶ ((4))      (2) ─,─▶ (3) ─257─▶ (2)      (1) ─]─▶ ((4))

Rules are neither inlined nor rewritten as for the engine, so the automaton is an oracle for its masks.
"""

from __future__ import annotations

from tokamata.automata import (
    Acceptor,
    PushdownAutomaton,
    concatenate,
    grammar_pushdown,
    minimize,
    star,
    union,
)
from tokamata.automata.account import Account
from tokamata.constraints.constraint import Constraint
from tokamata.errors import EmptyConstraintError, NotRegularError
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.resources.limits import Limits
from tokamata.values.forms import Plain
from tokamata.vocabulary import Vocabulary

__all__ = ["pushdown_of"]

_REFERENCES = 256  # the first symbol that is no byte


def pushdown_of(grammar: trees.Grammar, limits: Limits | None) -> PushdownAutomaton:
    """The push-down automaton of a grammar without a lexer, over bytes.

    Raises:
        NotRegularError: the grammar contains JSON, a control token, or another grammar.
        LimitExceeded: it is larger, or takes longer, than ``limits`` allow.
    """
    account = Account(limits)
    acceptors = _Acceptors(grammar, account)
    rules = {rule: acceptors.of(body) for rule, body in grammar.rules.items()}
    start = grammar.start
    if grammar.ignored:  # texts may begin with them
        start = "ignored start"  # no rule of a grammar has a blank in its name
        reference = trees.Reference(grammar.start)
        rules[start] = concatenate(acceptors.ignored, acceptors.of(reference), limits=account)
    return grammar_pushdown(rules, start, _REFERENCES, account)


class _Acceptors:
    def __init__(self, grammar: trees.Grammar, account: Account) -> None:
        self._account = account
        self._numbers = {rule: number for number, rule in enumerate(grammar.rules)}
        self._terminals: dict[int, Acceptor] = {}
        self._bytes = Vocabulary.load([bytes([value]) for value in range(_REFERENCES)], stop=[])
        self._empty_text = Acceptor.from_strings([()])
        self.ignored = self._empty_text
        if grammar.ignored:
            each = [self._language(terminal) for terminal in grammar.ignored]
            self.ignored = minimize(star(union(*each, limits=account), limits=account), account)

    def of(self, body: trees.Node) -> Acceptor:
        """The right-hand sides of a rule."""
        made: dict[int, Acceptor] = {}
        for node in trees.children_first([body]):
            made[id(node)] = self._made(node, [made[id(child)] for child in node.children])
        return made[id(body)]

    def _made(self, node: trees.Node, children: list[Acceptor]) -> Acceptor:
        if isinstance(node, (trees.Terminal, trees.Embedded)):
            if id(node) not in self._terminals:
                self._terminals[id(node)] = concatenate(
                    self._language(node), self.ignored, limits=self._account
                )
            return self._terminals[id(node)]
        if isinstance(node, trees.Reference):
            return Acceptor.from_strings([(_REFERENCES + self._numbers[node.rule],)])
        if isinstance(node, trees.Sequence):
            return concatenate(*children, limits=self._account) if children else self._empty_text
        if isinstance(node, trees.Choice):
            return (
                minimize(union(*children, limits=self._account), self._account)
                if children
                else Acceptor.empty()
            )
        assert isinstance(node, trees.Repeat), node
        return self._repeated(children[0], node.minimum, node.maximum)

    def _repeated(self, body: Acceptor, minimum: int, maximum: int | None) -> Acceptor:
        if maximum is None:
            more = [star(body, limits=self._account)]
        else:
            optional = union(body, self._empty_text, limits=self._account)
            more = [optional] * (maximum - minimum)
        parts = [body] * minimum + more
        return (
            minimize(concatenate(*parts, limits=self._account), self._account) if parts else self._empty_text
        )

    def _language(self, terminal: trees.Terminal | trees.Embedded) -> Acceptor:
        if isinstance(terminal, trees.Embedded) and not terminal.is_regular:
            reason = "a push-down automaton over bytes has no JSON and no control tokens"
            hint = "write texts as rules of the grammar; the engine takes it as it is"
            raise NotRegularError(terminal.name, 0, reason, hint)
        constraint: Constraint[str] = Constraint(terminal.expression, terminal.name, form=Plain())
        try:
            compiled = constraint.compile(self._bytes, limits=self._account.remaining())
        except EmptyConstraintError:
            return Acceptor.empty()
        return compiled.token_automaton().to_acceptor(self._account)
