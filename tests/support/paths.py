"""Folders: of the repository, of the tests' data, and of data that the repository may not carry."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
SHARED = ROOT.parent / "shared" / "data"  # where it exists; no test needs it
MASKBENCH = SHARED / "maskbench-dev.jsonl.xz"
