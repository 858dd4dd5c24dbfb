"""The version of tokamata, as in ``pyproject.toml``."""

__version__ = "0.1.0"
