"""``TypeVarTuple`` and ``Unpack``; in Python 3.10, which lacks them, only type checkers see them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVarTuple, Unpack
elif sys.version_info >= (3, 11):
    from typing import TypeVarTuple, Unpack
else:

    class Unpack:
        """Stands for ``typing.Unpack``."""

        def __class_getitem__(cls, item: object) -> object:
            """Any type."""
            return Any

    def TypeVarTuple(name: str) -> object:
        """Stands for ``typing.TypeVarTuple``."""
        return Any


__all__ = ["TypeVarTuple", "Unpack"]
