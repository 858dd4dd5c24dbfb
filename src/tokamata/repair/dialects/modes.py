"""The names of the modes of the default costs: where an edit stands."""

__all__ = [
    "BACK",
    "BARE",
    "DOUBLED",
    "ESCAPED",
    "FENCED",
    "INVENTED",
    "QUOTED",
    "SINGLE",
    "STRING",
    "TEXT",
    "TRIPLE",
    "TYPOGRAPHIC",
]

TEXT = "text"  # outside of strings
STRING = "string"  # in a string of JSON
BARE = "bare string"  # in a string that a repair has opened
SINGLE = "string in single quotes"
BACK = "string in backticks"
TRIPLE = "string in tripled quotes"
TYPOGRAPHIC = "string in typographic quotes"
FENCED = "string in a fence"
DOUBLED = "string in doubled quotes"
ESCAPED = "string in escaped quotes"
INVENTED = "invented member"  # in members that a repair makes up
QUOTED = (SINGLE, BACK, TRIPLE, TYPOGRAPHIC, FENCED, DOUBLED)
