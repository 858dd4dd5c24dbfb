"""Tagged objects: objects whose members stand between tags instead of in JSON."""

from tokamata.patterns.tagged.styles import STYLES, TYPES, Items, TagStyle

__all__ = ["STYLES", "TYPES", "Items", "TagStyle"]
