"""A Lark file as its tokens, to find where its names are defined and used.

lark's loader names a rule in its messages, and not where the file has it.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokamata.errors import GrammarError
from tokamata.patterns.grammars.files.lark_dialect_tokens import DialectToken, tokens_of
from tokamata.resources.limits import Watch

__all__ = ["LarkSource", "kind_of"]


class LarkSource:
    """A Lark file as its tokens.

    Attributes:
        text: the file.
        tokens: those of the file, without blanks.
        defined: the names of rules and terminals that it defines, and those that it imports.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self.tokens = [token for token in tokens_of(text, Watch()) if token.kind != "blank"]
        except GrammarError:  # what the loader refuses may be no token either
            self.tokens = []
        self._definitions: dict[str, list[int]] = {}  # their positions
        self.defined: list[str] = []
        for statement in self.statements():
            name, position = self._defined_by(statement)
            if name:
                self._definitions.setdefault(name, []).append(position)
        self.defined = list(self._definitions)
        self.imported: dict[str, tuple[str, int]] = {}  # the grammar, and the position, by name
        for statement in self.statements():
            if statement[0].text == "%import":
                names = [token for token in statement if token.kind == "name"]
                dotted = [token.text for token in statement[1:]]
                is_list = "(" in dotted
                grammar = ".".join(
                    token.text for token in (names[: dotted.index("(")] if is_list else names[:-1])
                )
                for token in names:
                    self.imported.setdefault(token.text, (grammar, token.position))

    def statements(self) -> Iterable[list[DialectToken]]:
        """The tokens of each rule, terminal and directive."""
        statement: list[DialectToken] = []
        for token in self.tokens:
            if token.kind == "newline":
                if statement:
                    yield statement
                statement = []
            else:
                statement.append(token)
        if statement:
            yield statement

    def statement_at(self, position: int) -> list[DialectToken]:
        """The tokens of the statement that begins last before a position; those after it too."""
        found: list[DialectToken] = []
        for statement in self.statements():
            if statement[0].position > position:
                break
            found = statement
        return found

    def definition(self, *names: str) -> int:
        """Where the first of some names is defined that is; elsewhere 0."""
        positions = [found[0] for name in names if (found := self._definitions.get(name))]
        return positions[0] if positions else self.use("", *names)

    def second_definition(self, name: str) -> int:
        """Where a name is defined again."""
        return [*self._definitions.get(name, [0]), 0][1]

    def use(self, within: str, *names: str) -> int:
        """Where a name is used in the body of a rule or terminal, or anywhere; 0 if nowhere."""
        places = []
        for statement in self.statements():
            defined, begin = self._defined_by(statement)
            for token in statement:
                if token.text in names and token.position != begin:
                    places.append((defined != within, token.position))
        return min(places)[1] if places else 0

    def error(self, position: int, reason: str, hint: str = "") -> GrammarError:
        """An error at a position."""
        return GrammarError(self.text, position, reason, hint)

    @staticmethod
    def _defined_by(statement: list[DialectToken]) -> tuple[str, int]:
        """The name that a statement defines, and where; ``""``: it defines none."""
        at = 0
        while at < len(statement) and statement[at].text in ("?", "!", "%override", "%extend"):
            at += 1
        head = statement[at : at + 1]
        if head and head[0].kind == "name" and any(token.text == ":" for token in statement[at:]):
            return head[0].text, head[0].position
        return "", 0


def kind_of(name: str) -> str:
    """``"terminal"`` or ``"rule"``: what a name in Lark stands for."""
    return "terminal" if name.lstrip("_")[:1].isupper() else "rule"
