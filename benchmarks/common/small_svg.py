r"""Pictures of matplotlib, made small for a repository.

Problem: an SVG of matplotlib has an element and a group for every tick, coordinates with six decimals, an id
for everything, a style for every mark, and a command of a path on each line.  A plot of some lines has
thousands of lines of text.

Method: coordinates get :data:`DECIMALS` decimals, a hundredth of a point; points between which a line does
not bend go; ids that nothing refers to, comments, metadata and groups without attributes go; styles that
elements share become classes.  What is drawn, and in which order, stays.

Example: ``M 10.000000 5.250000 \nL 20.000000 5.250000 \nL 30.000000 5.250000 \nL 30 9`` becomes
``M10 5.25 L30 5.25 30 9``.

Cost: one pass over the elements.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

__all__ = ["make_small", "small"]

DECIMALS = 2
_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
_COMMAND = re.compile(r"([MLQCZz])([^MLQCZz]*)")
_REFERENCE = re.compile(r"#([\w.-]+)")
_COORDINATES = ("x", "y", "width", "height", "textLength")
_BEND = 0.01  # points: how far a corner may be from the line without it
_FEW = 2  # so many elements with a style of their own keep it


def make_small(path: Path) -> None:
    """Rewrites a file."""
    path.write_text(small(path.read_text(encoding="utf-8")), encoding="utf-8")


def small(text: str) -> str:
    """The same picture in fewer bytes."""
    root = ElementTree.fromstring(text)
    _drop(root)
    for element in root.iter():
        _round(element)
    used = {name for element in root.iter() for value in element.attrib.values() for name in _names(value)}
    names = {name: f"n{number}" for number, name in enumerate(sorted(used))}
    for element in root.iter():
        _rename(element, names)
    _flatten(root)
    _name_styles(root)
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _XLINK)
    return _lines(ElementTree.tostring(root, encoding="unicode")) + "\n"


def _drop(parent: ElementTree.Element) -> None:
    for child in list(parent):
        if child.tag == f"{{{_SVG}}}metadata":
            parent.remove(child)
        _drop(child)
    if parent.tag != f"{{{_SVG}}}text" and not (parent.text or "").strip():
        parent.text = None
    for child in parent:
        child.tail = None


def _round(element: ElementTree.Element) -> None:
    for name in _COORDINATES:
        if name in element.attrib:
            element.set(name, _NUMBER.sub(lambda found: _number(float(found[0])), element.get(name, "")))
    if "d" in element.attrib:
        element.set("d", " ".join(_simplified(element.get("d", "")).split()))
    if "transform" in element.attrib:
        element.set("transform", _transform(element.get("transform", "")))
    if "style" in element.attrib:
        rules = (rule.strip() for rule in element.get("style", "").split(";"))
        element.set("style", "; ".join(rule for rule in rules if rule))


def _number(value: float, decimals: int = DECIMALS) -> str:
    text = f"{value:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _transform(text: str) -> str:
    def rounded(found: re.Match[str]) -> str:
        decimals = DECIMALS if found[1] == "translate" else 6
        return f"{found[1]}({_NUMBER.sub(lambda one: _number(float(one[0]), decimals), found[2])})"

    return re.sub(r"(\w+)\(([^)]*)\)", rounded, text)


Point = tuple[float, float]


def _simplified(d: str) -> str:
    """A path with rounded points, without corners at which it does not bend."""
    parts: list[tuple[str, list[Point]]] = []
    for command, numbers in _COMMAND.findall(d):
        values = [float(one) for one in _NUMBER.findall(numbers)]
        parts.append((command.upper(), list(zip(values[::2], values[1::2], strict=True))))
    kept: list[tuple[str, list[Point]]] = []
    for index, (command, points) in enumerate(parts):
        after = parts[index + 1] if index + 1 < len(parts) else None
        goes_on = command == "L" and after is not None and after[0] == "L"
        if goes_on and kept[-1][1] and _is_straight(kept[-1][1][-1], points[0], after[1][0]):
            continue
        kept.append((command, points))
    written, last = [], ""
    for command, points in kept:
        shown = " ".join(f"{_number(x)} {_number(y)}" for x, y in points)
        written.append(shown if command == last and command == "L" else f"{command}{shown}")
        last = command
    return " ".join(written)


def _is_straight(before: Point, at: Point, after: Point) -> bool:
    """Whether ``at`` is on the way from ``before`` to ``after``."""
    across, up = after[0] - before[0], after[1] - before[1]
    right, above = at[0] - before[0], at[1] - before[1]
    length = (across * across + up * up) ** 0.5
    if length == 0:
        return right == above == 0
    along = (right * across + above * up) / length
    return abs(right * up - above * across) / length <= _BEND and 0 <= along <= length


def _names(value: str) -> Iterator[str]:
    if value.startswith("#") or "url(" in value:
        yield from _REFERENCE.findall(value)


def _rename(element: ElementTree.Element, names: dict[str, str]) -> None:
    for key, value in list(element.attrib.items()):
        if key == "id":
            if value in names:
                element.set(key, names[value])
            else:
                del element.attrib[key]
        elif any(name in names for name in _names(value)):
            element.set(key, _REFERENCE.sub(lambda found: "#" + names.get(found[1], found[1]), value))


def _flatten(parent: ElementTree.Element) -> None:
    """The children of a group without attributes take its place."""
    for child in list(parent):
        _flatten(child)
        if child.tag != f"{{{_SVG}}}g":
            continue
        if not child.attrib:
            place = list(parent).index(child)
            parent.remove(child)
            for offset, inner in enumerate(list(child)):
                parent.insert(place + offset, inner)


def _name_styles(root: ElementTree.Element) -> None:
    """Styles of more than a few elements become classes of the style sheet."""
    counts = Counter(element.get("style") for element in root.iter() if element.get("style"))
    shared = [style for style, count in counts.most_common() if count > _FEW]
    names = {style: f"s{number}" for number, style in enumerate(shared)}
    for element in root.iter():
        if (name := names.get(element.get("style"))) is not None:
            del element.attrib["style"]
            element.set("class", name)
    sheet = root.find(f".//{{{_SVG}}}style")
    if names and sheet is not None:
        rules = (f".{name}{{{style}}}" for style, name in names.items())
        sheet.text = "\n".join([sheet.text or "", *rules])


def _lines(text: str) -> str:
    """An element a line; but the marks of a line follow each other."""
    text = re.sub(r">(?=<(?!/|use))", ">\n", text)
    return re.sub(r"(</(?:g|defs|clipPath)>)(?=<use)", r"\1\n", text)
