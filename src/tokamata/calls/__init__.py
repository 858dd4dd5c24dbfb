"""Calls of public functions: checks of their arguments, recipes made of calls, and calls that are equal."""
