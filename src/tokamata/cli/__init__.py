"""The command line: ``tokamata generate`` and ``tokamata mask``."""
