"""Tagged objects: a writer of them, an independent reader, and random values."""
