"""Repairs of broken JSON, beside the peers."""
