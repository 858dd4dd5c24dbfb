"""The tests of canonical tokenization share the real tokenizers of the vocabularies' tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "vocabulary")]
