"""Literals of Python, JavaScript and people, and strings that stand for literals."""

from tokamata.repair.costs import Rewrite
from tokamata.repair.dialects.lookarounds import AFTER as _AFTER
from tokamata.repair.dialects.modes import TEXT

__all__ = ["LITERALS"]

_IN_TEXT = (TEXT,)

# Of other languages, and marks.
_YES = "(?:[Ss][íi]m?|SÍ|[Tt]ak|[Vv]rai|[Ww]ahr|[Vv]erdadero|[Vv]ero|[Дд]а|是|真|はい|✓|✔|✅|☑)".encode()
_NO = "(?:[Nn]ej|[Nn]ee|[Nn]ie|[Nn]ão|[Ff]aux|[Ff]alsch|[Ff]also|[Нн]ет|否|假|いいえ|✗|✘|❌|☐)".encode()
_BEFORE = rb"(?:(?<=[:\[,\s])|(?<=\xef\xbc\x9a))"

LITERALS = (
    Rewrite("Python's True", rb"\b(?:True|TRUE)\b", b"true", 20, _IN_TEXT),
    Rewrite("Python's False", rb"\b(?:False|FALSE)\b", b"false", 20, _IN_TEXT),
    Rewrite("Python's None", rb"\b(?:None|none|NULL|Null|nil|undefined)\b", b"null", 20, _IN_TEXT),
    Rewrite("no number", rb"-?\b(?:NaN|Infinity|nan|inf)\b", b"null", 600, _IN_TEXT),
    Rewrite("unfinished literal", rb"(?<=[:\[,\s])[tT]ru?(?=\s*(?:[,}\]]|\Z))", b"true", 100, _IN_TEXT),
    Rewrite("unfinished literal", rb"(?<=[:\[,\s])[fF]al?s?(?=\s*(?:[,}\]]|\Z))", b"false", 100, _IN_TEXT),
    Rewrite("unfinished literal", rb"(?<=[:\[,\s])(?:nul?|Non?)(?=\s*(?:[,}\]]|\Z))", b"null", 100, _IN_TEXT),
    Rewrite(
        "yes as a literal",
        rb"\b(?:[Yy]es|YES|[Oo]n|ON|[Yy]|[Oo]ui|[Jj]a|[Ss]i)\b|" + _BEFORE + _YES + _AFTER,
        b"true",
        700,
        _IN_TEXT,
    ),
    Rewrite(
        "no as a literal",
        rb"\b(?:[Nn]o|NO|[Oo]ff|OFF|[Nn]|[Nn]on|[Nn]ein)\b|" + _BEFORE + _NO + _AFTER,
        b"false",
        700,
        _IN_TEXT,
    ),
    Rewrite("number as a literal", rb"(?<=[:\[,\s])1(?=\s*(?:[,}\]]|\Z))", b"true", 1300, _IN_TEXT),
    Rewrite("number as a literal", rb"(?<=[:\[,\s])0(?=\s*(?:[,}\]]|\Z))", b"false", 1300, _IN_TEXT),
    Rewrite("string as a literal", rb'"(?:[Tt]rue|TRUE|[TtYy])"', b"true", 500, _IN_TEXT),
    Rewrite("string as a literal", rb'"(?:[Ff]alse|FALSE|[FfNn])"', b"false", 500, _IN_TEXT),
    Rewrite(
        "string as a literal",
        rb'"(?:(?:[Yy]es|YES|[Tt]rue)[,.;:!][^"\\\n]{0,80}|[Yy]es|[Oo]n|YES|ON|1|[Ee]nabled|[Aa]ctive|[Oo]ui|[Jj]a|[Ss]i|'
        + _YES
        + rb')"',
        b"true",
        900,
        _IN_TEXT,
    ),
    Rewrite(
        "string as a literal",
        rb'"(?:(?:[Nn]o|NO|[Ff]alse)[,.;:!][^"\\\n]{0,80}|[Nn]o|[Oo]ff|NO|OFF|0|[Dd]isabled|[Ii]nactive|[Nn]on|[Nn]ein|'
        + _NO
        + rb')"',
        b"false",
        900,
        _IN_TEXT,
    ),
    Rewrite(
        "string as null",
        rb'"(?:[Nn]ull|[Nn]one|N/A|n/a|NA|NULL|--?|\xe2\x80[\x93\x94])"',
        b"null",
        500,
        _IN_TEXT,
    ),
    Rewrite("string as null", rb'(?<=[:\[,\s])""', b"null", 900, _IN_TEXT),
    Rewrite("literal as a string", rb"\b(?:[Tt]rue|[Ff]alse)\b", rb'"\g<0>"', 900, _IN_TEXT),
    Rewrite(
        "ellipsis as null",
        rb"(?<=[:\[,\s])(?:\.\.\.|\xe2\x80\xa6)(?=\s*(?:[,}\]]|\Z))",
        b"null",
        290,
        _IN_TEXT,
    ),
)
