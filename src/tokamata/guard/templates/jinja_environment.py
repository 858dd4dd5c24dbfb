"""The environment in which a template is run with unknown texts: transformers' own, with operations replaced.

jinja2 compiles the template, so that scopes, loops and macros are its own.  The generated code differs in one
respect: each operation on values, those of Python's operators included, calls a method of the environment.
The method follows the operation where a value is unknown, and bounds it where values are known.  jinja2 and
transformers bound ``range`` alone: ``'a' * 10**10``, ``'%9999999999d' % 1``, ``x|center(10**10)`` (computed
when the template is compiled, if it is a constant), lists that double and calls without end are admitted by
both.

What transformers adds to jinja2, by its ``chat_template_utils``: blocks are trimmed; loops have ``break`` and
``continue``; ``{% generation %}`` marks what the assistant writes and changes nothing; ``tojson`` is
``json.dumps`` and escapes no HTML; ``raise_exception``, ``strftime_now``, and a ``dict`` and ``namespace``
without access to Python's own names.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

import jinja2
import jinja2.ext
import jinja2.runtime
import jinja2.sandbox
import jinja2.utils
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from markupsafe import Markup

from tokamata.guard.templates.decisions import (
    MOST_DEPTH,
    MOST_ITEMS,
    MOST_LENGTH,
    MOST_NUMBER,
    OverBudget,
    Run,
    Unfollowed,
)
from tokamata.guard.templates.jinja_filters import FOLLOWED_FILTERS, KNOWN_FILTERS, followed_test, weigh
from tokamata.guard.templates.jinja_formats import formatted, formatted_by_percent
from tokamata.guard.templates.pieces import Slot, Source
from tokamata.guard.templates.steps import Step
from tokamata.guard.templates.texts import (
    Count,
    JsonObject,
    Method,
    Parts,
    Raises,
    Symbolic,
    Text,
    joined,
    step_on,
    symbols_in,
)

__all__ = ["RUN", "Environment", "FollowingCode", "TemplateRefuses"]

RUN: ContextVar[Run] = ContextVar("run")

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "lteq": operator.le,
    "gt": operator.gt,
    "gteq": operator.ge,
    "in": lambda left, right: left in right,
    "notin": lambda left, right: left not in right,
}
_OF_DICT = frozenset(dir(dict))
_KNOWN = frozenset([str, int, float, bool, list, tuple, dict])  # not None, which may stand for nothing
_PLAIN = (str, int, float, bool, type(None), list, tuple, dict, range)


class TemplateRefuses(jinja2.TemplateError):
    """What a template raises by ``raise_exception``."""


class _GenerationBlock(jinja2.ext.Extension):
    """``{% generation %}`` … ``{% endgeneration %}``."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Any) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_written"), [], [], body).set_lineno(line)

    def _written(self, caller: Callable[[], Any]) -> Any:
        return caller()


class _Namespace(jinja2.utils.Namespace):
    """A namespace that stores no names that begin with an underscore."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, args = args[0], args[1:]
        attributes = dict(*args, **kwargs)
        for name in attributes:
            _refuse_underscore(name)
        jinja2.utils.Namespace.__init__(self, attributes)
        RUN.get().namespaces.append(self)

    def __setitem__(self, name: str, value: Any) -> None:
        _refuse_underscore(name)
        jinja2.utils.Namespace.__setitem__(self, name, value)


def _refuse_underscore(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise Unfollowed(f"a namespace with the attribute {name!r}")


class _Dict:
    """The global ``dict``."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args, **kwargs)


def _raise_exception(message: Any) -> None:
    raise TemplateRefuses("a message that depends on a slot" if isinstance(message, Symbolic) else message)


def _strftime_now(pattern: Any) -> Text:
    if not isinstance(pattern, str):
        if isinstance(pattern, Symbolic):
            raise Unfollowed("a date whose format depends on a slot's text")
        raise Raises(TypeError("strftime() argument 1 must be str"))
    return Text(RUN.get(), (Slot(Source("date", -1, "", str(pattern))),))


class FollowingCode(CodeGenerator):
    """Code in which operations are calls of the environment."""

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        """A comparison: ``environment.compared``."""
        if len(node.ops) != 1:
            super().visit_Compare(node, frame)
            return
        (operand,) = node.ops
        self.write(f"environment.compared({operand.op!r}, ")
        self.visit(node.expr, frame)
        self.write(", ")
        self.visit(operand.expr, frame)
        self.write(")")

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        """``a ~ b``: ``environment.chained``."""
        self.write("environment.chained((")
        for one in node.nodes:
            self.visit(one, frame)
            self.write(", ")
        self.write("))")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        """A slice: ``environment.cut``."""
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("environment.cut(")
        self.visit(node.node, frame)
        for bound in (node.arg.start, node.arg.stop, node.arg.step):
            self.write(", ")
            if bound is None:
                self.write("None")
            else:
                self.visit(bound, frame)
        self.write(")")

    def _visit_container(self, visit: Callable[[Any, Frame], None], node: Any, frame: Frame) -> None:
        self.write("environment.made(")
        visit(node, frame)
        self.write(")")

    def visit_List(self, node: nodes.List, frame: Frame) -> None:
        """A list: ``environment.made``."""
        self._visit_container(super().visit_List, node, frame)

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:
        """A dictionary: ``environment.made``."""
        self._visit_container(super().visit_Dict, node, frame)

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:
        """A tuple that is read: ``environment.made``."""
        if node.ctx == "load":
            self._visit_container(super().visit_Tuple, node, frame)
        else:
            super().visit_Tuple(node, frame)

    def visit_For(self, node: nodes.For, frame: Frame) -> None:
        """A loop: ``environment.looped``, and ``environment.entered`` for each item.

        The tree is as it was afterwards: macros are asked later what they read.
        """
        items, body = node.iter, node.body
        looped = nodes.EnvironmentAttribute("looped")
        node.iter = nodes.Call(looped, [node.iter], [], None, None).set_lineno(node.lineno)
        if isinstance(node.target, nodes.Name):
            item = nodes.Name(node.target.name, "load")
            entered = nodes.Call(
                nodes.EnvironmentAttribute("entered"), [nodes.ContextReference(), item], [], None, None
            )
            node.body = [nodes.ExprStmt(entered).set_lineno(node.lineno), *body]
        super().visit_For(node, frame)
        node.iter, node.body = items, body

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        if isinstance(node, nodes.TemplateData):
            return super()._output_child_to_const(node, frame, finalize)
        raise nodes.Impossible

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write("environment.written(")

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write(")")


class Environment(jinja2.sandbox.ImmutableSandboxedEnvironment):
    """Operations on values, known or not, in the run of this context (:data:`RUN`)."""

    code_generator_class = FollowingCode
    intercepted_binops = frozenset(jinja2.sandbox.SandboxedEnvironment.default_binop_table)
    intercepted_unops = frozenset(jinja2.sandbox.SandboxedEnvironment.default_unop_table)

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_GenerationBlock, "jinja2.ext.loopcontrols"],
            optimized=False,
            cache_size=0,
        )
        for name, function in list(self.filters.items()):
            self.filters[name] = _filter(name, function)
        for name, function in list(self.tests.items()):
            self.tests[name] = _test(name, function)
        del self.globals["lipsum"]  # random
        self.globals.update(
            raise_exception=_raise_exception,
            strftime_now=_strftime_now,
            dict=_Dict(),
            namespace=_Namespace,
            lipsum=_lipsum,
        )

    def concat(self, parts: Iterable[str | Text]) -> Any:
        """The text of a block."""
        return joined(RUN.get(), parts)

    def written(self, value: Any) -> str | Text:
        """The text of a value that is put out."""
        run = RUN.get()
        run.tick()
        if isinstance(value, Text):
            return Text(run, value.pieces)  # str of a Markup is none
        if isinstance(value, JsonObject):
            return value.written(Step("str value"))
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, jinja2.Undefined):
            return str(value)
        if not isinstance(value, (*_PLAIN, Symbolic)):
            raise Unfollowed(f"the text of a {type(value).__name__}")
        if isinstance(value, int):
            run.admit(value.bit_length(), "a number", MOST_NUMBER)
        if isinstance(value, (list, tuple, dict)):
            return joined(run, _represented(value))
        try:
            text = str(value)
        except ValueError as error:  # a number of more than 4,300 digits
            raise Raises(error) from error
        run.admit(len(text))
        return text

    def chained(self, values: tuple[Any, ...]) -> str | Text:
        """``a ~ b``."""
        return joined(RUN.get(), [self.written(value) for value in values])

    def made(self, container: Any) -> Any:
        """A list, tuple or dictionary, if it is not too large."""
        weigh(RUN.get(), container)
        return container

    def looped(self, items: Any) -> Any:
        """What a loop goes through."""
        run = RUN.get()
        if isinstance(items, Parts):
            return items.listed()
        if isinstance(items, Symbolic):
            raise Unfollowed(f"a loop over {items.NOUN}")
        try:
            run.tick(1 + len(items))
        except TypeError:
            pass
        else:
            return items
        try:
            return _counted(run, iter(items))
        except TypeError as error:
            raise Raises(error) from error

    def entered(self, context: Any, item: Any) -> None:
        """The body of a loop begins with an item."""
        run = RUN.get()
        if run.trace is not None:
            run.trace.enter(item, context.vars, len(run.conditions))

    def unknown(self) -> bool:
        """A question whose answer is left open."""
        return RUN.get().unknown()

    def compared(self, name: str, left: Any, right: Any) -> bool:
        """A comparison by one operator."""
        run = RUN.get()
        run.tick(1 + sum(len(one) for one in (left, right) if isinstance(one, str)) // 1000)
        if name in ("in", "notin") and isinstance(left, Symbolic) and isinstance(right, str):
            if isinstance(left, Text):
                raise Unfollowed("the search for a slot's text in a literal")
            raise Unfollowed(f"a search for {left.NOUN}")
        try:
            return _COMPARISONS[name](left, right)
        except (TypeError, ValueError) as error:
            if isinstance(left, Symbolic) or isinstance(right, Symbolic):
                raise Unfollowed(f"a comparison: {error}") from error
            raise Raises(error) from error

    def cut(self, value: Any, start: Any, stop: Any, step: Any) -> Any:
        """``value[start:stop:step]``."""
        run = RUN.get()
        run.tick()
        bounds = (start, stop, step)
        if any(isinstance(bound, Symbolic) for bound in bounds):
            raise Unfollowed("a slice whose bounds depend on a slot's text")
        if isinstance(value, Text) and not value.is_html:
            if not all(bound is None or type(bound) is int for bound in bounds) or step == 0:
                raise Raises(TypeError("slice indices must be integers"))
            if step in (None, 1):
                return _cut_text(value, start, stop)
            return step_on(value, Step("slice", bounds))
        if isinstance(value, Symbolic):
            raise Unfollowed(f"a slice of {value.NOUN}")
        try:
            return value[start:stop:step]
        except (TypeError, ValueError, LookupError) as error:
            raise Raises(error) from error

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """``+``, ``-``, ``*``, ``/``, ``//``, ``%``, ``**``."""
        run = RUN.get()
        run.tick()
        if operator == "%" and isinstance(left, str):
            return formatted_by_percent(run, left, right)
        if isinstance(left, Symbolic) or isinstance(right, Symbolic):
            return _followed_binop(run, operator, left, right)
        _bound_operator(run, operator, left, right)
        try:
            result = super().call_binop(context, operator, left, right)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise Raises(error) from error
        weigh(run, result)
        return result

    def call_unop(self, context: Any, operator: str, arg: Any) -> Any:
        """``+`` and ``-``."""
        if isinstance(arg, Symbolic):
            raise Unfollowed(f"arithmetic of {arg.NOUN}")
        try:
            return super().call_unop(context, operator, arg)
        except TypeError as error:
            raise Raises(error) from error

    def getattr(self, obj: Any, attribute: str) -> Any:
        """``value.name``."""
        RUN.get().tick()
        kind = type(obj)
        # What jinja2 does with messages and namespaces, without its questions about other objects.
        if kind is dict and attribute not in _OF_DICT:
            return obj[attribute] if attribute in obj else self.undefined(obj=obj, name=attribute)
        if kind is _Namespace:
            found = jinja2.utils.Namespace.__getattribute__(obj, "_Namespace__attrs").get(attribute)
            if type(found) in _KNOWN or isinstance(found, Symbolic):
                return found
        if isinstance(obj, Symbolic):
            return self._attribute(obj, attribute)
        if isinstance(obj, str) and attribute in ("format", "format_map"):
            return _Format(self, str(obj), attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """``value[key]``."""
        RUN.get().tick()
        if isinstance(argument, Symbolic):
            if isinstance(obj, jinja2.Undefined):
                return obj[argument]
            raise Unfollowed(f"the lookup of {argument.NOUN}")
        if isinstance(obj, Parts) and type(argument) is int:
            part = obj.item(argument)
            return self.undefined(obj=[]) if part is None else part
        if isinstance(obj, Symbolic):
            if isinstance(argument, str):
                return self._attribute(obj, argument)
            if isinstance(obj, Text) and type(argument) is int and abs(argument) < MOST_NUMBER:
                if not obj.longer_than(argument if argument >= 0 else -argument - 1):
                    return self.undefined(obj="")
                if not obj.is_html:
                    return _cut_text(obj, argument, argument + 1 or None)
            raise Unfollowed(f"an item of {obj.NOUN}")
        if isinstance(obj, str) and argument in ("format", "format_map"):
            return _Format(self, str(obj), argument)
        trace = RUN.get().trace
        if trace is not None and isinstance(obj, list) and type(argument) is int and argument < 0:
            trace.note_negative(obj)
        return super().getitem(obj, argument)

    def _attribute(self, obj: Symbolic, name: str) -> Any:
        """What ``getattr`` finds in a value, or else a value without members."""
        if isinstance(obj, Text):
            if name.startswith("_") and hasattr(str, name):
                return self.unsafe_undefined("", name)
            if not hasattr(Markup if obj.is_html else str, name):
                return self.undefined(obj="", name=name)
            return Method(obj, name)
        if isinstance(obj, (Parts, Count)) and not hasattr(list if isinstance(obj, Parts) else int, name):
            return self.undefined(obj=[], name=name)
        raise Unfollowed(f"the member {name} of {obj.NOUN}")

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """A call of a macro, a method or a function."""
        run = RUN.get()
        run.tick()
        given = [
            *args,
            *(value for name, value in kwargs.items() if name not in ("_loop_vars", "_block_vars")),
        ]
        if getattr(__obj, "__self__", None) is __self or isinstance(__obj, (Method, _Format)):
            kwargs.pop("_loop_vars", None)
            kwargs.pop("_block_vars", None)
            return __obj(*args, **kwargs)
        if isinstance(__obj, Symbolic):
            if isinstance(__obj, (Text, JsonObject, Parts, Count)):
                raise Raises(TypeError(f"{type(__obj).__name__} is not callable"))
            raise Unfollowed(f"a call of {__obj.NOUN}")
        if isinstance(__obj, types.BuiltinMethodType):
            followed = _followed_builtin(run, __obj, given)
            if followed is not None:
                return followed
        if isinstance(__obj, jinja2.runtime.LoopContext):
            args = tuple(map(__self.looped, args))
        run.depth += 1
        if run.depth > MOST_DEPTH:
            raise OverBudget(f"it calls macros more than {MOST_DEPTH} deep")
        try:
            result = super().call(__context, __obj, *args, **kwargs)
        except (TypeError, ValueError, LookupError, OverflowError) as error:
            if any(True for value in given for _ in symbols_in(value, run)):
                raise
            raise Raises(error) from error
        finally:
            run.depth -= 1
        weigh(run, result)
        return result


def _represented(value: Any) -> Iterator[str | Text]:
    """``repr`` of a list, tuple or dictionary with unknown values."""
    if isinstance(value, Text):
        if value.is_html:
            raise Unfollowed("the representation of a text that |safe has marked")
        yield step_on(value, Step("repr"))
    elif isinstance(value, JsonObject):
        yield value.written(Step("str value"))
    elif type(value) in (list, tuple, dict):
        brackets = "[]" if isinstance(value, list) else "()" if isinstance(value, tuple) else "{}"
        yield brackets[0]
        for number, item in enumerate(value):
            yield ", " if number else ""
            yield from _represented(item)
            if isinstance(value, dict):
                yield ": "
                yield from _represented(value[item])
        yield (",)" if isinstance(value, tuple) and len(value) == 1 else brackets[1])
    elif value is None or type(value) in (str, int, float, bool):
        yield repr(value)
    else:
        raise Unfollowed(
            f"the text of a container with {getattr(value, 'NOUN', 'a ' + type(value).__name__)}"
        )


def _lipsum(*_: Any, **__: Any) -> None:
    raise Unfollowed("random text")


def _counted(run: Run, items: Iterator[Any]) -> Iterator[Any]:
    for item in items:
        run.tick()
        yield item


def _bound_operator(run: Run, name: str, left: Any, right: Any) -> None:
    """Refuses an operation with known values whose result is too large, before it is computed."""
    if name == "*":
        for one, count in ((left, right), (right, left)):
            if isinstance(one, (str, list, tuple)) and isinstance(count, int):
                most = MOST_LENGTH if isinstance(one, str) else MOST_ITEMS
                run.admit(len(one) * max(count, 0), "a text" if isinstance(one, str) else "a list", most)
    if isinstance(left, int) and isinstance(right, int):
        size, other = left.bit_length(), right.bit_length()
        if name == "**" and size > 1:
            run.admit(size * max(right, 0), "a number", MOST_NUMBER)
        run.admit(size + other, "a number", MOST_NUMBER)


def _followed_binop(run: Run, name: str, left: Any, right: Any) -> Any:
    texts = [one for one in (left, right) if isinstance(one, (str, Text))]
    if name == "+" and len(texts) == 2:
        is_html = [isinstance(one, Markup) or (isinstance(one, Text) and one.is_html) for one in texts]
        if any(is_html):
            texts = [one.escaped() if isinstance(one, Text) else Markup.escape(one) for one in texts]
            result = joined(run, texts)
            return Text(run, result.pieces, True) if isinstance(result, Text) else result
        return joined(run, texts)
    if name == "*" and len(texts) == 1:
        text, count = (left, right) if isinstance(left, Text) else (right, left)
        if isinstance(text, Text) and not text.is_html and isinstance(count, int) and count < MOST_NUMBER:
            return joined(run, [text] * count)
    for one, other in ((left, right), (right, left)):
        if isinstance(other, jinja2.Undefined):
            return other + ""  # raises what jinja2 raises
        if name == "+" and isinstance(one, (str, Text)) and isinstance(other, (*_PLAIN, Symbolic)):
            raise Raises(TypeError("only a text can be added to a text"))
    raise Unfollowed(f"the operator {name} with {(left if isinstance(left, Symbolic) else right).NOUN}")


def _cut_text(text: Text, start: int | None, stop: int | None) -> str | Text:
    """A slice; within a literal at its ends it is exact for the rest."""
    pieces, run = list(text.pieces), text.run
    first, last = pieces[0], pieces[-1]
    if (
        isinstance(first, str)
        and start is not None
        and 0 <= start <= len(first)
        and (stop is None or stop < 0)
    ):
        pieces[0], start = first[start:], None
    if (
        len(pieces) > 1
        and isinstance(last, str)
        and stop is not None
        and -len(last) <= stop < 0
        and start in (None, 0)
    ):
        pieces[-1], stop = last[:stop], None
    rest = joined(run, [one if isinstance(one, str) else Text(run, (one,)) for one in pieces])
    if start in (None, 0) and stop is None:
        return rest
    if isinstance(first, str) and start in (None, 0) and stop is not None and 0 <= stop <= len(first):
        return first[:stop]
    if rest is not text and not isinstance(rest, Text):
        return rest[start:stop]
    return step_on(rest, Step("slice", (start, stop, None)))


class _Format:
    """``str.format`` of a known text."""

    def __init__(self, environment: Environment, text: str, name: str) -> None:
        self.environment = environment
        self.text = text
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.name != "format":
            raise Unfollowed("the method format_map")
        return formatted(RUN.get(), self.environment, self.text, args, kwargs)


def _followed_builtin(run: Run, method: types.BuiltinMethodType, given: list[Any]) -> Any:
    """The result of a method of a known text with unknown arguments; ``None`` if Python is to compute it."""
    owner, name = method.__self__, method.__name__
    is_unknown = any(True for value in given for _ in symbols_in(value, run))
    if isinstance(owner, str):
        if name == "join" and len(given) == 1 and is_unknown and isinstance(given[0], (list, tuple)):
            if isinstance(owner, Markup):
                raise Unfollowed("the method join of a text that |safe has marked")
            items: list[str | Text] = []
            for item in given[0]:
                if not isinstance(item, (str, Text)):
                    raise (
                        Unfollowed("a join of other values than texts")
                        if isinstance(item, Symbolic)
                        else Raises(TypeError("sequence item: expected str instance"))
                    )
                items += [str(owner), item] if items else [item]
            return joined(run, items)
        if is_unknown:
            raise Unfollowed(f"the method {name} of a text with an argument that depends on a slot")
        _bound_method(run, owner, name, given)
    elif is_unknown and name not in ("get", "index", "count", "items", "keys", "values"):
        raise Unfollowed(f"the method {name} with an argument that depends on a slot")
    return None


def _bound_method(run: Run, owner: str, name: str, given: list[Any]) -> None:
    if any(isinstance(value, int) and abs(value) > MOST_NUMBER for value in given):
        raise OverBudget(f"it gives {name} a number beyond {MOST_NUMBER:,}")
    if name == "replace" and len(given) > 1 and isinstance(given[1], str):
        run.admit((len(owner) + 1) * (len(given[1]) + 1))
    if name == "join" and given and isinstance(given[0], (list, tuple, dict)):
        run.admit(sum(len(item) for item in given[0] if isinstance(item, str)) + len(owner) * len(given[0]))
    if name == "expandtabs":
        run.admit(len(owner) * 8 + sum(abs(value) * len(owner) for value in given if isinstance(value, int)))
    if name == "translate":
        raise Unfollowed("the method translate")
    if name == "encode":
        raise Unfollowed("bytes")


def _filter(name: str, function: Any) -> Any:
    @jinja2.pass_context
    def applied(context: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        run = RUN.get()
        run.tick()
        followed = FOLLOWED_FILTERS.get(name)
        given = [*args, *kwargs.values()]
        if followed is not None:
            result = followed(run, context, value, args, kwargs)
            if result is not NotImplemented:
                return result
        if isinstance(value, Symbolic) or any(True for one in given for _ in symbols_in(one, run)):
            noun = value.NOUN if isinstance(value, Symbolic) else "an argument that depends on a slot"
            raise Unfollowed(f"the filter {name} of {noun}")
        is_unknown = isinstance(value, types.GeneratorType) or any(True for _ in symbols_in(value, run))
        kind = KNOWN_FILTERS.get(name)
        if kind is None or (is_unknown and kind != "containers"):
            raise Unfollowed(f"the filter {name}" + (" of a container with slots" if is_unknown else ""))
        if any(isinstance(one, int) and abs(one) > MOST_NUMBER for one in given):
            raise OverBudget(f"it gives the filter {name} a number beyond {MOST_NUMBER:,}")
        if name == "replace" and len(given) > 1:
            run.admit((len(str(value)) + 1) * (len(str(given[1])) + 1))
        if name == "indent" and isinstance(value, str):
            width = next((len(one) if isinstance(one, str) else one for one in given if one), 4)
            run.admit(len(value) + (value.count("\n") + 1) * (width if isinstance(width, int) else 0))
        if (
            name == "join"
            and not isinstance(value, types.GeneratorType)
            and isinstance(value, (list, tuple, dict))
        ):
            run.admit(sum(len(one) for one in value if isinstance(one, str)))
        passed = jinja2.utils._PassArg.from_obj(function)
        first: tuple[Any, ...] = ()
        if passed is not None:
            first = {"context": (context,), "eval_context": (context.eval_ctx,)}.get(
                passed.name, (context.environment,)
            )
        try:
            result = function(*first, value, *args, **kwargs)
        except jinja2.TemplateError:
            raise
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            if is_unknown:
                raise Unfollowed(f"the filter {name} of a container with slots") from error
            raise Raises(error) from error
        weigh(run, result)
        return result

    return applied


def _test(name: str, function: Any) -> Any:
    passed = jinja2.utils._PassArg.from_obj(function)

    @jinja2.pass_environment
    def applied(environment: Environment, value: Any, *args: Any) -> Any:
        run = RUN.get()
        run.tick()
        if name == "in" and len(args) == 1:
            return environment.compared("in", value, args[0])
        if isinstance(value, Symbolic):
            return followed_test(name, function, value, args)
        if any(isinstance(one, Symbolic) for one in args) and function not in (operator.eq, operator.ne):
            raise Unfollowed(f"the test {name} with an argument that depends on a slot")
        first = (environment,) if passed is jinja2.utils._PassArg.environment else ()
        try:
            return function(*first, value, *args)
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            raise Raises(error) from error

    return applied
