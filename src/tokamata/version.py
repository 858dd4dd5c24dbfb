"""The version of tokamata; ``pyproject.toml`` takes it from here."""

__version__ = "0.2.0"
