"""JSON Schema, in the drafts 4, 6, 7, 2019-09 and 2020-12, as a table of sets of values.

Way of the data: text ─ :mod:`.text` ─▶ value ─ :mod:`.reader`, by the tables of :mod:`.drafts`, whose
handlers are in :mod:`.keywords`, with :mod:`.references` ─▶ nodes of a :mod:`.table`.
"""

from __future__ import annotations

from tokamata.patterns.json_schema.reading import read_schema
from tokamata.patterns.json_schema.report import ReadSchema, ReportEntry
from tokamata.patterns.json_schema.table import RecordingTable, Table

__all__ = ["ReadSchema", "RecordingTable", "ReportEntry", "Table", "read_schema"]
