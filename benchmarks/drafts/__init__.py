"""Masks of drafts, beside the peers."""
