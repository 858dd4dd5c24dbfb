"""What stands in for a process of its own, where nothing crashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Here:
    """An object in this process, made and called as :class:`.Apart` does it in another."""

    is_running = True

    def __init__(self, make: Callable[..., Any], *arguments: Any) -> None:
        self._made = make(*arguments)

    def start(self) -> None:
        """It runs."""

    def call(self, method: str, seconds: float, *arguments: Any) -> Any:
        return getattr(self._made, method)(*arguments)

    def close(self) -> None:
        """It stays."""
