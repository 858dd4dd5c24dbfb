"""The stub of the core is that of its bindings; what both sides number has one source."""

from __future__ import annotations

import tokamata._core as _core
from tokamata.matching.explanation import RULES
from tokamata.patterns.json_schema.table import ALL_TYPES
from tokamata.repair.graphs import STEPS
from tools.make_stub import STUB, stub


def test_the_stub_is_up_to_date() -> None:
    assert STUB.read_text(encoding="utf-8") == stub(), "python -m tools.make_stub"


def test_each_number_of_the_core_has_a_name() -> None:
    assert [*RULES] == [*_core.Verdict]
    assert len({*RULES.values()}) == len(RULES)
    assert [int(kind) for kind in _core.EditKind] == [*range(len(STEPS))]
    assert sum(one.value for one in _core.JsonType) == ALL_TYPES
