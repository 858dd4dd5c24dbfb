"""JSON Schema: what its keywords denote, as expressions of the engine."""
