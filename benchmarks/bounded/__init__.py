"""Masks in bounded time."""
