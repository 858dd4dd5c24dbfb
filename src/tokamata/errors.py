"""Every error that tokamata raises on purpose.

An error states facts first, as attributes; its message is derived from them and ends with
what to do next.  All of them derive from :class:`TokamataError`, and from the built-in
exception that a caller would otherwise expect (``ValueError``, ``IndexError``, ...).
"""

from __future__ import annotations

# How deep operators and regular expressions may nest at all, whatever the caller's limit is: the engine's
# Expression::kMaximumDepth, which keeps recursion within the stack.
MOST_DEPTH = 2000


class TokamataError(Exception):
    """Base of all errors that tokamata raises on purpose."""


class ArgumentError(TokamataError, TypeError, ValueError):
    """An argument that a call does not take, of the wrong type or with a value that it does not know.

    It is a ``TypeError`` and a ``ValueError``: callers expect either, and whether ``limits=5`` is of the
    wrong type or of the wrong value is nothing to ask of them.

    Attributes:
        argument: its name.
        found: what was given, shortened.
        expected: what it takes.
        hint: what to do about it, or ``""``.
    """

    def __init__(self, argument: str, found: str, expected: str, hint: str = "") -> None:
        super().__init__(argument, found, expected, hint)
        self.argument = argument
        self.found = found
        self.expected = expected
        self.hint = hint

    def __str__(self) -> str:
        message = f"{self.argument} must be {self.expected}, not {self.found}"
        return f"{message}; {self.hint}" if self.hint else message


class PatternError(TokamataError, ValueError):
    """A pattern that cannot become a constraint.

    Attributes:
        pattern: the pattern as it was given.
        position: offset into ``pattern``, in code points, of the place that is at fault.
        reason: what is wrong there.
        hint: what to do about it, or ``""``.
    """

    def __init__(self, pattern: str, position: int, reason: str, hint: str = "") -> None:
        super().__init__(pattern, position, reason, hint)
        self.pattern = pattern
        self.position = position
        self.reason = reason
        self.hint = hint

    def __str__(self) -> str:
        message = f"{self.reason} at position {self.position}\n{caret(self.pattern, self.position)}"
        return f"{message}\n{self.hint}" if self.hint else message


class PatternSyntaxError(PatternError):
    """The pattern does not parse."""


class NotRegularError(PatternError):
    """The pattern uses what no regular language can say: a backreference, a conditional."""


class UnsupportedPatternError(PatternError):
    """The pattern says what is not about the texts it means, or what tokamata does not express."""


class UnknownPropertyError(TokamataError, KeyError):
    """A Unicode property, or a value of one, that does not exist.

    Attributes:
        reason: a sentence that says which are near.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason


class InstallationError(TokamataError, RuntimeError):
    """A file of this package that is not of this version of it."""


class SchemaError(TokamataError, ValueError):
    """What was given is not a JSON Schema: a keyword has a value that its draft does not allow.

    Attributes:
        pointer: JSON Pointer to the schema that is at fault, ``""`` for the root; in another document,
            that document's URI, ``#`` and the pointer.
        keyword: the keyword of it, or ``""`` where no keyword is at fault.
        found: what stands there, shortened.
        expected: what should.
    """

    def __init__(self, pointer: str, keyword: str, found: str, expected: str) -> None:
        super().__init__(pointer, keyword, found, expected)
        self.pointer = pointer
        self.keyword = keyword
        self.found = found
        self.expected = expected

    def __str__(self) -> str:
        what = f"the keyword {self.keyword!r:.80} is" if self.keyword else "there is"
        return f"{schema_place(self.pointer)}: {what} {self.found}; expected {self.expected}"


class UnsupportedSchemaError(TokamataError, ValueError):
    """A schema that says what tokamata cannot enforce exactly.

    Attributes:
        pointer: JSON Pointer to the schema that says it, as in :class:`SchemaError`.
        keyword: the keyword of it.
        reason: why it cannot be enforced.
    """

    def __init__(self, pointer: str, keyword: str, reason: str) -> None:
        super().__init__(pointer, keyword, reason)
        self.pointer = pointer
        self.keyword = keyword
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"{schema_place(self.pointer)}: the keyword {self.keyword!r:.80} cannot be enforced: "
            f"{self.reason}\nchange it, or pass strict=False, which leaves out what cannot be enforced "
            "and says so in the report"
        )


class UnsupportedTypeError(TokamataError, TypeError):
    """A Python type whose values cannot be enforced exactly.

    Attributes:
        type_name: the type.
        place: where it was found: the names of classes and fields that lead to it, or ``""``.
        reason: why not.
    """

    def __init__(self, type_name: str, place: str, reason: str) -> None:
        super().__init__(type_name, place, reason)
        self.type_name = type_name
        self.place = place
        self.reason = reason

    def __str__(self) -> str:
        where = f", found at {self.place}," if self.place else ""
        return f"the type {self.type_name}{where} cannot be written: {self.reason}"


class ParseError(TokamataError, ValueError):
    """A text that stands for no value of the constraint it is parsed by.

    Attributes:
        place: where in it: a JSON Pointer, a line and a column, or ``""`` for the whole.
        reason: what is wrong there.
    """

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(place, reason)
        self.place = place
        self.reason = reason

    def __str__(self) -> str:
        return f"at {self.place}: {self.reason}" if self.place else self.reason


class NoValuesError(TokamataError, TypeError):
    """A text that was written without a constraint was to be parsed."""

    def __init__(self) -> None:
        super().__init__("a text that was written without a constraint stands for no value; read its .text")


class EmptyConstraintError(TokamataError, ValueError):
    """A constraint that no text matches.

    Attributes:
        pointers: JSON Pointers to the schemas whose keywords contradict each other (``""`` is the root); none
            where it was not made from a schema, or where time was up before any were found.
    """

    def __init__(self, message: str, pointers: tuple[str, ...] = ()) -> None:
        super().__init__(message, pointers)
        self.message = message
        self.pointers = pointers

    def __str__(self) -> str:
        return self.message


class UnspellableError(TokamataError, ValueError):
    """A constraint that some text matches, but none that the vocabulary can spell."""


class AlgebraError(TokamataError, ValueError):
    """Constraints that cannot be combined in this way, or a question that cannot be asked of them."""


class VocabularyError(TokamataError, ValueError):
    """A tokenizer, or a file of one, that cannot be read as a vocabulary."""


class UnsupportedTokenizerError(TokamataError, ValueError):
    """A tokenizer whose canonical tokenization tokamata cannot follow; ``tokenization="any"`` takes it.

    Attributes:
        part: which part of its pipeline: ``"normalizer"``, ``"pre-tokenizer"``, ``"model"``, ``"decoder"``,
            ``"added tokens"``, or ``"pipeline"`` where there is none at all.
        reason: what it has that is not understood.
    """

    def __init__(self, part: str, reason: str) -> None:
        super().__init__(part, reason)
        self.part = part
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"canonical tokenization is not supported for this tokenizer's {self.part}: {self.reason}; "
            'compile with tokenization="any"'
        )


class NoncanonicalError(TokamataError, ValueError):
    """No sequence of tokens that is the tokenizer's own for its text leads to a text that matches.

    Attributes:
        pattern: what the constraint was made from.
        by_context: whether the tokens before the text stand in the way, rather than the pattern alone.
    """

    def __init__(self, pattern: str, by_context: bool) -> None:
        super().__init__(pattern, by_context)
        self.pattern = pattern
        self.by_context = by_context

    def __str__(self) -> str:
        if self.by_context:
            return (
                f"behind this context no canonical tokens lead to a text that {self.pattern!r:.200} "
                "matches: the tokenizer would cut the end of the context otherwise; heal it "
                "(generate(..., heal=True)), "
                'or leave out its last token, or compile with tokenization="any"'
            )
        return (
            f"every text that {self.pattern!r:.200} matches is changed by the tokenizer (by its normalizer, "
            "or by an added token within it), so that no canonical tokens spell one; change it, or compile "
            'with tokenization="any"'
        )


class ContextError(TokamataError, ValueError):
    """A context whose tokens are not what the tokenizer makes of any text.

    Attributes:
        position: the first token that cannot stand where it does.
    """

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position

    def __str__(self) -> str:
        return (
            f"the context is not canonical: its token {self.position} (from 0) differs from the one that the "
            'tokenizer writes there; encode the text again, or pass on_noncanonical="fresh"'
        )


class TokenIdError(TokamataError, IndexError):
    """A token id outside the width of the vocabulary."""


class MaskError(TokamataError, ValueError):
    """A mask, or logits, of the wrong dtype, length or memory layout."""


class NoStopTokenError(TokamataError, ValueError):
    """Generation was requested with a vocabulary that names no stop token."""


class RollbackError(TokamataError, ValueError):
    """A rollback past the start of the text."""


class GenerationError(TokamataError, RuntimeError):
    """A model whose logits leave no allowed token to choose."""


class MissingExtraError(TokamataError, ImportError):
    """An optional package that this call needs is not installed.

    Attributes:
        package: which.
        extra: the extra of tokamata that installs it, or ``""`` where another package asks for it.
    """

    def __init__(self, package: str, extra: str, purpose: str, advice: str = "") -> None:
        advice = advice or f"install it with: pip install 'tokamata[{extra}]'"
        super().__init__(f"{purpose} needs the package {package!r}, which is not installed; {advice}")
        self.package = package
        self.extra = extra


class BudgetError(TokamataError, ValueError):
    """A budget of tokens in which no accepted text can be finished.

    Attributes:
        budget: the tokens that were left.
        needed: the least number of tokens that suffice, or ``None`` where the budget is none at all (0 or
            less) and nothing was searched.
    """

    def __init__(self, budget: int, needed: int | None = None) -> None:
        super().__init__(budget, needed)
        self.budget = budget
        self.needed = needed

    def __str__(self) -> str:
        if self.needed is None:
            return f"a budget is a whole number of tokens, at least 1, not {self.budget}"
        advice = f"pass a budget of at least {self.needed}"
        tokens = "token" if self.budget == 1 else "tokens"
        return f"no accepted text can be finished in {self.budget} {tokens}; {advice}"


class LimitExceeded(TokamataError, RuntimeError):
    """Work stopped because it passed one of the caller's :class:`tokamata.Limits`, or a bound that is fixed.

    What the call was made on is unchanged and usable.

    Attributes:
        limit: the field of ``Limits`` that was passed: ``"states"``, ``"memory_bytes"``,
            ``"seconds"`` or ``"depth"``.
        bound: its value.
        pattern: the pattern under way, or ``None`` where it has no text.
        position: offset into ``pattern`` of the part that grew, or ``None``.
        is_fixed: whether the bound is one that no ``Limits`` raise.
    """

    def __init__(
        self,
        limit: str,
        bound: float,
        pattern: str | None = None,
        position: int | None = None,
        is_fixed: bool = False,
    ) -> None:
        is_fixed = is_fixed or (limit == "depth" and bound == MOST_DEPTH)
        super().__init__(limit, bound, pattern, position, is_fixed)
        self.limit = limit
        self.bound = bound
        self.pattern = pattern
        self.position = position
        self.is_fixed = is_fixed

    def __str__(self) -> str:
        message = f"the limit {self.limit}={self.bound:.12g} was exceeded"
        if self.pattern is not None and self.position is not None:
            message += f", mostly by the part of the pattern at position {self.position}\n"
            message += caret(self.pattern, self.position)
        if self.is_fixed:
            return message + "\nsimplify the pattern: this bound is the same for all Limits"
        return message + "\nsimplify the pattern, or pass a larger tokamata.Limits"


class Cancelled(TokamataError, RuntimeError):
    """Work stopped because its :class:`tokamata.CancelToken` was cancelled.

    What the call was made on is unchanged and usable.
    """


class UnknownTokenError(VocabularyError, KeyError):
    """A control token that the vocabulary does not have.

    Attributes:
        name: the requested name.
        close: names of control tokens that look like it.
    """

    def __init__(self, name: str, reason: str, close: tuple[str, ...] = ()) -> None:
        super().__init__(name, reason, close)
        self.name = name
        self.reason = reason
        self.close = close

    def __str__(self) -> str:
        hint = f"; did you mean {', '.join(self.close)}?" if self.close else ""
        return f"no control token {self.name!r:.100}: {self.reason}{hint}"


class MachineError(TokamataError, ValueError):
    """An explicit machine that cannot be: a state, a symbol or a table that contradicts the rest."""


class MachineFileError(MachineError):
    """Text in OpenFst's form that cannot be read.

    Attributes:
        line: the number of the line, from 1.
        found: what stands there, shortened.
        expected: what should.
    """

    def __init__(self, line: int, found: str, expected: str) -> None:
        found = found if len(found) <= 60 else found[:59] + "…"
        super().__init__(line, found, expected)
        self.line = line
        self.found = found
        self.expected = expected

    def __str__(self) -> str:
        return f"line {self.line} of the OpenFst text is {self.found!r}; expected {self.expected}"


def shown_argument(value: object) -> str:
    """What was given for an argument, as a message shows it: short values themselves, else their type."""
    if value is None or isinstance(value, (bool, float, str, bytes)):
        return f"{value!r:.80}"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**30 else f"an int of {value.bit_length():,} bits"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return type(value).__name__


def schema_place(pointer: str) -> str:
    """How a message names the schema at a JSON Pointer."""
    shown = pointer if len(pointer) <= 200 else f"{pointer[:99]}…{pointer[-100:]}"
    return f"in the schema at {shown}" if pointer else "in the schema at its root"


def caret(text: str, position: int, width: int = 72) -> str:
    """Two lines: the part of ``text`` around ``position``, and a caret under it.

    Control characters are shown as one-column pictures, so that the caret stands where it should.
    """
    start = max(0, min(position - width // 2, len(text) - width))
    shown = text[start : start + width]
    before = "…" if start else ""
    after = "…" if start + width < len(text) else ""
    line = "".join(chr(0x2400 + ord(c)) if ord(c) < 0x20 else c if c.isprintable() else "?" for c in shown)
    return f"    {before}{line}{after}\n    {' ' * (len(before) + position - start)}^"
