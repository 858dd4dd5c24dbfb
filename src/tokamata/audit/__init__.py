"""Audits of engines for constrained decoding: whose masks are wrong, with witnesses that a validator judged.

`auditing` compares two engines along texts of a JSON Schema.  It believes neither: what is wrong is said by
`jsonschema-rs`, of whole instances (`judging`).  Each engine runs in a process of its own (`apart`), since it
may crash or hang.
"""
