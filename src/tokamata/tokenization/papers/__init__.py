"""The constructions of papers 000 and 001 on explicit machines, one in a file, with what checks them."""
