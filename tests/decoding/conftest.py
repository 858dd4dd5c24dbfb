"""What the tests of vocabularies share lies beside those."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "vocabulary")]
