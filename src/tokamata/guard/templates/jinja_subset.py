"""Which templates the arguments about conversations of any length are about.

**Problem.**  Proofs for all lengths run a template on unknown messages (:mod:`.jinja_any_length`,
:mod:`.jinja_conversations`).  They bound what the other messages may do by the syntax of the template: which
variables hold messages, which state a loop hands on, what is read of a neighbour.  jinja2 can do all of this
in ways that these bounds do not see.

**Method.**  A template with such a way is left out: nothing is proved of it.  It may still have witnesses.

**Example.**  ``{% set skip = loop | first %}`` takes the next message out of the loop; ``[messages]`` hands
the conversation on under another name; a list that holds a namespace changes with it; a macro that is kept as
a value is called where no call of it stands.

Cost: one walk over the syntax tree.  Rejected: following these ways, too; of 786 public templates 21 have
any.
"""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import nodes

from tokamata.guard.templates.jinja_loops import conversations_of
from tokamata.guard.templates.pieces import Unsettled

__all__ = ["why_outside"]

_OF_LOOP = {
    *("first", "last", "index", "index0", "revindex", "revindex0", "length"),
    *("previtem", "nextitem", "depth", "depth0"),
}
_BOUND_BY_JINJA = {
    *("loop", "self", "caller", "namespace", "range", "dict"),
    *("raise_exception", "strftime_now"),
}
_WITH_STATE = {"cycler", "joiner", "lipsum"}
_MAKE_ITERATORS = {
    *("map", "select", "reject", "selectattr", "rejectattr"),
    *("reverse", "batch", "slice", "items", "unique"),
}
_TAKE_ITERATORS = {"list", "join", "first", "sum", "min", "max", "sort", "tojson", "groupby"}
_LITERALS = (nodes.List, nodes.Tuple, nodes.Dict)


def why_outside(tree: nodes.Template, source: str) -> Unsettled | None:
    """The first thing by which a template is left out; ``None`` if there is none."""
    if "LoopContext(" in source:
        return Unsettled("a text with the name of jinja2's loops", 0)
    return next((Unsettled(what, node.lineno) for node, what in _Ways(tree).found()), None)


class _Ways:
    def __init__(self, tree: nodes.Template) -> None:
        self._tree = tree
        self._conversations = conversations_of(tree)
        self._macros = {"caller", *(each.name for each in tree.find_all(nodes.Macro))}
        self._namespaces = {
            each.target.name
            for each in tree.find_all(nodes.Assign)
            if _is_namespace(each.node) and isinstance(each.target, nodes.Name)
        }

    def found(self) -> Iterator[tuple[nodes.Node, str]]:
        pending: list[tuple[nodes.Node, tuple[nodes.Node, ...]]] = [(self._tree, ())]
        while pending:
            node, above = pending.pop()
            what = self._what(node, above)
            if what:
                yield node, what
            pending += [(child, (node, *above)) for child in node.iter_child_nodes()]

    def _what(self, node: nodes.Node, above: tuple[nodes.Node, ...]) -> str:
        parent = above[0] if above else None
        if type(node).__name__ == "Break":  # of the extension of loop controls
            return "a loop that is left before its end"
        if isinstance(node, nodes.With):
            return "variables of a with block"
        if isinstance(node, nodes.Block):
            return "a block of a template"
        if isinstance(node, nodes.Macro) and node.name in _BOUND_BY_JINJA:
            return f"another {node.name}"
        if isinstance(node, nodes.Filter):
            return self._filtered(node, parent)
        if isinstance(node, nodes.Compare):
            return self._compared(node)
        if isinstance(node, nodes.Call) and _is_namespace(node) and not _is_assigned(node, parent):
            return "a namespace that no variable holds alone"
        if isinstance(node, nodes.Name):
            return self._named(node, above)
        return ""

    def _named(self, node: nodes.Name, above: tuple[nodes.Node, ...]) -> str:
        parent = above[0]
        if node.ctx != "load":
            is_own = node.name not in _BOUND_BY_JINJA or _is_plain_parameter(node, parent)
            return "" if is_own else f"another {node.name}"
        if node.name == "self" or node.name in _WITH_STATE:
            return f"the variable {node.name}"
        member = parent.attr if isinstance(parent, nodes.Getattr) else None
        if node.name == "loop" and member not in _OF_LOOP:
            return "a loop that is read as a value"
        if node.name in self._namespaces and member is None:
            return "a namespace that is read as a value"
        is_called = isinstance(parent, nodes.Call) and parent.node is node
        if node.name in self._macros and not is_called and not isinstance(parent, nodes.Test):
            return "a macro that is read as a value"
        if node.name == "namespace" and not is_called and not _is_of_parameter(node, above):
            return "what makes namespaces, read as a value"
        if node.name in self._conversations and self._is_handed_on(node, above):
            return "the conversation under another name"
        return ""

    def _is_handed_on(self, node: nodes.Node, above: tuple[nodes.Node, ...]) -> bool:
        """Whether a list of messages gets into a literal, an argument, or the default of a parameter."""
        for each in above:
            if isinstance(each, (*_LITERALS, nodes.Keyword, nodes.Call, nodes.CallBlock)):
                return True
            if isinstance(each, nodes.Macro):
                return any(node is default for default in each.defaults)
            # What these make of it is no list of messages that is followed, or a message.
            if isinstance(each, (nodes.Filter, nodes.Test, nodes.Compare, nodes.Getattr, nodes.Stmt)):
                return False
            if isinstance(each, nodes.Getitem) and not isinstance(each.arg, nodes.Slice):
                return False
            node = each
        return False

    def _filtered(self, node: nodes.Filter, parent: nodes.Node | None) -> str:
        if node.name in ("attr", "random"):
            return f"the filter {node.name}"
        if node.name not in _MAKE_ITERATORS:
            return ""
        is_taken = isinstance(parent, nodes.Filter) and parent.name in _TAKE_ITERATORS | _MAKE_ITERATORS
        if is_taken or (isinstance(parent, nodes.For) and parent.iter is node):
            return ""
        return f"what the filter {node.name} makes, kept as a value"

    def _compared(self, node: nodes.Compare) -> str:
        if len(node.ops) > 1:
            return "a chain of comparisons"
        operands = [node.expr, *(each.expr for each in node.ops)]
        literals = [part for each in operands for part in [each, *each.find_all(_LITERALS)]]
        if any(
            isinstance(each, _LITERALS)
            and any(not isinstance(item, (nodes.Const, nodes.Pair)) for item in each.iter_child_nodes())
            for each in literals
        ):
            return "a comparison of lists"
        if any(_last_value(each, self._conversations) for each in operands):
            return "a comparison of a conversation"
        return ""


def _is_plain_parameter(node: nodes.Name, parent: nodes.Node) -> bool:
    """Whether it is a parameter with the name ``namespace`` of a macro that makes no namespace."""
    return (
        node.name == "namespace"
        and isinstance(parent, nodes.Macro)
        and any(node is each for each in parent.args)
        and not any(map(_is_namespace, parent.find_all(nodes.Call)))
    )


def _is_of_parameter(node: nodes.Name, above: tuple[nodes.Node, ...]) -> bool:
    """Whether a name is read in the body of a macro with a parameter of this name."""
    for each in above:
        if isinstance(each, nodes.Macro) and any(one.name == node.name for one in each.args):
            return not any(node is part for one in each.defaults for part in [one, *one.find_all(nodes.Name)])
    return False


def _last_value(node: nodes.Node, conversations: frozenset[str]) -> bool:
    """Whether an operand is a conversation or a slice of one."""
    while isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice):
        node = node.node
    return isinstance(node, nodes.Name) and node.name in conversations


def _is_namespace(node: nodes.Node) -> bool:
    return (
        isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name == "namespace"
    )


def _is_assigned(node: nodes.Node, parent: nodes.Node | None) -> bool:
    return isinstance(parent, nodes.Assign) and parent.node is node and isinstance(parent.target, nodes.Name)
