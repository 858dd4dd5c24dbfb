"""What line breaks, blocks and the end of the text do to what a lexer knows.

``_INDENT`` and ``_DEDENT`` are read where the margin of a line is decided (:mod:`.indentation`).  So after a
line break, the margin is left open until something comes that decides it:

* ``_INDENT``: the margin is as wide as the block that begins here.
* ``_DEDENT``: a block has ended; the margin is still open, and belongs to a block further out.
* Any other terminal: the margin is as wide as the block that the terminal is in.
* The end of the text: as before another terminal.  All blocks end there, without a line break.

Worked example.  In ``if x:⏎  y⏎z``, after the second line break comes ``_DEDENT``, and then ``z``, whose
margin is that of the outermost block: nothing.
"""

from __future__ import annotations

from tokamata.patterns.grammars.lexer.ignoring import IgnoredTexts, as_node
from tokamata.patterns.grammars.lexer.lexer_configurations import END_OF_TEXT, Configuration, Line
from tokamata.patterns.grammars.lexer.lexers import Lexer
from tokamata.patterns.grammars.lexer.line_breaks import LineBreaks
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.resources.limits import Watch

__all__ = ["Layout"]

_Ends = frozenset[Configuration]


class Layout:
    """The layout of a grammar's texts.

    Args:
        lexer: reads its terminals.
        ignored: what may stand between them.
        indentation: how blocks are marked.
        watch: stops the work.

    Attributes:
        names: the terminals that are read here and not by the lexer.
        line_breaks: of the texts.
        end: the configuration at the end of a text.
    """

    def __init__(
        self, lexer: Lexer, ignored: IgnoredTexts, indentation: trees.Indentation, watch: Watch
    ) -> None:
        self._lexer = lexer
        self._ignored = ignored
        self._indentation = indentation
        self.line_breaks = LineBreaks(lexer, indentation.tab, watch)
        self.names = frozenset([indentation.newline, indentation.indent, indentation.dedent, END_OF_TEXT])
        self.end = lexer.start._replace(line=Line("end"))

    def settled(self, before: Configuration) -> _Ends:
        """Those in which the lexer reads on: where a margin is due, after it and what is ignored after it."""
        if before.line.kind == "end":
            return frozenset()
        if not before.line.is_broken:
            return frozenset([before])
        return frozenset(after for end in self.line_breaks.ends(before) for after in self._ignored.after(end))

    def margins(self, before: Configuration, wanted: _Ends) -> list[trees.Node]:
        """The margin after a line break and what is ignored after it, that lead to what is wanted."""
        return self._margins(before, self.line_breaks.ends(before), wanted)

    def ends(self, terminal: trees.Terminal, before: Configuration) -> _Ends:
        """Those that one of ``names`` leads to."""
        if terminal.name == self._indentation.newline:
            return frozenset(
                after for at in self.settled(before) for after in self.line_breaks.begun(terminal, at)
            )
        if before.expected is not None and terminal.name not in before.expected:
            return frozenset()
        if terminal.name == self._indentation.indent:
            return frozenset(
                after for end in self._indented(terminal, before) for after in self._ignored.after(end)
            )
        found = set()
        if terminal.name == self._indentation.dedent and before.line.is_broken:
            found.add(self._dedented(terminal, before))
        if before.line.kind == "end" or self._may_end(before):
            found.add(self.end)
        return frozenset(found)

    def node(self, terminal: trees.Terminal, before: Configuration, wanted: _Ends) -> trees.Node:
        """What one of ``names`` reads to get to what is wanted; before a line break no margin is due."""
        wanted &= self.ends(terminal, before)
        if not wanted:
            return trees.Choice(())
        if terminal.name == self._indentation.newline:
            return trees.Terminal(terminal.name, self.line_breaks.texts(terminal, before, wanted))
        if terminal.name == self._indentation.indent:
            options = self._margins(before, self._indented(terminal, before), wanted)
        else:
            options = []
            if before.line.is_broken and self._dedented(terminal, before) in wanted:
                options.append(trees.Sequence(()))
            if self.end in wanted:
                options += (
                    self.margins(before, self._may_end(before))
                    if before.line.is_broken
                    else [trees.Sequence(())]
                )
        return options[0] if len(options) == 1 else trees.Choice(tuple(options))

    def _margins(self, before: Configuration, ends: _Ends, wanted: _Ends) -> list[trees.Node]:
        margins: dict[object, tuple[trees.Node, set[tuple[object, object]]]] = {}
        for end in ends:
            if self._ignored.after(end) & wanted:
                ignored = self._ignored.between(end, wanted)
                _, found = margins.setdefault(ignored, (as_node(ignored), set()))
                found.add((end.condition, end.past))
        return [
            trees.Sequence((trees.Margin(before.line.line_break, frozenset(found)), after))
            for after, found in margins.values()
        ]

    def _indented(self, terminal: trees.Terminal, before: Configuration) -> _Ends:
        """After the margin of a line that opens a block."""
        if before.line.kind != "break":
            return frozenset()
        return frozenset(
            end._replace(context=terminal.context, expected=None) for end in self.line_breaks.ends(before)
        )

    def _dedented(self, terminal: trees.Terminal, before: Configuration) -> Configuration:
        line = before.line._replace(kind="dedent")
        return before._replace(context=terminal.context, expected=None, line=line)

    def _may_end(self, before: Configuration) -> _Ends:
        """Those in which the text may end, whatever the parser takes."""
        return frozenset(at for at in self.settled(before) if self._lexer.may_end(at._replace(expected=None)))
