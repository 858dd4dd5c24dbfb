"""What the tests of machines and of vocabularies share lies beside those."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / folder) for folder in ("automata", "vocabulary")]
