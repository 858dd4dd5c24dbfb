"""Programs that split a text, with labels; ``core/splitting/split_program.hpp`` defines them.

Example: ``a | b`` with the marks of its pieces::

    program = Program()
    program.fork("b")
    program.piece(0)
    program.jump("end")
    program.label("b")
    program.piece(1)
    program.label("end")
    program.accept()
"""

from __future__ import annotations

__all__ = ["Instruction", "Program"]

Instruction = tuple[str, int, int, int, "int | None", str]  # operation, number, target, low, high, flags


class Program:
    """A program under construction."""

    def __init__(self) -> None:
        self._lines: list[tuple[str, int, str | None, int, int | None, str]] = []
        self._labels: dict[str, int] = {}
        self._loops = 0

    def label(self, name: str) -> None:
        """Names the next instruction."""
        self._labels[name] = len(self._lines)

    def part(self, leaf: int, lazy: bool = False) -> None:
        """Reads a text of a leaf: the longest that the rest allows, or the shortest if ``lazy``."""
        self._emit("part", leaf, flags="lazy" if lazy else "")

    def mark(self, number: int) -> None:
        """Notes the position."""
        self._emit("mark", number)

    def piece(self, number: int) -> None:
        """Reads a text of leaf ``number``, and marks where it begins and ends."""
        self.mark(2 * number)
        self.part(number)
        self.mark(2 * number + 1)

    def fork(self, label: str) -> None:
        """Continues with the next instruction, or, if that fails, at the label."""
        self._emit("fork", target=label)

    def jump(self, label: str) -> None:
        """Continues at the label."""
        self._emit("jump", target=label)

    def look(self, label: str, behind: bool, negated: bool) -> None:
        """Continues if the program at the label accepts the rest of the text, or its part so far."""
        self._emit("look", target=label, flags="behind" * behind + " negated" * negated)

    def begin_repetition(self, low: int, high: int | None, lazy: bool = False) -> str:
        """Repeats the instructions up to :meth:`end_repetition` ``low`` to ``high`` times; returns a name."""
        self._loops += 1
        name = f"repetition {self._loops}"
        self._emit("enter")
        self.label(name)
        self._emit("loop", target=f"end of {name}", low=low, high=high, flags="lazy" if lazy else "")
        return name

    def end_repetition(self, name: str, drops_empty: bool = False) -> None:
        """The end of the repetition of this name.

        ``drops_empty``: past the minimum, an empty iteration is not taken; otherwise it is the last.
        """
        self._emit("again", target=name, flags="drops_empty" if drops_empty else "")
        self.label(f"end of {name}")
        self._emit("leave")

    def accept(self) -> None:
        """The end of the program, or of that of a lookaround."""
        self._emit("accept")

    def code(self) -> list[Instruction]:
        """The instructions; labels are replaced by the numbers of their targets."""
        return [
            (operation, number, 0 if target is None else self._labels[target], low, high, flags)
            for operation, number, target, low, high, flags in self._lines
        ]

    def ended(self) -> list[Instruction]:
        """The instructions, with the end of the program."""
        self.accept()
        return self.code()

    def _emit(
        self,
        operation: str,
        number: int = 0,
        *,
        target: str | None = None,
        low: int = 0,
        high: int | None = 0,
        flags: str = "",
    ) -> None:
        self._lines.append((operation, number, target, low, high, flags))
