"""Integrations with other libraries, imported only when they are used."""
