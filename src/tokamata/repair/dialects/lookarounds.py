"""What patterns of several dialects look ahead for, or read between two marks."""

__all__ = ["AFTER", "SPACE"]

# What follows the end of a string, a name or another value.
AFTER = rb"(?=\s*(?:[,:}\])]|\xef\xbc[\x8c\x9a\x9b\x9d\xbd]|\xe3\x80\x81|\Z))"

# White space, with comments.
SPACE = rb"(?:\s|/\*[^*]{0,500}\*/|//[^\n/]{0,300}\n|#[^\n#]{0,300}\n){0,40}"
