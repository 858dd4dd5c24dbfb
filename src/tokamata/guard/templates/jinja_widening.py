"""Widens a template, so that conversations of all lengths can be represented: some answers are left open.

**Problem.**  Many templates look for the last question of a user before they write anything, and drop the
reasoning of answers before it.  What they write for a message then depends on all later ones, and the theorem
of :mod:`tokamata.guard.templates.jinja_conversations` says nothing about them.

**Method.**  A question about more of the conversation than the theorem allows becomes an unknown: both
answers are tried.  The widened template has all renderings of the template, and more.  What is proved for
each of its renderings holds for the template; what is refuted has to be replayed on the template itself.  For
example ::

    {% for m in messages[::-1] %}…{% set ns.last = … %}…{% endfor %}        is left out, since it writes
    nothing; {% if loop.index0 > ns.last and … %}                                    {% if unknown() and … %}

The parts are found by the reader of the theorem itself: each part that it names is replaced by the smallest
question around it, or left out with the assignment or the silent loop that it stands in; whatever reads the
variable that was assigned is then treated likewise.  Values that are written, and not only asked about,
cannot be widened.

**Rejected.**  To follow the position of the last question exactly: it needs an argument for each way in which
a template may search for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import nodes

from tokamata.guard.templates.jinja_conversations import Outside, reads_of

__all__ = ["widen"]

_MOST_CHANGES = 300
_PURE = {"raise_exception", "range", "namespace", "dict", "strftime_now"}
_BEYOND = "a value that depends on the whole conversation"


def widen(tree: nodes.Template) -> bool:
    """Changes a template so that the theorem holds for it; whether anything had to be changed.

    Raises:
        Outside: it cannot be widened.
    """
    widener = _Widener(tree)
    widener.widen()
    return widener.changes > 0


class _Widener:
    """Changes one template.

    Attributes:
        changes: how many parts were left out or left open.
    """

    def __init__(self, tree: nodes.Template) -> None:
        self._tree = tree
        self._parents: dict[int, tuple[nodes.Node, str]] = {}
        self.changes = 0
        blocks = [*tree.find_all(nodes.Macro), *tree.find_all(nodes.CallBlock)]
        self._is_set_by_calls = any(next(each.find_all(nodes.NSRef), None) for each in blocks)

    def widen(self) -> None:
        self._find_parents()
        loops = [loop for loop in self._tree.find_all(nodes.For) if _reads_messages(loop)]
        for loop in loops:
            if len(loops) > 1 and _is_silent(loop) and self._is_there(loop):
                self._leave_out(loop)
        while True:
            try:
                reads_of(self._tree)
                return
            except Outside as error:
                if error.node is None:
                    raise
                self._replace(error.node, error)

    def _find_parents(self) -> None:
        self._parents = {}
        pending: list[nodes.Node] = [self._tree]
        while pending:  # find_all of jinja2 is recursive, and takes three times as long
            node = pending.pop()
            for name, value in node.iter_fields():
                for part in value if isinstance(value, list) else [value]:
                    if isinstance(part, nodes.Node):
                        self._parents[id(part)] = (node, name)
                        pending.append(part)

    def _around(self, node: nodes.Node) -> Iterator[tuple[nodes.Node, nodes.Node, str]]:
        """A node and those around it, each with its parent and the field in which it stands."""
        while id(node) in self._parents:
            parent, name = self._parents[id(node)]
            yield node, parent, name
            node = parent

    def _is_there(self, node: nodes.Node) -> bool:
        last = node
        for _, parent, _ in self._around(node):
            last = parent
        return last is self._tree

    def _replace(self, node: nodes.Node, error: Outside) -> None:
        """Leaves open what a node stands in."""
        silent = [one for one, _, _ in self._around(node) if isinstance(one, nodes.For) and _is_silent(one)]
        if silent:
            self._leave_out(silent[-1])
            return
        for one, parent, name in self._around(node):
            if isinstance(one, (nodes.Compare, nodes.Test, nodes.Not)) or self._is_truth(one):
                unknown = nodes.Call(nodes.EnvironmentAttribute("unknown"), [], [], None, None)
                self._put(one, parent, name, unknown.set_lineno(one.lineno or node.lineno or 1))
                return
            if isinstance(one, nodes.Keyword) and _is_namespace(parent):
                target = self._parents[id(parent)][0]
                if isinstance(target, nodes.Assign) and isinstance(target.target, nodes.Name):
                    self._put(one, parent, name, None)
                    self._forget(target.target.name, one.key)
                    return
            if isinstance(one, nodes.Assign):
                self._put(one, parent, name, None)
                self._forget_target(one)
                return
            if isinstance(one, nodes.Stmt):
                break
        raise error

    def _is_truth(self, node: nodes.Node) -> bool:
        """Whether only the truth of an expression matters."""
        parent, name = self._parents.get(id(node), (None, ""))
        if isinstance(parent, (nodes.If, nodes.CondExpr, nodes.For)):
            return name == "test"
        if isinstance(parent, (nodes.And, nodes.Or)):
            return self._is_truth(parent)
        return isinstance(parent, nodes.Not)

    def _put(self, node: nodes.Node, parent: nodes.Node, name: str, new: nodes.Node | None) -> None:
        if self._is_set_by_calls and _calls(node):
            raise Outside("a call that may change a namespace", node.lineno or 0)
        self.changes += 1
        if self.changes > _MOST_CHANGES:
            raise Outside("too many questions about the whole conversation", node.lineno or 0)
        value = getattr(parent, name)
        if isinstance(value, list):
            at = next(at for at, one in enumerate(value) if one is node)
            value[at : at + 1] = [] if new is None else [new]
        else:
            setattr(parent, name, new)
        self._find_parents()

    def _leave_out(self, loop: nodes.For) -> None:
        """Leaves out a loop that writes nothing; what it assigns is unknown."""
        parent, name = self._parents[id(loop)]
        self._put(loop, parent, name, None)
        for assign in loop.find_all(nodes.Assign):
            for reference in [assign.target, *assign.target.find_all(nodes.NSRef)]:
                if isinstance(reference, nodes.NSRef):
                    self._forget(reference.name, reference.attr)

    def _forget_target(self, assign: nodes.Assign) -> None:
        if isinstance(assign.target, nodes.NSRef):
            self._forget(assign.target.name, assign.target.attr)
        elif isinstance(assign.target, nodes.Name):
            self._forget(assign.target.name, None)
        else:
            raise Outside(_BEYOND, assign.lineno)

    def _forget(self, name: str, attribute: str | None) -> None:
        """What reads a variable, or an attribute of a namespace, is left open."""
        if name == "messages":
            raise Outside("other messages than those of the caller", 0)
        if attribute is not None:
            for one in self._tree.find_all(nodes.Name):
                parent, field = self._parents[id(one)]
                is_owner = isinstance(parent, (nodes.Getattr, nodes.Getitem)) and field == "node"
                if one.name == name and one.ctx == "load" and not is_owner:
                    raise Outside("a namespace that is passed on", one.lineno)
        while True:
            node = next(
                (node for node in self._tree.find_all(nodes.Expr) if _reads(node, name, attribute)), None
            )
            if node is None:
                return
            self._replace(node, Outside(_BEYOND, node.lineno or 0))


def _reads(node: nodes.Node, name: str, attribute: str | None) -> bool:
    if attribute is None:
        return isinstance(node, nodes.Name) and node.name == name and node.ctx == "load"
    if isinstance(node, nodes.Getattr):
        is_it = node.attr == attribute
    elif isinstance(node, nodes.Getitem):
        is_it = not isinstance(node.arg, nodes.Const) or node.arg.value == attribute
    else:
        return False
    return is_it and isinstance(node.node, nodes.Name) and node.node.name == name


def _is_namespace(node: nodes.Node) -> bool:
    return (
        isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name == "namespace"
    )


def _reads_messages(loop: nodes.For) -> bool:
    """Whether the items of a loop depend on a variable that holds messages, by its name."""
    names = [loop.iter, *loop.iter.find_all(nodes.Name)]
    return any(isinstance(name, nodes.Name) and "messages" in name.name for name in names)


def _is_silent(loop: nodes.For) -> bool:
    """Whether a loop writes nothing; to refuse a conversation does not count."""
    if next(
        loop.find_all((nodes.CallBlock, nodes.FilterBlock, nodes.AssignBlock, nodes.Block, nodes.Macro)), None
    ):
        return False
    return all(_is_refusal(part) for output in loop.find_all(nodes.Output) for part in output.nodes)


def _calls(node: nodes.Node) -> bool:
    """Whether it may call a macro, by its name or as a value."""
    calls = [*node.find_all(nodes.Call), *([node] if isinstance(node, nodes.Call) else [])]
    return any(not isinstance(call.node, nodes.Name) or call.node.name not in _PURE for call in calls)


def _is_refusal(node: nodes.Node) -> bool:
    if isinstance(node, nodes.TemplateData):
        return not node.data
    return (
        isinstance(node, nodes.Call)
        and isinstance(node.node, nodes.Name)
        and node.node.name == "raise_exception"
    )
