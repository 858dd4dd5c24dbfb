"""What a model wanted to write, and a constraint did not let it: the table of ``tokamata generate --why``."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from tokamata.cli.console import Screen
from tokamata.decoding import Step
from tokamata.display.texts import shown_bytes

__all__ = ["wanted_table"]

_SMALL = 0.01  # of the legal mass: the model would write something else


def wanted_table(screen: Screen, steps: Sequence[Step]) -> Table:
    """Each token with its probability, the mass that the mask left, and what the model wanted instead.

    Args:
        screen: how tokens are drawn.
        steps: of a text that was written with ``probabilities=True``.
    """
    table = Table(header_style="bold", expand=False)
    table.add_column("#", justify="right", style="dim")
    table.add_column("token", overflow="fold")
    table.add_column("probability", justify="right")
    table.add_column("legal mass", justify="right")
    table.add_column("wanted", overflow="fold")
    table.add_column("with", justify="right")
    for index, step in enumerate(steps):
        token = Text(shown_bytes(step.data), style=screen.token_style(index))
        if step.legal_mass is None:
            how = "jumped" if step.jumped else "without the model"
            table.add_row(str(index), token, Text(how, style="dim"), "", "", "")
            continue
        mass = Text(_share(step.legal_mass), style="red" if step.legal_mass < _SMALL else "")
        wanted, share = Text("·", style="dim"), ""
        if step.wanted is not None:
            data = step.wanted.data
            shown = f"token {step.wanted.token}" if data is None else shown_bytes(data)
            wanted, share = Text(shown), _share(step.wanted.probability)
        table.add_row(str(index), token, _share(math.exp(step.log_probability)), mass, wanted, share)
    return table


def _share(probability: float) -> str:
    """A probability in per cent, and one that is not shown as 0 unless it is."""
    if 0 < probability < 0.00005:
        return f"{probability:.0e}"
    return f"{probability:.2%}"
