"""The constructions of papers 000 and 001 on explicit machines, one per file, with their oracles."""
