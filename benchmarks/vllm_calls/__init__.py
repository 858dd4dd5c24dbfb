"""The calls of vLLM's manager of structured outputs, without an engine."""
