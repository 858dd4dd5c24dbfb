"""The commands and their options; the file of each command's name runs it."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from tokamata.cli.console import Screen, form_of
from tokamata.decoding import Settings
from tokamata.errors import SchemaWarning, TokamataError

_MEANT = {
    "--model": ("--vocabulary",),
    "-m": ("--vocabulary",),
    "--prompt": ("--text",),
    "--text": ("--prompt",),
}
_LIKENESS = 0.7  # from which on a name is offered in place of another


class _Command(TyperCommand):
    """A command that says which of its options does what an option of another command does."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options; an unknown one that another command has is answered with this one's own."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:  # click's NoSuchOption, which typer may carry in a package of its own
            name = getattr(error, "option_name", "")
            known = [option for parameter in self.params for option in parameter.opts]
            if name:
                meant = [one for one in _MEANT.get(name, ()) if one in known]
                error.possibilities = meant or get_close_matches(name, known, 3, _LIKENESS)  # type: ignore[attr-defined]
            elif "unexpected extra argument" in str(error) and {"--prompt", "--text"} & set(known):
                option = "--prompt" if "--prompt" in known else "--text"
                error.message += f"; a text stands after its option, such as {option}"  # type: ignore[attr-defined]
            raise


app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Make a language model write exactly what a pattern allows.",
)

Regex = Annotated[
    str | None, typer.Option("--regex", "-r", help="The pattern, in the syntax of Python's re.")
]
SchemaOption = Annotated[
    str | None, typer.Option("--schema", "-s", help="A JSON Schema instead: a file, or JSON.")
]
TypeOption = Annotated[
    str | None, typer.Option("--type", help="A Python type instead: module:Class, or file.py:Class.")
]
GrammarOption = Annotated[
    Path | None,
    typer.Option(
        "--grammar", "-g", help="A grammar's file instead: Lark, or GBNF if it ends in .gbnf or .ebnf."
    ),
]
LexerOption = Annotated[
    Literal["characters", "dynamic", "basic", "longest"] | None,
    typer.Option("--lexer", help="How terminals of a Lark file are told apart. (default: dynamic)"),
]
SyntaxOption = Annotated[
    Literal["json", "python"] | None,
    typer.Option("--syntax", help="How values of --type are written. (default: json)"),
]
Order = Annotated[
    Literal["schema", "any"] | None,
    typer.Option("--order", help="Of the names in objects: as declared, or any. (default: schema)"),
]
WhitespaceOption = Annotated[
    Literal["compact", "natural", "any"] | None,
    typer.Option(
        "--whitespace", help="None, as people write it, or all that JSON allows. (default: natural)"
    ),
]
SpellingOption = Annotated[
    Literal["plain", "natural", "any"] | None,
    typer.Option(
        "--spelling",
        help="Of strings and numbers: plain, as people write them, or all that JSON allows. "
        "(default: natural)",
    ),
]


ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help="A folder in transformers' format, or a name on the Hub. (default: Gemma 3 270M)",
    ),
]
VocabularyOption = Annotated[
    Path | None,
    typer.Option("--vocabulary", "-v", help="A tokenizer's file or folder. (default: that of the model)"),
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Write nothing but errors to standard error.")
]
SummaryOption = Annotated[bool, typer.Option("--summary", help="Show the result in short.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Write JSON to standard output.")]


class TokenizationChoice(str, Enum):
    """Which tokenizations of a text are admitted."""

    any = "any"
    canonical = "canonical"


TokenizationOption = Annotated[
    TokenizationChoice,
    typer.Option(
        "--tokenization", help="Admit any tokens that spell the text, or the tokenizer's own alone."
    ),
]


def reports_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Show errors that tokamata raises on purpose without a traceback, and exit with 2; show its warnings.

    With the option ``--quiet`` of the command, no warnings.
    """

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        with warnings.catch_warnings():
            if options.get("quiet"):
                warnings.simplefilter("ignore")
            warnings.showwarning = _shown_by(warnings.showwarning)
            try:
                command(*args, **options)
            except TokamataError as error:
                Screen().show_error(error)
                raise typer.Exit(2) from None
            except BrokenPipeError:  # whoever reads the output has enough
                raise
            except OSError as error:  # such as a disk that is full
                _give_up_output()
                Screen().show_error(error)
                raise typer.Exit(2) from None

    return run


def _give_up_output() -> None:
    """Drop what cannot be written: Python would try again when it ends, and exit with 120."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _shown_by(others: Callable[..., None]) -> Callable[..., None]:
    """Shows warnings about schemas as messages, without the line of code that others are shown with."""

    def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if isinstance(message, SchemaWarning):
            Screen().show_error(message)
        else:
            others(message, category, *rest)

    return show


def _show_version(wanted: bool) -> None:
    if wanted:
        import tokamata

        typer.echo(f"tokamata {tokamata.__version__}")
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Make a language model write exactly what a pattern allows."""


@app.command(cls=_Command)
@reports_errors
def generate(
    prompt: Annotated[
        str | None,
        typer.Option("--prompt", "-p", help="What the model goes on from; - reads it from standard input."),
    ] = None,
    prompt_file: Annotated[
        Path | None, typer.Option("--prompt-file", help="A file with the prompt instead.")
    ] = None,
    regex: Regex = None,
    schema: SchemaOption = None,
    type_: TypeOption = None,
    grammar: GrammarOption = None,
    lexer: LexerOption = None,
    syntax: SyntaxOption = None,
    order: Order = None,
    whitespace: WhitespaceOption = None,
    spelling: SpellingOption = None,
    model: ModelOption = None,
    vocabulary: VocabularyOption = None,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="The most tokens to write.")] = 256,
    temperature: Annotated[float, typer.Option(min=0.0, help="What the logits are divided by.")] = 1.0,
    top_k: Annotated[int | None, typer.Option(min=1, help="Keep this many tokens. (default: all)")] = None,
    top_p: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Keep the most probable tokens up to this probability.")
    ] = 1.0,
    seed: Annotated[int | None, typer.Option(help="Makes the output repeatable.")] = None,
    greedy: Annotated[bool, typer.Option("--greedy", help="Always take the most probable token.")] = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="Show what the model writes by itself beside it.")
    ] = False,
    tokenization: TokenizationOption = TokenizationChoice.any,
    jump: Annotated[
        bool, typer.Option("--jump", help="Write what is certain without asking the model.")
    ] = False,
    heal: Annotated[
        bool, typer.Option("--heal", help="Let the model write the last token of the prompt anew.")
    ] = False,
    why: Annotated[
        bool, typer.Option("--why", help="Show for each token what the model wanted and might not write.")
    ] = False,
    chat: Annotated[
        bool | None,
        typer.Option("--chat/--no-chat", help="Use the chat template. (default: where the model has one)"),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Let a model write a text that matches a pattern, a JSON Schema, a Python type or a grammar.

    The text goes to standard output, all else to standard error, the value of a Python type too.  It is
    whole within --max-new-tokens; where no text that matches fits, nothing is written, and the least number
    that suffices is told.  Exits with 1 where a validator of the type refuses the text.
    """
    from tokamata.cli.constraints import Given, requested_constraint, styles_of
    from tokamata.cli.generate import View, run
    from tokamata.cli.prompts import prompt_of

    settings: Settings = {
        "max_new_tokens": max_new_tokens,
        "tokenization": tokenization.value,
        "jump": jump,
        "heal": heal or None,
        "temperature": temperature,
        "top_k": top_k,
        "top_p": top_p,
        "seed": seed,
        "greedy": greedy,
        "probabilities": why,
    }
    requested = requested_constraint(
        Given(regex, schema, type_, grammar), syntax, lexer, styles_of(order, whitespace, spelling)
    )
    text, view = prompt_of(prompt, prompt_file), View(compare, as_json)
    if not run(Screen(quiet), requested, text, (model, vocabulary), settings, view, chat=chat):
        raise typer.Exit(1)


@app.command(cls=_Command)
@reports_errors
def mask(
    regex: Regex = None,
    schema: SchemaOption = None,
    type_: TypeOption = None,
    grammar: GrammarOption = None,
    lexer: LexerOption = None,
    syntax: SyntaxOption = None,
    order: Order = None,
    whitespace: WhitespaceOption = None,
    spelling: SpellingOption = None,
    text: Annotated[str, typer.Option("--text", "-t", help="The text to follow, token by token.")] = "",
    model: ModelOption = None,
    vocabulary: VocabularyOption = None,
    tokenization: TokenizationOption = TokenizationChoice.any,
    why: Annotated[
        bool, typer.Option("--why", help="Show how each mask came about, and what it took.")
    ] = False,
    as_json: JsonOption = False,
    summary: SummaryOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show how a pattern, a JSON Schema, a Python type or a grammar takes a text token by token.

    It also shows what may follow.  Exits with 1 where the text is refused.
    """
    from tokamata.cli.constraints import Given, requested_constraint, styles_of
    from tokamata.cli.mask import run

    requested = requested_constraint(
        Given(regex, schema, type_, grammar), syntax, lexer, styles_of(order, whitespace, spelling)
    )
    form = form_of(as_json, summary)
    if not run(Screen(quiet), requested, text, (model, vocabulary), tokenization.value, why, form):
        raise typer.Exit(1)


@app.command(cls=_Command)
@reports_errors
def repair(
    inputs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="Files or folders; - is standard input. (default: -)",
            show_default=False,
        ),
    ] = None,
    regex: Regex = None,
    schema: SchemaOption = None,
    type_: TypeOption = None,
    grammar: GrammarOption = None,
    lexer: LexerOption = None,
    syntax: SyntaxOption = None,
    lines: Annotated[
        bool,
        typer.Option("--lines", "-l", help="Each line is a text, as in files named .jsonl and .ndjson."),
    ] = False,
    in_place: Annotated[
        bool, typer.Option("--in-place", "-i", help="Write into the files that were read.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file, or of several into this folder."),
    ] = None,
    deadline: Annotated[
        float | None,
        typer.Option(
            "--deadline", min=0.0, help="Seconds for each text; then the best repair so far is taken."
        ),
    ] = None,
    margin: Annotated[
        bool,
        typer.Option("--margin", help="Show how much dearer the next different value is; takes more time."),
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Write no text; exit with 1 if one would be repaired.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Write a line of JSON for each text to standard output, not the text."),
    ] = False,
    summary: SummaryOption = False,
    quiet: QuietOption = False,
) -> None:
    """Change texts as little as possible, so that they match; without an option for what, any JSON.

    The text goes to standard output.  Standard error shows the edits, their cost, how near it is to the
    optimum, and what content was lost, invented and changed; of several texts, a line for each that changes,
    and how many there are.  Exits with 0 where all texts match in the end, and with 2 after an error and
    where a text cannot be repaired within the limits; with --check, with 1 if a text would be repaired.
    """
    from tokamata.cli.constraints import Given, requested_constraint, styles_of
    from tokamata.cli.repair import Destination, Report, run

    given, styles = Given(regex, schema, type_, grammar), styles_of(None, None, None)
    requested = requested_constraint(given, syntax, lexer, styles, default_is_json=True)
    to, report = Destination(in_place, output, check), Report(margin, form_of(as_json, summary))
    code = run(Screen(quiet), requested, inputs or [], lines, to, deadline, report)
    if code:
        raise typer.Exit(code)


@app.command(cls=_Command)
@reports_errors
def audit(
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            "-e",
            help="xgrammar, llguidance, outlines-core, glrmask, vllm-guidance, or tokamata.",
        ),
    ],
    schema: Annotated[str, typer.Option("--schema", "-s", help="A JSON Schema: a file, or JSON.")],
    vocabulary: Annotated[
        Path | None,
        typer.Option(
            "--vocabulary", "-v", help="A tokenizer's file or folder. (default: that of Gemma 3 270M)"
        ),
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="How long masks are compared.")] = 10.0,
    seed: Annotated[int, typer.Option("--seed", help="Of all that is drawn.")] = 0,
    as_json: JsonOption = False,
    summary: SummaryOption = False,
    quiet: QuietOption = False,
) -> None:
    """Look for errors in the masks of an engine: of this library, or of another.

    Each error has a witness: a valid instance that the engine refuses, an invalid one that it allows, or a
    dead end.  The judge is the validator jsonschema-rs.  Exits with 1 where an error was found, with 2 where
    the schema is refused, so that nothing can be said, or after an error.
    """
    from tokamata.cli.audit import run

    form = form_of(as_json, summary)
    code = run(Screen(quiet), engine, schema, vocabulary, seconds, seed, form)
    if code:
        raise typer.Exit(code)


@app.command(cls=_Command)
@reports_errors
def guard(
    tokenizer: Annotated[
        Path,
        typer.Argument(metavar="MODEL_OR_FILE", help="The folder of a model, or a tokenizer's file."),
    ],
    boundaries: Annotated[
        Path | None,
        typer.Option(
            "--boundaries",
            "-b",
            help="A file with a boundary a line, as it is or as a JSON string. "
            "(default: control tokens, and what often ends a part of an answer)",
        ),
    ] = None,
    template: Annotated[
        bool, typer.Option("--template", "-t", help="Examine the chat template too.")
    ] = False,
    manifest: Annotated[
        bool, typer.Option("--manifest", help="Print what was measured of the tokenizer, and nothing else.")
    ] = False,
    as_json: JsonOption = False,
    summary: SummaryOption = False,
    quiet: QuietOption = False,
) -> None:
    """Prove that a tokenizer keeps boundaries whole, and a chat template the texts of others, or refute it.

    Each verdict is a proof for all texts, or a witness: a text that shows the opposite, with its tokens.
    Exits with 0 if all is proved, with 1 if there is a witness, with 2 if something is not settled, or after
    an error.
    """
    from tokamata.cli.guard import Parts, run

    parts = Parts(boundaries, template, manifest, form_of(as_json, summary))
    code = run(Screen(quiet), tokenizer, parts)
    if code:
        raise typer.Exit(code)
