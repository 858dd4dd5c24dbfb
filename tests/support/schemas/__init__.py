"""Random schemas and values, and oracles of schemas."""
