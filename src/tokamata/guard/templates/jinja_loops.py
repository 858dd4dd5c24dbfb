"""What a loop of a template may do, from its syntax: what its iterations write, set and read.

A loop over the conversation is run for one message alone (:mod:`.jinja_any_length`).  What its other
iterations may do is bounded by the facts collected here.  Each is an over-approximation: where the syntax
does not tell, the iterations may do it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from jinja2 import nodes

from tokamata.guard.templates.texts import HTML_FILTERS

__all__ = [
    *("Block", "Facts", "conversations_of", "counts_of", "inner_macros_of", "makes_html"),
    *("may_write", "mentions", "only_extends"),
    *("read_before_set", "reads_end_of", "reads_of_blocks", "reads_others_of", "sets_of"),
]

Block = nodes.For | nodes.Macro | nodes.CallBlock


class Facts(NamedTuple):
    """What a loop may do.

    Attributes:
        number: of the loop in its template.
        sets: attributes of namespaces from outside that its body may set.
        extends: those of them to which it only appends a text.
        counts: those of them that it sets to numbers and answers alone, unless some variables have others.
        local: names of other variables than those of the top level that it reads.
        reads: names of variables that it reads, and the macros that it may call.
        whole: those of which it reads more than members.
        members: names of members that it reads of any value; ``None`` if these are not known.
        writes: whether it may put something out.
        is_inner: whether that is captured by a block, or the loop is recursive, or goes through some of the
            items and asks for their number among these.
        reads_others: whether its body may read more of other messages than their roles.
        has_else: whether something is done where there are no items.
        reads_end: whether its body may read how a conversation goes on after the next message.
        makes_html: whether it may make ``Markup``, which escapes what is added to it.
    """

    number: int
    sets: tuple[str, ...]
    extends: tuple[str, ...]
    counts: tuple[tuple[str, tuple[str, ...]], ...]
    local: tuple[str, ...]
    reads: tuple[str, ...]
    whole: tuple[str, ...]
    members: tuple[str, ...] | None
    writes: bool
    is_inner: bool
    reads_others: bool
    has_else: bool
    reads_end: bool
    makes_html: bool


def makes_html(blocks: Sequence[nodes.Node]) -> bool:
    """Whether blocks use a filter that makes ``Markup``."""
    return any(each.name in HTML_FILTERS for block in blocks for each in block.find_all(nodes.Filter))


def inner_macros_of(tree: nodes.Template) -> bool:
    """Whether a macro, or a block that is handed to one, stands where variables are not of the top level."""
    pending: list[nodes.Node] = [tree]
    at_top: set[int] = set()
    while pending:
        each = pending.pop()
        for child in each.iter_child_nodes():
            if isinstance(child, nodes.If):
                pending.append(child)
            elif isinstance(child, (nodes.Macro, nodes.CallBlock)):
                at_top.add(id(child))
    blocks = [*tree.find_all(nodes.Macro), *tree.find_all(nodes.CallBlock)]
    return any(
        id(each) not in at_top
        # What an extension calls writes at once.
        and not (isinstance(each, nodes.CallBlock) and isinstance(each.call.node, nodes.ExtensionAttribute))
        for each in blocks
    )


def may_write(loop: nodes.For) -> bool:
    """Whether the body of a loop may put something out."""
    blocks = (nodes.CallBlock, nodes.FilterBlock, nodes.Block)
    if any(True for _ in loop.find_all(blocks)):
        return True
    return any(
        not (isinstance(part, nodes.TemplateData) and not part.data) and not _is_refusal(part)
        for output in loop.find_all(nodes.Output)
        for part in output.nodes
    )


def _is_refusal(node: nodes.Node) -> bool:
    return (
        isinstance(node, nodes.Call)
        and isinstance(node.node, nodes.Name)
        and node.node.name == "raise_exception"
    )


def conversations_of(tree: nodes.Template) -> frozenset[str]:
    """Names of variables that may hold the conversation, or a list that begins at one of its messages.

    What holds one of its messages, or a text of it, is found when the template runs.
    """
    names = {"messages"}
    assigned = [*tree.find_all(nodes.Assign)]
    while True:
        more = {
            target.name
            for each in assigned
            if _may_be_list(each.node, names)
            for target in [each.target, *each.target.find_all((nodes.Name, nodes.NSRef))]
            if isinstance(target, (nodes.Name, nodes.NSRef))
        }
        if more <= names:
            return frozenset(names)
        names |= more


def _may_be_list(node: nodes.Node, names: set[str]) -> bool:
    """Whether a value may hold the conversation of one of some variables."""
    if isinstance(node, nodes.Name):
        return node.name in names
    if isinstance(node, nodes.Getitem):  # an item of it is a message
        return isinstance(node.arg, nodes.Slice) and _may_be_list(node.node, names)
    if isinstance(node, (nodes.Compare, nodes.Test, nodes.Not)):
        return False
    if isinstance(node, nodes.Filter) and node.name != "list":  # it makes an unknown value of a conversation
        return False
    return any(_may_be_list(each, names) for each in node.iter_child_nodes())


def _parts_of(blocks: Sequence[nodes.Node | None]) -> list[nodes.Node]:
    """The blocks that there are, and all that is within them."""
    return [part for each in blocks if each is not None for part in [each, *each.find_all(nodes.Node)]]


def mentions(node: nodes.Node, names: frozenset[str]) -> bool:
    return any(name.name in names for name in node.find_all(nodes.Name))


def reads_others_of(block: Block, conversations: frozenset[str]) -> bool:
    """Whether the body of a loop or a macro reads more of other messages than their roles."""
    allowed: set[int] = set()
    defaults = [] if isinstance(block, nodes.For) else block.defaults
    parts = _parts_of([*block.body, *defaults, getattr(block, "test", None)])
    for node in parts:
        for asked in _asked(node):
            allowed |= {id(each) for each in _chain(asked)}
        if isinstance(node, (nodes.Getattr, nodes.Getitem)) and _member(node) == "role":
            allowed |= {id(each) for each in _chain(node)}
    for node in parts:
        if id(node) in allowed:
            continue
        if isinstance(node, nodes.Name) and node.ctx == "load" and node.name in conversations:
            return True
        if isinstance(node, (nodes.Getattr, nodes.Getitem)) and _member(node) in ("previtem", "nextitem"):
            return True
    return False


def reads_of_blocks(
    loop: nodes.For, macros: Sequence[Block]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...] | None]:
    """What a loop and macros read of variables around them.

    Returns:
        The variables, those of which more than members is read, and names of members.
    """
    names_read: set[str] = set()
    whole: set[str] = set()
    members: set[str] | None = set()
    blocks = (loop, *macros)
    parts = [part for block in blocks for part in block.find_all(nodes.Node)]
    seen = {
        id(name)
        for block in blocks
        for names in [read_before_set(block)]
        for name in block.find_all(nodes.Name)
        if name.name in names
    }
    owners = {id(part.node) for part in parts if isinstance(part, (nodes.Getattr, nodes.Getitem))}
    for part in parts:
        if isinstance(part, nodes.Name) and part.ctx == "load" and id(part) in seen:
            names_read.add(part.name)
            if id(part) not in owners:
                whole.add(part.name)
        elif isinstance(part, (nodes.Getattr, nodes.Getitem)) and members is not None:
            member = _member(part)
            if isinstance(member, str):
                members.add(member)
            elif isinstance(part, nodes.Getitem) and not isinstance(part.arg, (nodes.Slice, nodes.Const)):
                members = None
    known = None if members is None else tuple(sorted(members))
    return tuple(sorted(names_read)), tuple(sorted(whole)), known


def read_before_set(block: Block) -> frozenset[str]:
    """Variables of which an iteration of a loop, or a call of a macro, may see what they were before.

    It sees no more of a variable that it has set, and a macro nothing of one with the name of a parameter.
    What is set where a condition holds is set for what follows there, and for nothing after it.  What begins
    a loop, what is done where it has no items, and defaults of parameters stand outside.  Namespaces of which
    an attribute is set count as read.
    """
    if isinstance(block, nodes.For):
        own: set[str] = set()
        outside: list[nodes.Node | None] = [block.iter, block.test, *block.else_]
    else:
        own = {each.name for each in block.args}
        outside = [*block.defaults, block.call if isinstance(block, nodes.CallBlock) else None]
    return frozenset(_loaded(outside) | _loaded_before_set(block.body, own))


def _loaded_before_set(statements: Sequence[nodes.Node], own: set[str]) -> set[str]:
    """Variables that statements read, but those that are set, of which there are more afterwards."""
    read: set[str] = set()
    for each in statements:
        if isinstance(each, nodes.If):
            read |= _loaded([each.test]) - own
            for branch in (each.body, each.elif_, each.else_):
                read |= _loaded_before_set(branch, set(own))
        else:
            read |= _loaded([each]) - own
        if isinstance(each, nodes.Assign) and isinstance(each.target, nodes.Name):
            own.add(each.target.name)
    return read


def _loaded(blocks: Sequence[nodes.Node | None]) -> set[str]:
    """Names of the variables that are read within some parts of a template."""
    parts = _parts_of(blocks)
    names = {part.name for part in parts if isinstance(part, nodes.Name) and part.ctx == "load"}
    return names | {part.name for part in parts if isinstance(part, nodes.NSRef)}


def sets_of(block: Block) -> frozenset[str]:
    """Attributes of namespaces from outside that a loop or a macro may set.

    A namespace that the block itself makes first is in no variable from outside: others have no way to it
    (:mod:`.jinja_subset`).
    """
    outside = read_before_set(block)
    return frozenset(each.attr for each in block.find_all(nodes.NSRef) if each.name in outside)


def counts_of(blocks: Sequence[nodes.Node]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The attributes to which only numbers, answers and constants are assigned.

    With each, the variables that it is made of: they may have other values before they are assigned.
    """
    variables: dict[str, list[nodes.Node]] = {}
    attributes: dict[str, list[nodes.Node]] = {}
    owners: dict[str, set[str]] = {}
    found: list[nodes.Assign | nodes.AssignBlock] = []
    for block in blocks:
        found += [*block.find_all(nodes.Assign), *block.find_all(nodes.AssignBlock)]
    targets = {id(name) for each in found for name in [each.target, *each.target.find_all(nodes.Name)]}
    # Loops, blocks and macros give names other values.
    bound = {
        name.name
        for block in blocks
        for name in block.find_all(nodes.Name)
        if name.ctx != "load" and id(name) not in targets
    }
    for assign in found:
        for target in [assign.target, *assign.target.find_all((nodes.Name, nodes.NSRef))]:
            if isinstance(target, nodes.NSRef):
                attributes.setdefault(target.attr, []).append(assign)
                owners.setdefault(target.attr, set()).add(target.name)
            elif isinstance(target, nodes.Name):
                variables.setdefault(target.name, []).append(assign)
    for name, assigns in sorted(attributes.items()):
        read: dict[str, None] = {}
        pending = [*assigns]
        while pending:
            node = pending.pop()
            if isinstance(node, nodes.Name) and node.name in variables and node.name not in bound:
                if node.name not in read:
                    read[node.name] = None
                    pending += variables[node.name]
                continue
            parts = _parts_of_number(node, name, owners[name] - bound - set(variables))
            if parts is None:
                break
            pending += parts
        else:
            yield name, tuple(sorted(read))


def _parts_of_number(node: nodes.Node, name: str, owners: set[str]) -> list[nodes.Node] | None:
    """What a value is made of that is a number if they are; ``None`` if it may be something else."""
    if isinstance(node, nodes.Assign) and isinstance(node.target, (nodes.Name, nodes.NSRef)):
        return [node.node]
    if isinstance(node, (nodes.Add, nodes.Sub, nodes.Mul, nodes.Mod, nodes.FloorDiv, nodes.And, nodes.Or)):
        return [node.left, node.right]
    if isinstance(node, (nodes.Neg, nodes.Pos)):
        return [node.node]
    if isinstance(node, nodes.CondExpr):
        return [node.expr1, *([node.expr2] if node.expr2 is not None else [])]
    if isinstance(node, (nodes.Const, nodes.Compare, nodes.Test, nodes.Not)):
        return []
    is_length = isinstance(node, nodes.Filter) and node.name in ("length", "count")
    return [] if is_length or (isinstance(node, nodes.Getattr) and _is_number(node, name, owners)) else None


def _is_number(node: nodes.Getattr, name: str, owners: set[str]) -> bool:
    """Whether it is the attribute itself, of a namespace in which it is assigned, or a number of the loop."""
    if not isinstance(node.node, nodes.Name):
        return False
    if node.attr == name:
        return node.node.name in owners
    return node.node.name == "loop" and node.attr in {
        "index",
        "index0",
        "revindex",
        "revindex0",
        "length",
        "first",
        "last",
    }


def only_extends(loop: nodes.For, name: str) -> bool:
    """Whether each assignment of an attribute is of the form ``ns.name = ns.name + …``."""
    blocks = [each.target for each in loop.find_all(nodes.AssignBlock)]
    if any(isinstance(each, nodes.NSRef) and each.attr == name for each in blocks):
        return False
    for assign in loop.find_all(nodes.Assign):
        targets = [
            each
            for each in [assign.target, *assign.target.find_all(nodes.NSRef)]
            if isinstance(each, nodes.NSRef)
        ]
        if not any(each.attr == name for each in targets):
            continue
        first = assign.node
        if not isinstance(assign.target, nodes.NSRef) or not isinstance(first, (nodes.Add, nodes.Concat)):
            return False
        while isinstance(first, (nodes.Add, nodes.Concat)):
            first = first.left if isinstance(first, nodes.Add) else first.nodes[0]
        is_itself = (
            isinstance(first, nodes.Getattr)
            and first.attr == name
            and isinstance(first.node, nodes.Name)
            and first.node.name == assign.target.name
        )
        if not is_itself:
            return False
    return True


_OF_LOOP = {"index", "index0", "first", "last", "previtem", "nextitem", "depth", "depth0"}


def reads_end_of(loop: nodes.For, conversations: frozenset[str], is_whole: bool) -> bool:
    """Whether the body of a loop may read other messages than the first two and those around its own.

    Args:
        loop: the loop.
        conversations: the variables that may hold messages.
        is_whole: whether ``messages`` is the whole conversation everywhere, not a part of it.
    """
    allowed: set[int] = set()
    parts = _parts_of([*loop.body, *loop.else_, loop.test])
    # In a loop within it, ``loop`` is another one.
    inner = {
        id(part) for each in parts if isinstance(each, nodes.For) for part in each.find_all(nodes.Getitem)
    }
    # The index of an item of another list says nothing of a message.
    items = loop.iter
    if isinstance(items, nodes.Getitem) and _is_rest(items.arg):
        items = items.node
    is_over = isinstance(items, nodes.Name) and items.name in conversations
    own: set[str] = {"messages"} if is_over and is_whole else set()
    own |= {loop.iter.name} if is_over and isinstance(loop.iter, nodes.Name) else set()
    for node in parts:
        if not (isinstance(node, nodes.Getitem) and isinstance(node.node, nodes.Name)):
            continue
        # The first messages of a part of the conversation are other ones.
        if (_is_first(node.arg) and node.node.name == "messages" and is_whole) or (
            _is_neighbour(node.arg) and node.node.name in own and id(node) not in inner
        ):
            allowed.add(id(node.node))
    for node in parts:
        if isinstance(node, (nodes.Getattr, nodes.Getitem)) and _member(node) in _OF_LOOP:
            allowed.add(id(node.node))
    return any(
        isinstance(node, nodes.Name)
        and node.ctx == "load"
        and (node.name in conversations or node.name == "loop")
        and id(node) not in allowed
        for node in parts
    )


def _is_rest(index: nodes.Node) -> bool:
    """Whether it is a slice from one item on."""
    return isinstance(index, nodes.Slice) and index.stop is None and index.step is None


def _is_first(index: nodes.Node) -> bool:
    """Whether it is the index of one of the first two messages."""
    return isinstance(index, nodes.Const) and type(index.value) is int and 0 <= index.value <= 1


def _is_neighbour(index: nodes.Node) -> bool:
    """Whether it is the index of a message next to that of a loop, or its own."""
    offset = 0
    if isinstance(index, (nodes.Add, nodes.Sub)) and isinstance(index.right, nodes.Const):
        if type(index.right.value) is not int:
            return False
        offset = index.right.value if isinstance(index, nodes.Add) else -index.right.value
        index = index.left
    if not (isinstance(index, nodes.Getattr) and index.attr in ("index", "index0")):
        return False
    is_loop = isinstance(index.node, nodes.Name) and index.node.name == "loop"
    return is_loop and -1 <= offset + (index.attr == "index") <= 1


def _asked(node: nodes.Node) -> Iterator[nodes.Node]:
    """The expressions of which a part asks only for an answer: a comparison, a test, whether they hold."""
    if isinstance(node, nodes.Compare):
        yield from (node.expr, *(each.expr for each in node.ops))
    elif isinstance(node, (nodes.Test, nodes.Not)):
        yield node.node
    elif isinstance(node, nodes.Filter):
        if node.name in ("length", "count") and node.node is not None:
            yield node.node
    elif isinstance(node, (nodes.If, nodes.CondExpr)):
        pending: list[nodes.Node] = [node.test]
        while pending:
            one = pending.pop()
            if isinstance(one, (nodes.And, nodes.Or)):
                pending += [one.left, one.right]
            else:
                yield one


def _chain(node: nodes.Node | None) -> Iterator[nodes.Node]:
    """A value, and those that it is a member of: ``messages[0].content``, ``messages[0]``, ``messages``."""
    while node is not None:
        yield node
        node = (
            node.node if isinstance(node, (nodes.Getattr, nodes.Getitem, nodes.Filter, nodes.Call)) else None
        )


def _member(node: nodes.Node) -> Any:
    if isinstance(node, nodes.Getattr):
        return node.attr
    return getattr(node.arg, "value", None) if isinstance(node, nodes.Getitem) else None
