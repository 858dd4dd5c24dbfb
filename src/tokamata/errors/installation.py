"""Errors of an installation: a package that is missing, files of another version."""

from __future__ import annotations

from tokamata.errors.base import TokamataError


class InstallationError(TokamataError, RuntimeError):
    """A file of this package belongs to another version of it."""


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
