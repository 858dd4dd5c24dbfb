"""The command line: ``tokamata generate``, ``tokamata mask`` and ``tokamata repair``."""
