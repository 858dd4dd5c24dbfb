"""Runs a template on a conversation of any length, seen around one message (:mod:`.unknowns`).

The environment is the one that follows unknown texts, with these differences:

- an operation with an unknown value gives an unknown value, and a question about one has both answers;
- a loop over the conversation runs its body for the message M alone; for the other messages, and in loops
  over unknown values, the body is left out: a *gap*, after which the attributes that it may set are unknown;
- a loop over some messages asks whether M is one of them, and a gap stands for those of the others; which
  iterations there are is left open by a gap in any case;
- ``loop`` knows of M what its position tells, and whether it is the last;
- only ``raise_exception`` and an undefined value refuse a conversation.  Another error may be that of an
  unknown value where the value itself raises none: what the template does is not settled.

A gap is tainted, so that it may write the text of M, if the body reads more than the roles of other messages,
or if a variable holds the text of M that the body may read.  A variable that an iteration sets before it
reads it is none of these (:func:`.jinja_loops.read_before_set`).  An attribute that held this text before may
hold it after the gap.  Whoever calls a macro within a gap may set any attribute that a macro sets of a
namespace that it has not made itself.  A sum with what may be ``Markup`` is not followed, since that escapes
the text beside it.  What cannot be left out, such as a loop within a macro that writes
something, is not followed.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import jinja2
import jinja2.runtime
from jinja2 import nodes
from jinja2.compiler import Frame

from tokamata.guard.templates.decisions import Unfollowed
from tokamata.guard.templates.jinja_environment import RUN, Environment, FollowingCode
from tokamata.guard.templates.jinja_loops import (
    Block,
    Facts,
    conversations_of,
    counts_of,
    inner_macros_of,
    makes_html,
    may_write,
    mentions,
    only_extends,
    read_before_set,
    reads_end_of,
    reads_of_blocks,
    reads_others_of,
    sets_of,
)
from tokamata.guard.templates.pieces import Slot, Source
from tokamata.guard.templates.texts import Method, Parts, Text, joined
from tokamata.guard.templates.unknowns import (
    GAP,
    TAINTED_GAP,
    Gap,
    Messages,
    Place,
    Unknown,
    derived,
    may_be_html,
    reaches,
    term_of,
)

__all__ = ["AnyLength"]

_STATEFUL = {"cycler", "joiner"}


class _Code(FollowingCode):
    """Code whose loops say what their bodies may do."""

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        self._loops = 0
        self._conversations = conversations_of(node)
        own: list[Block] = [*node.find_all(nodes.Macro), *node.find_all(nodes.CallBlock)]
        self._macros = own
        self._set_by_macros = frozenset(name for one in own for name in sets_of(one))
        # Variables around a macro that is not of the top level are not seen where it is called.
        self._has_inner = inner_macros_of(node)
        self._do_macros_mention = self._has_inner or any(mentions(one, self._conversations) for one in own)
        self._do_macros_read = self._has_inner or any(
            reads_others_of(one, self._conversations) for one in own
        )
        names = [each for each in node.find_all(nodes.Name) if each.name == "messages"]
        self._is_whole = all(each.ctx == "load" for each in names)
        super().visit_Template(node, frame)

    def visit_For(self, node: nodes.For, frame: Frame) -> None:
        calls = [each.node for each in node.find_all(nodes.Call)]
        has_calls = bool(calls) or any(True for _ in node.find_all(nodes.CallBlock))
        names, macros = sets_of(node), self._macros if has_calls else []
        reads_others = reads_others_of(node, self._conversations) or (has_calls and self._do_macros_read)
        # What other iterations may write of variables that the context does not have.
        local = [name for name in sorted(read_before_set(node)) if frame.symbols.find_ref(name) is not None]
        self._loops += 1
        facts = Facts(
            self._loops,
            tuple(sorted(names | self._set_by_macros if has_calls else names)),
            tuple(sorted(name for name in names - self._set_by_macros if only_extends(node, name))),
            () if has_calls and self._has_inner else tuple(counts_of([node, *macros])),
            tuple(local),
            *reads_of_blocks(node, macros),
            may_write(node),
            frame.buffer is not None or bool(node.recursive) or _counts_some(node),
            reads_others or any(isinstance(one, nodes.Name) and one.name == "caller" for one in calls),
            bool(node.else_),
            reads_end_of(node, self._conversations, self._is_whole)
            or (has_calls and self._do_macros_mention),
            makes_html([node, *macros]),
        )
        begun = nodes.Call(
            nodes.EnvironmentAttribute("begun"),
            [
                nodes.ContextReference(),
                node.iter,
                nodes.Const(tuple(facts)),
                *(nodes.Name(name, "load") for name in local),
            ],
            [],
            None,
            None,
        )
        self.visit(nodes.Output([begun.set_lineno(node.lineno)]).set_lineno(node.lineno), frame)
        items = node.iter
        node.iter = nodes.Call(nodes.EnvironmentAttribute("walked"), [], [], None, None).set_lineno(
            node.lineno
        )
        super().visit_For(node, frame)
        node.iter = items

    def write(self, x: str) -> None:
        # The name of the class that jinja2's own code makes for a loop.
        super().write(x.replace("LoopContext(", "environment.loop_of("))


def _counts_some(loop: nodes.For) -> bool:
    """Whether a loop over some of the items asks which of these an item is, or whether there are any."""
    names = loop.find_all(nodes.Name)
    return loop.test is not None and (bool(loop.else_) or any(name.name == "loop" for name in names))


class _Walk:
    """A loop over messages or an unknown value.

    Args:
        items: what it goes through.
        context: the variables of the top level.
        facts: what it may do.
        local: values of other variables that it reads.
    """

    def __init__(self, items: Messages | Unknown, context: Any, facts: Facts, local: tuple[Any, ...]) -> None:
        self.items = items
        self._context, self._facts, self._local = context, facts, local

    def __iter__(self) -> Iterator[Any]:
        if isinstance(self.items, Unknown):
            return
        for item in self.items.items():
            if isinstance(item, Gap):
                RUN.get().written.append(self.gap())
            else:
                run = RUN.get()
                if self._facts.writes:
                    run.has_other_begin = run.begin is not None
                    run.begin = len(run.written) if run.begin is None else run.begin
                yield item

    def gap(self) -> str | Text:
        """What the iterations write that are left out; they change attributes of namespaces, too."""
        run, facts = RUN.get(), self._facts
        is_tainted = facts.reads_others or self._holds_message()
        run.gaps += 1
        end = run.phase if facts.reads_end else ""
        # A macro may read a variable of the top level with the name of another one.
        variables = (self._context.vars, dict(zip(facts.local, self._local, strict=True)))
        counts = {
            name
            for name, read in facts.counts
            if not any(reaches(own.get(one), run.focus) for own in variables for one in read)
        }
        gap = run.number_of(("gap", run.gaps, facts, end, self._state()))
        attributes = [
            jinja2.utils.Namespace.__getattribute__(each, "_Namespace__attrs") for each in run.namespaces
        ]
        # A value of another namespace may be assigned, and one that was there may be left.
        reached = {name for own in attributes for name in own if reaches(own[name], run.focus)}
        for number, (namespace, own) in enumerate(zip(run.namespaces, attributes, strict=True)):
            for name in facts.sets:
                may_hold = name in reached or (is_tainted and name not in counts)
                is_html = facts.makes_html and name not in counts
                after = Unknown(run, ("after", gap, number, name), may_hold, is_html)
                is_text = name in facts.extends and not is_html and isinstance(own.get(name), (str, Text))
                namespace[name] = joined(run, [own[name], after.written()]) if is_text else after
        if not facts.writes:
            return ""
        if isinstance(self.items, Unknown):
            return Unknown(run, ("written", gap), is_tainted).written()
        return Text(run, (Slot(Source("unknown", gap, "", TAINTED_GAP if is_tainted else GAP)),))

    def _state(self) -> Hashable:
        """What the iterations may read that are left out: equal for equal values alone."""
        kept = [
            jinja2.utils.Namespace.__getattribute__(each, "_Namespace__attrs")
            for each in RUN.get().namespaces
        ]
        read = {name: value for name, value in self._context.vars.items() if name in self._facts.reads}
        items = ("messages", self.items.start) if isinstance(self.items, Messages) else self.items.term
        return _described([read, kept, self._local]), items

    def _holds_message(self) -> bool:
        """Whether a text of M can be reached from what the iterations read."""
        run, facts = RUN.get(), self._facts
        known = self._context.get_all()
        values = [known.get(name) for name in facts.reads]
        if any(reaches(value, run.focus) for value in (*values, *self._local, self.items)):
            return True
        named = {id(value) for value in known.values()}
        whole = {id(known.get(name)) for name in facts.whole}
        for namespace in run.namespaces:
            own = jinja2.utils.Namespace.__getattribute__(namespace, "_Namespace__attrs")
            is_whole = facts.members is None or id(namespace) in whole or id(namespace) not in named
            names = own if is_whole else set(own).intersection(facts.members or ())
            if any(reaches(own[name], run.focus) for name in names):
                return True
        return False


class _Loop:
    """``loop`` in a loop over the messages, at M."""

    def __init__(self, environment: AnyLength, walk: _Walk) -> None:
        assert isinstance(walk.items, Messages)
        self._environment, self._messages, self._walk = environment, walk.items, walk

    def __iter__(self) -> Iterator[tuple[Any, _Loop]]:
        for item in self._walk:
            yield item, self

    def member(self, name: str) -> Any:
        """What a template reads of ``loop``."""
        messages, place = self._messages, self._messages.place()
        run = messages.run
        if name in ("index0", "index"):
            by = name == "index"
            return place.moved(by) if isinstance(place, Place) else place + by
        if name == "first":
            return place == 0
        if name == "last":
            return messages.is_last()
        if name == "previtem":
            if place == 0:
                return self._environment.undefined("there is no previous item")
            return messages.neighbour(-1)
        if name == "nextitem":
            item = messages.neighbour(1)
            return self._environment.undefined("there is no next item") if item is None else item
        if name == "length":
            return messages.length()
        if name in ("revindex", "revindex0"):
            return Unknown(run, ("loop", name, run.phase), False)
        if name in ("depth", "depth0"):
            return int(name == "depth")
        raise Unfollowed(f"loop.{name}")


class AnyLength(Environment):
    """The environment of one conversation around a message, whose index is the run's ``focus``."""

    code_generator_class = _Code

    def __init__(self) -> None:
        super().__init__()
        self.filters = {name: _filter(name, function) for name, function in self.filters.items()}
        own: dict[str, Any] = dict(self.tests)
        self.tests = {name: _test(name, function) for name, function in own.items()}

    def begun(self, context: Any, items: Any, known: tuple[Any, ...], *local: Any) -> Any:
        """A loop begins; returns what its gap writes if it goes through an unknown value."""
        run, facts = RUN.get(), Facts(*known)
        if isinstance(items, Parts) and not reaches(items.text, None):
            # How many parts a text has of which nothing is known is not known either.
            term = ("parts", term_of(items.text), items.method, items.separator, items.most)
            items = Unknown(run, term, False)
        if not isinstance(items, (Messages, Unknown)):
            run.walks.append(items)
            return ""
        if facts.has_else and not (isinstance(items, Messages) and items.has_message()):
            raise Unfollowed("the else of a loop over unknown values")
        if isinstance(items, Messages) and facts.is_inner:
            raise Unfollowed("a loop that counts some messages, or is within a block")
        walk = _Walk(items, context, facts, local)
        run.walks.append(walk)
        return walk.gap() if isinstance(items, Unknown) else ""

    def walked(self) -> Any:
        """What the loop goes through that has begun."""
        return RUN.get().walks.pop()

    def looped(self, items: Any) -> Any:
        """What a loop goes through that is neither messages nor unknown is bounded."""
        return items if isinstance(items, (_Walk, Messages, Unknown)) else super().looped(items)

    def loop_of(self, items: Any, undefined: Any, *rest: Any) -> Any:
        """The value of ``loop`` for a loop."""
        if isinstance(items, _Walk) and isinstance(items.items, Messages):
            return _Loop(self, items)
        return jinja2.runtime.LoopContext(items, undefined, *rest)

    def written(self, value: Any) -> str | Text:
        """The text of a value that is put out."""
        if isinstance(value, Messages):
            raise Unfollowed("the text of the conversation")
        return value.written() if isinstance(value, Unknown) else super().written(value)

    def compared(self, name: str, left: Any, right: Any) -> bool:
        """A comparison by one operator."""
        if _is_unknown(left) or _is_unknown(right):
            run = RUN.get()
            run.tick()
            if isinstance(left, Unknown) and name in ("eq", "lt", "lteq", "gt", "gteq"):
                return left._compared(_SHORT.get(name, name), right)
            if name == "ne":
                return not self.compared("eq", left, right)
            if name == "notin":
                return not self.compared("in", left, right)
            if isinstance(right, Unknown) and name in _MIRRORED:
                return self.compared(_MIRRORED[name], right, left)
            return run.unknown((name, term_of(left), term_of(right)))
        return super().compared(name, left, right)

    def cut(self, value: Any, start: Any, stop: Any, step: Any) -> Any:
        """``value[start:stop:step]``."""
        bounds = (start, stop, step)
        if isinstance(value, Messages) and stop is None and step in (None, 1):
            if start in (None, 0):
                return value
            if type(start) is int and 0 < start + value.start <= 2:
                return value.since(start)
        if _is_unknown(value) or any(map(_is_unknown, bounds)):
            RUN.get().tick()
            return derived(RUN.get(), "slice", value, *bounds)
        return super().cut(value, start, stop, step)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """``+``, ``-``, ``*``, ``/``, ``//``, ``%``, ``**``."""
        if not (_is_unknown(left) or _is_unknown(right)):
            return super().call_binop(context, operator, left, right)
        run = RUN.get()
        run.tick()
        if isinstance(left, Place) and type(right) is int and operator in "+-":
            return left.moved(right if operator == "+" else -right)
        if operator == "+" and any(isinstance(one, (str, Text)) for one in (left, right)):
            if may_be_html(left) or may_be_html(right):
                raise Unfollowed("a text that |safe has marked, and an unknown value")
            # The sum is a text, or it is refused.
            return joined(run, [self.written(left), self.written(right)])
        return derived(run, ("binary", operator), left, right)

    def call_unop(self, context: Any, operator: str, arg: Any) -> Any:
        """``+`` and ``-``."""
        if _is_unknown(arg):
            return derived(RUN.get(), ("unary", operator), arg)
        return super().call_unop(context, operator, arg)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """``value.name``."""
        if isinstance(obj, _Loop):
            RUN.get().tick()
            return obj.member(attribute)
        if _is_unknown(obj):
            RUN.get().tick()
            return derived(RUN.get(), ("item", attribute), obj)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """``value[key]``."""
        run = RUN.get()
        run.tick()
        if isinstance(obj, _Loop) and isinstance(argument, str):
            return obj.member(argument)
        if isinstance(obj, Messages) and (isinstance(argument, Place) or type(argument) is int):
            item = obj.item(argument)
            return self.undefined(obj=[], name=str(argument)) if item is None else item
        if _is_unknown(obj) and isinstance(argument, str):
            return derived(run, ("item", argument), obj)
        if _is_unknown(obj) or _is_unknown(argument):
            return derived(run, "item", obj, argument)
        return super().getitem(obj, argument)

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """A call of a macro, a method or a function."""
        if getattr(__obj, "__self__", None) is __self:
            return super().call(__context, __obj, *args, **kwargs)
        given = [
            *args,
            *(value for name, value in kwargs.items() if name not in ("_loop_vars", "_block_vars")),
        ]
        if isinstance(__obj, Unknown):
            return derived(RUN.get(), ("call", tuple(kwargs)), __obj, *given)
        if any(map(_is_unknown, given)):
            if (
                isinstance(__obj, (types.BuiltinMethodType, Method))
                or __obj is __self.globals["range"]
                or __obj is __self.globals["strftime_now"]
            ):
                owner = getattr(__obj, "__self__", getattr(__obj, "text", None))
                name = getattr(__obj, "name", getattr(__obj, "__name__", ""))
                return derived(RUN.get(), ("call", name, tuple(kwargs)), owner, *given)
            if any(isinstance(value, Messages) for value in given):
                raise Unfollowed("the conversation as an argument")
        if isinstance(__obj, type) and __obj.__name__.lower() in _STATEFUL:
            raise Unfollowed(f"a {__obj.__name__}, which has a state")
        return super().call(__context, __obj, *args, **kwargs)


def _described(value: Any) -> Hashable:
    """A term for a value; what reads the conversation through a variable is counted by the loop's facts."""
    kind = type(value)
    if kind in _SCALARS:
        return term_of(value)
    # By its class: whether an object is an instance of another class, a namespace answers in Python.
    if issubclass(kind, jinja2.utils.Namespace):
        return "namespace", next(at for at, one in enumerate(RUN.get().namespaces) if one is value)
    if isinstance(value, Messages):
        return "messages", value.start
    if isinstance(value, (jinja2.runtime.Macro, _Loop)):
        return type(value).__name__, getattr(value, "name", "")
    if isinstance(value, jinja2.Undefined):
        return ("undefined",)
    if isinstance(value, (types.FunctionType, type)):
        return "function", id(value)  # the environment's, which last
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *map(_described, value))
    if isinstance(value, dict):
        return ("dict", *((term_of(key), _described(item)) for key, item in value.items()))
    return term_of(value)


_EQUAL = ("eq", "equalto", "==")
_SCALARS = frozenset([str, int, float, bool, type(None)])
_SHORT = {"lteq": "le", "gteq": "ge"}
_MIRRORED = {"eq": "eq", "lt": "gt", "gt": "lt", "lteq": "gteq", "gteq": "lteq"}


def _is_unknown(value: Any) -> bool:
    return isinstance(value, (Unknown, Messages))


def _filter(name: str, function: Callable[..., Any]) -> Any:
    @jinja2.pass_context
    def applied(context: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        run = RUN.get()
        if isinstance(value, Messages):
            if name == "list":
                return value
            if name == "first" and not given:
                return context.environment.getitem(value, 0)
            if name == "last" and not given:
                return context.environment.getitem(value, -1)
            if name in ("length", "count"):
                return value.length()
            if name in ("selectattr", "rejectattr") and len(given) == 3 and not kwargs:
                asked, test, role = given
                are_known = all(type(each) is str for each in given)
                if are_known and asked == "role" and test in _EQUAL:
                    return value.with_role(role, name == "selectattr")
        if _is_unknown(value) or any(map(_is_unknown, given)):
            run.tick()
            found = derived(run, ("filter", name, tuple(kwargs)), value, *given)
            # The number of items is no text.
            return Unknown(run, found.term, False) if name in ("length", "count") else found
        return function(context, value, *args, **kwargs)

    return applied


def _test(name: str, function: Callable[..., Any]) -> Any:
    @jinja2.pass_environment
    def applied(environment: AnyLength, value: Any, *args: Any) -> Any:
        if isinstance(value, Messages) and name in _OF_MESSAGES:
            return _OF_MESSAGES[name]
        if _is_unknown(value) or any(map(_is_unknown, args)):
            run = RUN.get()
            run.tick()
            if name == "undefined":
                return not run.unknown(("test", "defined", term_of(value)))
            if name in (*_EQUAL, "in") and len(args) == 1:
                return environment.compared("in" if name == "in" else "eq", value, args[0])
            return run.unknown(("test", name, term_of(value), *map(term_of, args)))
        return function(environment, value, *args)

    return applied


_OF_MESSAGES = {
    **dict.fromkeys(["defined", "iterable", "sequence"], True),
    **dict.fromkeys(["undefined", "none", "string", "mapping", "number"], False),
}
