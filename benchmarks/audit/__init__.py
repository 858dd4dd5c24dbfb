"""Audits of all engines."""
