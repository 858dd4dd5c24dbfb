"""Every error that tokamata raises on purpose.

An error has its facts as attributes; the message is derived from them and ends with the next
step.  All errors derive from :class:`TokamataError`, and from the built-in exception that a
caller would otherwise expect (``ValueError``, ``IndexError``, ...).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

# The deepest nesting of operators and regular expressions, whatever the caller's limit: the engine's
# Expression::kMaximumDepth, which keeps recursion within the stack.
MOST_DEPTH = 2000


class TokamataError(Exception):
    """Base of all errors that tokamata raises on purpose.

    Attributes:
        item: in a call with several prompts, constraints or options, the one that the error is about, such as
            ``"constraint 7"``, counted from 0; otherwise ``""``.
    """

    item: str = ""

    def __str__(self) -> str:
        return f"{self.item}: {self._message()}" if self.item else self._message()

    def _message(self) -> str:
        """The message, made from the attributes."""
        return super().__str__()


@contextmanager
def about(item: str) -> Iterator[None]:
    """Errors raised within name the item of a batch; with ``""`` they do not."""
    try:
        yield
    except TokamataError as error:
        error.item = error.item or item
        raise


class ArgumentError(TokamataError, TypeError, ValueError):
    """An argument of the wrong type or with a wrong value.

    It is both a ``TypeError`` and a ``ValueError``: callers expect either, and need not know which of them
    ``limits=5`` is.

    Attributes:
        argument: the name of the argument.
        found: its value, shortened.
        expected: the values that it may have.
        hint: what to do about it, or ``""``.
    """

    def __init__(self, argument: str, found: str, expected: str, hint: str = "") -> None:
        super().__init__(argument, found, expected, hint)
        self.argument = argument
        self.found = found
        self.expected = expected
        self.hint = hint

    def _message(self) -> str:
        message = f"{self.argument} must be {self.expected}, not {self.found}"
        return f"{message}; {self.hint}" if self.hint else message


class PatternError(TokamataError, ValueError):
    """A pattern that cannot become a constraint.

    Attributes:
        pattern: the pattern as it was given.
        position: offset of the fault in ``pattern``, in code points.
        reason: what is wrong there.
        hint: what to do about it, or ``""``.
    """

    def __init__(self, pattern: str, position: int, reason: str, hint: str = "") -> None:
        super().__init__(pattern, position, reason, hint)
        self.pattern = pattern
        self.position = position
        self.reason = reason
        self.hint = hint

    def _message(self) -> str:
        message = f"{self.reason} at position {self.position}\n{caret(self.pattern, self.position)}"
        return f"{message}\n{self.hint}" if self.hint else message


class PatternSyntaxError(PatternError):
    """The pattern does not parse."""


class NotRegularError(PatternError):
    """The pattern uses a construct that is not regular: a backreference, a conditional."""


class UnsupportedPatternError(PatternError):
    """The pattern uses a construct that tokamata does not support, or one that does not concern texts."""


class UnknownPropertyError(TokamataError, KeyError):
    """A Unicode property, or a value of one, that does not exist.

    Attributes:
        reason: a sentence with similar names.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def _message(self) -> str:
        return self.reason


class InstallationError(TokamataError, RuntimeError):
    """A file of this package belongs to another version of it."""


class SchemaError(TokamataError, ValueError):
    """An invalid JSON Schema: a keyword has a value that its draft does not allow.

    Attributes:
        pointer: JSON Pointer to the schema that is at fault, ``""`` for the root; in another document,
            that document's URI, ``#`` and the pointer.
        keyword: the keyword that is at fault, or ``""`` if the schema itself is.
        found: the value there, shortened.
        expected: the values that it may have.
    """

    def __init__(self, pointer: str, keyword: str, found: str, expected: str) -> None:
        super().__init__(pointer, keyword, found, expected)
        self.pointer = pointer
        self.keyword = keyword
        self.found = found
        self.expected = expected

    def _message(self) -> str:
        what = f"the keyword {self.keyword!r:.80} is" if self.keyword else "there is"
        return f"{_schema_location(self.pointer)}: {what} {self.found}; expected {self.expected}"


class UnsupportedSchemaError(TokamataError, ValueError):
    """A schema with a keyword that tokamata cannot enforce exactly.

    Attributes:
        pointer: JSON Pointer to the schema with the keyword, as in :class:`SchemaError`.
        keyword: the keyword.
        reason: why it cannot be enforced.
    """

    def __init__(self, pointer: str, keyword: str, reason: str) -> None:
        super().__init__(pointer, keyword, reason)
        self.pointer = pointer
        self.keyword = keyword
        self.reason = reason

    def _message(self) -> str:
        return (
            f"{_schema_location(self.pointer)}: the keyword {self.keyword!r:.80} cannot be enforced: "
            f"{self.reason}\nchange it, or pass strict=False, which leaves out what cannot be enforced "
            "and lists it in the report"
        )


class SchemaWarning(TokamataError, UserWarning):
    """A keyword of a JSON Schema that says nothing, where something was meant; a warning, not an error.

    Attributes:
        pointer: JSON Pointer to the first schema that has it, as in :class:`SchemaError`.
        keyword: the keyword.
        near: what was probably meant: a keyword, or a format; ``""`` if that is not known.
        reason: why it says nothing, and what to write.
        count: in how many schemas it stands.
    """

    def __init__(self, pointer: str, keyword: str, near: str, reason: str, count: int = 1) -> None:
        super().__init__(pointer, keyword, near, reason, count)
        self.pointer = pointer
        self.keyword = keyword
        self.near = near
        self.reason = reason
        self.count = count

    def _message(self) -> str:
        more = f" (and in {self.count - 1:,} more)" if self.count > 1 else ""
        return f"{_schema_location(self.pointer)}{more}: {self.reason}"


class GrammarError(TokamataError, ValueError):
    """A grammar that cannot become a constraint.

    Attributes:
        grammar: the text of the file.
        position: offset of the fault in ``grammar``, in code points.
        line: number of the line of the fault, from 1.
        column: column of the fault, from 1.
        reason: what is wrong there.
        hint: what to do about it, or ``""``.
    """

    def __init__(self, grammar: str, position: int, reason: str, hint: str = "") -> None:
        super().__init__(grammar, position, reason, hint)
        self.grammar = grammar
        self.position = position
        self.line = grammar.count("\n", 0, position) + 1
        self.column = position - (grammar.rfind("\n", 0, position) + 1) + 1
        self.reason = reason
        self.hint = hint

    def _message(self) -> str:
        end = self.grammar.find("\n", self.position)
        line = self.grammar[self.position - self.column + 1 : end if end >= 0 else len(self.grammar)]
        message = f"{self.reason}, at line {self.line}, column {self.column}\n{caret(line, self.column - 1)}"
        return f"{message}\n{self.hint}" if self.hint else message


class TemplateError(TokamataError, ValueError):
    """A chat template that cannot be read, or that takes too much time or memory.

    Attributes:
        line: the line of the template, from 1; 0 if it is about the template as a whole.
        reason: what is wrong there.
        hint: what to do about it.
    """

    def __init__(self, line: int, reason: str, hint: str) -> None:
        super().__init__(line, reason, hint)
        self.line = line
        self.reason = reason
        self.hint = hint

    def _message(self) -> str:
        where = f"line {self.line} of the chat template" if self.line else "the chat template"
        return f"{where}: {self.reason}; {self.hint}"


class SeamError(TokamataError, ValueError):
    """Parts of a template that cannot be encoded one by one, or of which that is not known.

    Attributes:
        parts: the stretch between two control tokens: literal texts, and slots as they are shown.
        verdict: a :class:`tokamata.guard.Verdict`, with a witness if there is one.
    """

    def __init__(self, parts: tuple[str, ...], verdict: Any) -> None:
        super().__init__(parts, verdict)
        self.parts = parts
        self.verdict = verdict

    def _message(self) -> str:
        stretch = ", ".join(f"{part!r:.60}" for part in self.parts)
        if self.verdict.witness is None:
            return (
                f"it is not settled whether the parts {stretch} can be encoded apart: {self.verdict.reason}"
            )
        return (
            f"the parts {stretch} cannot be encoded apart: with the text {self.verdict.witness.text!r:.80}, "
            f"{self.verdict.witness.says}; give the slot a constraint without such texts"
        )


class UnsupportedTypeError(TokamataError, TypeError):
    """A Python type whose values cannot be described exactly.

    Attributes:
        type_name: the type.
        place: where it was found: the names of classes and fields that lead to it, or ``""``.
        reason: why it is not supported.
    """

    def __init__(self, type_name: str, place: str, reason: str) -> None:
        super().__init__(type_name, place, reason)
        self.type_name = type_name
        self.place = place
        self.reason = reason

    def _message(self) -> str:
        where = f", found at {self.place}," if self.place else ""
        return f"the type {self.type_name}{where} cannot be written: {self.reason}"


class ParseError(TokamataError, ValueError):
    """A text that the constraint does not accept, or whose value cannot be made.

    Attributes:
        place: the location in the text: a byte, a JSON Pointer, a line and a column, or ``""`` for the whole.
        reason: what is wrong there.
    """

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(place, reason)
        self.place = place
        self.reason = reason

    def _message(self) -> str:
        return f"at {self.place}: {self.reason}" if self.place else self.reason


class NoValuesError(TokamataError, TypeError):
    """The value of a text that was generated without a constraint was requested."""

    def __init__(self) -> None:
        super().__init__()

    def _message(self) -> str:
        return "a text that was generated without a constraint has no value; read its .text"


class EmptyConstraintError(TokamataError, ValueError):
    """A constraint that no text matches.

    Attributes:
        pointers: JSON Pointers to the schemas whose keywords contradict each other (``""`` is the root);
            empty if the constraint was not made from a schema, or if the search for them ran out of time.
    """

    def __init__(self, message: str, pointers: tuple[str, ...] = ()) -> None:
        super().__init__(message, pointers)
        self.message = message
        self.pointers = pointers

    def _message(self) -> str:
        return self.message


class UnspellableError(TokamataError, ValueError):
    """A constraint with texts, none of which the vocabulary can spell."""


class AlgebraError(TokamataError, ValueError):
    """An operation or a question that these constraints do not support."""


class VocabularyError(TokamataError, ValueError):
    """A tokenizer, or a file of one, that cannot be read as a vocabulary."""


class VocabularyWarning(TokamataError, UserWarning):
    """A vocabulary without stop tokens, or one that seems to be of another model; a warning, not an error."""


class UnigramModelError(VocabularyError):
    """A Unigram model that contradicts itself, or with which the host's program has no defined result.

    Attributes:
        piece: the id of the piece at fault, or ``None``.
        reason: what is wrong.
        hint: what to do about it.
    """

    def __init__(self, piece: int | None, reason: str, hint: str) -> None:
        super().__init__(piece, reason, hint)
        self.piece = piece
        self.reason = reason
        self.hint = hint

    def _message(self) -> str:
        where = "" if self.piece is None else f"piece {self.piece}: "
        return f"{where}{self.reason}; {self.hint}"


class OverlappingSpansError(TokamataError, ValueError):
    """Two protected spans of a text overlap, so that no segmentation keeps both whole.

    Attributes:
        first, second: the two spans, each with its start and its end in code points.
    """

    def __init__(self, first: tuple[int, int], second: tuple[int, int]) -> None:
        super().__init__(first, second)
        self.first = first
        self.second = second

    def _message(self) -> str:
        return (
            f"the spans {self.first} and {self.second} overlap; leave one out, or pass "
            'overlaps="leftmost", which keeps the first'
        )


class UnsupportedTokenizerError(TokamataError, ValueError):
    """A tokenizer whose canonical tokenization is not supported; ``tokenization="any"`` supports it.

    Attributes:
        part: the part of its pipeline: ``"normalizer"``, ``"pre-tokenizer"``, ``"model"``, ``"decoder"``,
            ``"added tokens"``, or ``"pipeline"`` if the tokenizer has no pipeline.
        reason: why the part is not supported.
    """

    def __init__(self, part: str, reason: str) -> None:
        super().__init__(part, reason)
        self.part = part
        self.reason = reason

    def _message(self) -> str:
        return (
            f"canonical tokenization is not supported for this tokenizer's {self.part}: {self.reason}; "
            'compile with tokenization="any"'
        )


class TokenizerMismatchError(TokamataError, ValueError):
    """A tokenizer's program writes other tokens for a text than tokamata's tables of it.

    Canonical masks would then be wrong, so they are refused; ``tokenization="any"`` does not need the tables.

    Attributes:
        program: the package that runs, with its version.
        text: the text.
        position: the index of the first token that differs; ``None`` if the program returns no tokens.
        ours: the tokens by the tables; ``None`` if by these no tokens spell the text.
        theirs: the tokens that the program writes; ``None`` if it returns none.
        reason: what differs, in words.
    """

    def __init__(
        self,
        program: str,
        text: str,
        position: int | None,
        ours: tuple[int, ...] | None,
        theirs: tuple[int, ...] | None,
        reason: str,
    ) -> None:
        super().__init__(program, text, position, ours, theirs, reason)
        self.program = program
        self.text = text
        self.position = position
        self.ours = ours
        self.theirs = theirs
        self.reason = reason

    def _message(self) -> str:
        shown = repr(self.text) if len(self.text) <= 80 else f"{self.text[:79]!r}…"
        return (
            f"{self.program} does not write the tokens for {shown} that tokamata computes: {self.reason}; "
            'load the vocabulary again if the tokenizer was changed; compile with tokenization="any", which '
            "does not depend on this; or take the policy that guard.plan gives"
        )


class TokenizerMismatchWarning(TokamataError, UserWarning):
    """A tokenizer failed its self-test, and a weaker policy was chosen; a warning, not an error.

    Attributes:
        program: the package that runs, with its version.
        reason: what differs, in words.
        policy: what is done in place of refusing.
    """

    def __init__(self, program: str, reason: str, policy: str) -> None:
        super().__init__(program, reason, policy)
        self.program = program
        self.reason = reason
        self.policy = policy

    def _message(self) -> str:
        return f"{self.program} fails its self-test, so {self.policy}: {self.reason}"


class NoncanonicalError(TokamataError, ValueError):
    """No canonical token sequence spells a text that matches.

    Attributes:
        pattern: the pattern of the constraint.
        by_context: whether the context is the cause; otherwise, the pattern alone is.
    """

    def __init__(self, pattern: str, by_context: bool) -> None:
        super().__init__(pattern, by_context)
        self.pattern = pattern
        self.by_context = by_context

    def _message(self) -> str:
        if self.by_context:
            return (
                f"after this context no canonical tokens lead to a text that {self.pattern!r:.200} "
                "matches: the tokenizer would cut the end of the context differently; heal it "
                "(generate(..., heal=True)), "
                'or leave out its last token, or compile with tokenization="any"'
            )
        return (
            f"every text that {self.pattern!r:.200} matches is changed by the tokenizer (by its normalizer, "
            "or by an added token within it), so no canonical tokens spell one; change the pattern, or "
            'compile with tokenization="any"'
        )


class ContextError(TokamataError, ValueError):
    """A context whose tokens the tokenizer does not produce for any text.

    Attributes:
        position: the index of the first token that is not canonical.
    """

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position

    def _message(self) -> str:
        return (
            f"the context is not canonical: the tokenizer does not write token {self.position} (from 0) "
            'there; encode the text again, or pass on_noncanonical="fresh"'
        )


class TokenIdError(TokamataError, IndexError):
    """A token id outside the width of the vocabulary."""


class MaskError(TokamataError, ValueError):
    """A mask, or logits, of the wrong dtype, length or memory layout."""


class NoStopTokenError(TokamataError, ValueError):
    """A vocabulary for generation names no stop token."""


class RollbackError(TokamataError, ValueError):
    """A rollback past the start of the text."""


class GenerationError(TokamataError, RuntimeError):
    """A model whose logits leave no allowed token to choose."""


class NoTokenError(GenerationError):
    """No token is left that the model may write, and the call has no policy.

    Attributes:
        cause: ``"banned"`` or ``"logits"``; see :class:`tokamata.Abstention`.
        reason: the same as a sentence.
        where: the byte of the text at which it could not go on.
        partial: the text so far.
    """

    def __init__(self, cause: str, reason: str, where: int, partial: str) -> None:
        super().__init__(cause, reason, where, partial)
        self.cause, self.reason, self.where, self.partial = cause, reason, where, partial

    def _message(self) -> str:
        return (
            f"after {self.partial[-40:]!r}, at byte {self.where} of the text, {self.reason}; pass "
            "policy=tokamata.Policy() to go on by bytes, to repair or to abstain"
        )


class RefusedError(GenerationError):
    """A validator refuses the finished text, and the call has no policy.

    Attributes:
        reason: what the validator says.
        generation: the :class:`tokamata.Generation` that it refuses.
    """

    def __init__(self, reason: str, generation: Any) -> None:
        super().__init__(reason, generation)
        self.reason, self.generation = reason, generation

    def _message(self) -> str:
        return (
            f"a validator refuses the text {self.generation.text[:80]!r}: {self.reason}; pass "
            "policy=tokamata.Policy() to repair it or to abstain, or call again with the reason in the prompt"
        )


class SamplingStopped(TokamataError, RuntimeError):
    """:func:`tokamata.sample` ended before it had all samples; those that it has are kept.

    Where another error ended it, that is the ``__cause__``.

    Attributes:
        reason: why, in words.
        advice: what to do.
        samples: the :class:`tokamata.Samples` so far.  A bound on forward passes ends long texts more often
            than short ones, so a short list of samples has too many short texts; of ``method="smc"`` these
            are the texts that had ended by then, which are short ones.
    """

    def __init__(self, reason: str, advice: str, samples: Any) -> None:
        super().__init__(reason, advice, samples)
        self.reason = reason
        self.advice = advice
        self.samples = samples

    def _message(self) -> str:
        return f"{self.reason} after {len(self.samples)} samples, which are in .samples; {self.advice}"


class MissingExtraError(TokamataError, ImportError):
    """An optional package that this call needs is not installed.

    Attributes:
        package: its name.
        extra: the extra of tokamata that installs it, or ``""`` if another package needs it.
    """

    def __init__(self, package: str, extra: str, purpose: str, advice: str = "") -> None:
        super().__init__(package, extra, purpose, advice)
        self.package = package
        self.extra = extra

    def _message(self) -> str:
        package, extra, purpose, advice = self.args
        advice = advice or f"install it with: pip install 'tokamata[{extra}]'"
        return f"{purpose} needs the package {package!r}, which is not installed; {advice}"


class PicklingError(TokamataError, TypeError):
    """An object that cannot be pickled or copied.

    Attributes:
        what: the object.
        advice: what to do in its place.
    """

    def __init__(self, what: str, advice: str) -> None:
        super().__init__(what, advice)
        self.what = what
        self.advice = advice

    def _message(self) -> str:
        return f"{self.what} cannot be pickled or copied; {self.advice}"


class CompiledFileError(TokamataError, ValueError):
    """A file of a compiled constraint that cannot be written, or that holds none for this vocabulary.

    Attributes:
        path: of the file.
        reason: what is wrong.
        advice: what to do.
    """

    def __init__(self, path: str, reason: str, advice: str) -> None:
        super().__init__(path, reason, advice)
        self.path = path
        self.reason = reason
        self.advice = advice

    def _message(self) -> str:
        return f"{self.path!r:.200}: {self.reason}; {self.advice}"


class BudgetError(TokamataError, ValueError):
    """A budget of tokens in which no accepted text can be finished.

    Attributes:
        budget: the tokens that were left.
        needed: the least number of tokens that suffice, or ``None`` if the budget is 0 or less and nothing
            was searched.
    """

    def __init__(self, budget: int, needed: int | None = None) -> None:
        super().__init__(budget, needed)
        self.budget = budget
        self.needed = needed

    def _message(self) -> str:
        if self.needed is None:
            return f"a budget is a whole number of tokens, at least 1, not {self.budget}"
        advice = f"pass a budget of at least {self.needed}"
        tokens = "token" if self.budget == 1 else "tokens"
        return f"no accepted text can be finished in {self.budget} {tokens}; {advice}"


class TooManyTextsError(TokamataError, ValueError):
    """A constraint with more texts than can be listed one by one.

    Attributes:
        pattern: the pattern, or a description of the constraint.
        texts: how many texts it has; -1 for infinitely many, ``None`` if they could not be counted.
        most: how many it may have.
        advice: what to do about it.
    """

    def __init__(self, pattern: str, texts: int | None, most: int, advice: str) -> None:
        super().__init__(pattern, texts, most, advice)
        self.pattern = pattern
        self.texts = texts
        self.most = most
        self.advice = advice

    def _message(self) -> str:
        if self.texts is None:
            count = f"more than {self.most:,} texts"
        elif self.texts < 0:
            count = "infinitely many texts"
        else:
            count = f"{shown_count(self.texts)} texts"
        return (
            f"{self.pattern[:200]!r} has {count}, and at most {self.most:,} can be listed one by one; "
            f"{self.advice}"
        )


class LengthError(TokamataError, ValueError):
    """No accepted text with as many tokens as ``min_tokens`` asks for was found.

    Attributes:
        pattern: the pattern, or a description of the constraint.
        min_tokens: the least number of tokens.
    """

    def __init__(self, pattern: str, min_tokens: int) -> None:
        super().__init__(pattern, min_tokens)
        self.pattern = pattern
        self.min_tokens = min_tokens

    def _message(self) -> str:
        return (
            f"no text of {self.min_tokens} tokens or more that {self.pattern[:200]!r} accepts was found; "
            "ask for fewer tokens, or for a constraint whose texts may be longer"
        )


class NoRepairError(TokamataError, ValueError):
    """No accepted text can be reached by as many edits as ``at_most`` admits, or none with ``strict``.

    Attributes:
        at_most: how many edits of each name there might be.
        lower_bound: no such repair costs less, and the search has ended there; ``None``: there is none at
            all.
    """

    def __init__(self, at_most: Mapping[str, int], lower_bound: int | None) -> None:
        super().__init__(at_most, lower_bound)
        self.at_most = at_most
        self.lower_bound = lower_bound

    def _message(self) -> str:
        message = f"no accepted text is reached with at_most={dict(self.at_most)!r}"
        if self.lower_bound is not None:
            message += f", or it costs at least {self.lower_bound:,}"
        return message + "; admit more edits of one of these names"


class RepairRefusedError(NoRepairError):
    """The nearest repair loses, invents or changes more content than ``strict`` admits.

    Attributes:
        repair: the repair that was refused, a :class:`tokamata.Repair`.
        exceeded: the bounds that it passes, by name: how much it has, and how much there may be.
        at_most: empty.
        lower_bound: no accepted text costs less.
    """

    def __init__(self, repair: Any, exceeded: Mapping[str, tuple[int, int]]) -> None:
        super().__init__({}, repair.lower_bound)
        self.args = (repair, exceeded)
        self.repair = repair
        self.exceeded = exceeded

    def _message(self) -> str:
        passed = ", ".join(
            f"{name} {size} (at most {bound})" for name, (size, bound) in self.exceeded.items()
        )
        first = next(
            (
                one
                for name in self.exceeded
                for one in getattr(self.repair, "lost" if name == "prose" else name)
                if (one.kind == "prose") == (name == "prose")
            ),
            None,
        )
        if first is None:
            where = ""
        else:
            what = f"{first.removed[:40]!r} → {first.written[:40]!r}"
            where = f"; first {what} at byte {first.begin}"
        return (
            f"the nearest repair passes bounds of strict: {passed}{where}; "
            "read .repair of this error, or admit more in tk.RepairBounds"
        )


class LimitExceeded(TokamataError, RuntimeError):
    """Work stopped because it exceeded one of the caller's :class:`tokamata.Limits`, or a fixed bound.

    The object of the call is unchanged and usable.

    Attributes:
        limit: the field of ``Limits`` that was exceeded: ``"states"``, ``"memory_bytes"``,
            ``"seconds"`` or ``"depth"``; or ``"deadline_seconds"``, if the call was given that.
        bound: its value.
        pattern: the pattern that was worked on, or ``None`` if it has no text.
        position: offset into ``pattern`` of the part that grew, or ``None``.
        is_fixed: whether the bound is fixed, so that no ``Limits`` raise it.
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

    def _message(self) -> str:
        message = f"the limit {self.limit}={self.bound:.12g} was exceeded"
        if self.pattern is not None and self.position is not None:
            message += f", mostly by the part of the pattern at position {self.position}\n"
            message += caret(self.pattern, self.position)
        if self.limit == "deadline_seconds":
            return message + "\ncall it again, which goes on with what was made, or give it more time"
        if self.is_fixed:
            return message + "\nsimplify the pattern: this bound is the same for all Limits"
        return message + "\nsimplify the pattern, or pass a larger tokamata.Limits"


class Cancelled(TokamataError, RuntimeError):
    """Work stopped because its :class:`tokamata.CancelToken` was cancelled.

    The object of the call is unchanged and usable.
    """


class ForkError(TokamataError, RuntimeError):
    """The process was forked while another thread worked on what the call needs.

    Only the thread that forks goes on in the new process, so the copy there may be half changed.  Compile
    the constraint again in the new process, or fork while no thread works on it.

    Attributes:
        pattern: the constraint, as text; ``None`` where it has none.
    """

    def __init__(self, pattern: str | None) -> None:
        super().__init__(pattern)
        self.pattern = pattern

    def _message(self) -> str:
        return (
            f"the process was forked while another thread worked on {self.pattern!r:.200}; "
            "compile it again in this process"
        )


class BusyError(TokamataError, RuntimeError):
    """A handler of signals used a constraint on which the call that it interrupted works.

    Attributes:
        pattern: the constraint, as text; ``None`` where it has none.
    """

    def __init__(self, pattern: str | None) -> None:
        super().__init__(pattern)
        self.pattern = pattern

    def _message(self) -> str:
        return (
            f"the call that the signal interrupted works on {self.pattern!r:.200}; "
            "use another constraint in the handler, or set a flag there"
        )


class UnknownTokenError(VocabularyError, KeyError):
    """A control token that the vocabulary does not have.

    Attributes:
        name: the requested name.
        reason: why there is no such control token.
        close: similar names of control tokens.
    """

    def __init__(self, name: str, reason: str, close: tuple[str, ...] = ()) -> None:
        super().__init__(name, reason, close)
        self.name = name
        self.reason = reason
        self.close = close

    def _message(self) -> str:
        hint = f"; did you mean {', '.join(self.close)}?" if self.close else ""
        return f"no control token {self.name!r:.100}: {self.reason}{hint}"


class MachineError(TokamataError, ValueError):
    """An inconsistent explicit machine: a state, a symbol or a table contradicts the rest."""


class MachineFileError(MachineError):
    """Text in OpenFst's format that cannot be read.

    Attributes:
        line: the number of the line, from 1.
        found: the line or field there, shortened.
        expected: what should be there.
    """

    def __init__(self, line: int, found: str, expected: str) -> None:
        found = found if len(found) <= 60 else found[:59] + "…"
        super().__init__(line, found, expected)
        self.line = line
        self.found = found
        self.expected = expected

    def _message(self) -> str:
        return f"line {self.line} of the OpenFst text is {self.found!r}; expected {self.expected}"


class EndlessStackError(MachineError):
    """A push-down automaton that pushes or pops without end while it reads nothing.

    Attributes:
        symbols: the names of what each round pushes, or pops.
        is_push: whether it pushes.
    """

    def __init__(self, symbols: tuple[str, ...], is_push: bool) -> None:
        super().__init__(symbols, is_push)
        self.symbols = symbols
        self.is_push = is_push

    def _message(self) -> str:
        shown = ", ".join(repr(name[:60]) for name in self.symbols[:5])
        what = (
            f"{shown} can be pushed without end before a symbol is read (a rule begins with itself)"
            if self.is_push
            else f"{shown} can be popped any number of times before a symbol is read"
        )
        return f"{what}, so its transitions cannot be contracted; PushdownMatcher follows them as they are"


class NondeterministicError(MachineError):
    """A push-down automaton that is not deterministic, where a deterministic one is needed.

    Attributes:
        state: a state with two transitions that can be taken on one stack.
        symbol: the name of the symbol that both read.
        popped: the names of what each of the two pops.
    """

    def __init__(self, state: int, symbol: str, popped: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        super().__init__(state, symbol, popped)
        self.state = state
        self.symbol = symbol
        self.popped = popped

    def _message(self) -> str:
        first, second = (", ".join(name[:60] for name in names) or "nothing" for names in self.popped)
        return (
            f"two transitions of state {self.state} read {self.symbol[:60]!r}, and one stack allows both: "
            f"one pops {first}, the other {second}; rewrite the grammar, or use PushdownMatcher, which "
            "follows both"
        )


class NotSubsequentialError(MachineError):
    """A transducer that no subsequential transducer is equal to.

    Attributes:
        string: an input.
        outputs: two different outputs for it; with a loop, what two runs have written after it.
        loop: an input that may follow any number of times; empty if the transducer is not functional.
        loop_outputs: what each run writes for one repetition of it.
        reason: the same in words, with the names of symbols.
    """

    def __init__(
        self,
        string: tuple[int, ...],
        outputs: tuple[tuple[int, ...], tuple[int, ...]],
        loop: tuple[int, ...],
        loop_outputs: tuple[tuple[int, ...], tuple[int, ...]],
        reason: str,
    ) -> None:
        super().__init__(string, outputs, loop, loop_outputs, reason)
        self.string = string
        self.outputs = outputs
        self.loop = loop
        self.loop_outputs = loop_outputs
        self.reason = reason

    def _message(self) -> str:
        return f"no subsequential transducer writes the same: {self.reason}"


def shown_argument(value: object) -> str:
    """How a message shows the value of an argument: short values themselves, others by their type."""
    if value is None or isinstance(value, (bool, float, str, bytes)):
        return f"{value!r:.80}"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**30 else f"an int of {value.bit_length():,} bits"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return type(value).__name__


def shown_count(count: int) -> str:
    """How a message shows a number that may be astronomical."""
    return f"{count:,}" if count < 10**15 else f"about 2^{count.bit_length() - 1}"


def _schema_location(pointer: str) -> str:
    """How a message names the schema at a JSON Pointer."""
    shown = pointer if len(pointer) <= 200 else f"{pointer[:99]}…{pointer[-100:]}"
    return f"in the schema at {shown}" if pointer else "in the schema at its root"


def caret(text: str, position: int, width: int = 72) -> str:
    """Two lines: the part of ``text`` around ``position``, and a caret under that position.

    Control characters are shown as one-column pictures, so that the caret is in the right column.
    """
    start = max(0, min(position - width // 2, len(text) - width))
    shown = text[start : start + width]
    before = "…" if start else ""
    after = "…" if start + width < len(text) else ""
    line = "".join(chr(0x2400 + ord(c)) if ord(c) < 0x20 else c if c.isprintable() else "?" for c in shown)
    return f"    {before}{line}{after}\n    {' ' * (len(before) + position - start)}^"
