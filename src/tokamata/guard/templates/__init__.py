"""Chat templates, read so that claims can be proved about all texts of their slots; see ``reading``."""
