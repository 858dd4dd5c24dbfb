"""A diagram as SVG, or a description in words where it is too large to read.

A notebook shows the drawing on any background, often as an image that cannot adapt to it.  So all lines
and letters have a medium luminance, with a contrast of at least 4 to 1 both to white and to #111, and
nothing is filled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from unicodedata import east_asian_width
from xml.sax.saxutils import escape

from tokamata.automata.drawing.diagram import Diagram, Edge
from tokamata.automata.drawing.layout import Layout, Point, lay_out, layers_of, points
from tokamata.automata.symbols import printable

STATE_COLOUR = "#3a7ebf"
EDGE_COLOUR = "#7a7a7a"
LABEL_COLOUR = "#b8631a"

_FONT = 12.0
_COLUMN = 7.3  # the width of a letter of the font
_LINE = 16.0
_MARGIN = 8.0
_RADIUS = 15.0
_RING = 3.5  # from the outer circle of an accepting state to the inner
_LOOP = 18.0
_ARROW = 7.0
_MOST_EDGES = 600  # of a drawing; machines with more are described
_MOST_POINTS = 12_000  # of its layout, states and bends together

_XY = tuple[float, float]


def draw(diagram: Diagram) -> str:
    """The diagram as an SVG document; a description of it if it has too many lines to be readable."""
    if len(diagram.edges) > _MOST_EDGES:
        return describe(diagram.kind, diagram.states, diagram.transitions)
    edges = [(edge.source, edge.target) for edge in diagram.edges]
    layers = layers_of(diagram.states, diagram.start, edges)
    if points(layers, edges) > _MOST_POINTS:
        return describe(diagram.kind, diagram.states, diagram.transitions)
    radii = [_radius(state) for state in range(diagram.states)]
    loops = {edge.source: edge.label for edge in diagram.edges if edge.source == edge.target}
    sizes = []
    for state, radius in enumerate(radii):
        above = _LOOP + _LINE if state in loops else 0.0
        below = _LINE if state in diagram.notes else 0.0
        longest = max(columns(loops.get(state, "")), columns(diagram.notes.get(state, "")))
        width = max(2 * radius, longest * _COLUMN)
        sizes.append((width, radius + above, radius + below))
    labels = [(columns(edge.label) * _COLUMN + 8, _LINE, 2.0) for edge in diagram.edges]
    layout = lay_out(layers, sizes, edges, labels)
    parts = [
        _loop(edge, layout.points[edge.source], radii[edge.source])
        if edge.source == edge.target
        else _edge(edge, layout, chain, radii)
        for edge, chain in zip(diagram.edges, layout.chains, strict=True)
    ]
    for state, radius in enumerate(radii):
        parts.append(_state(diagram, state, layout.points[state], radius))
    return _document(
        layout.width, layout.height, parts, _title(diagram.kind, diagram.states, diagram.transitions)
    )


def describe(kind: str, states: int, transitions: int) -> str:
    """The description that replaces a drawing too large to be readable."""
    title = _title(kind, states, transitions)
    lines = [
        title,
        "Too large for a readable drawing. minimize() or trim() may help;",
        "to_dot() exports it to Graphviz, to_openfst() to OpenFst.",
    ]
    width = max(map(columns, lines)) * _COLUMN + 2 * _MARGIN
    height = len(lines) * 1.4 * _LINE + _MARGIN
    parts = [f'<rect width="{width:.0f}" height="{height:.0f}" rx="6" stroke="{STATE_COLOUR}"/>']
    for number, line in enumerate(lines):
        colour = STATE_COLOUR if number == 0 else EDGE_COLOUR
        y = (number + 1) * 1.4 * _LINE
        parts.append(f'<text x="{width / 2:.0f}" y="{y:.1f}" fill="{colour}">{_text(line)}</text>')
    return _document(width, height, parts, title)


def columns(text: str) -> int:
    """The number of columns of a text in a fixed-width font."""
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def _radius(state: int) -> float:
    return max(_RADIUS, len(str(state)) * _COLUMN / 2 + 2 * _RING)


def _document(width: float, height: float, parts: Sequence[str], title: str) -> str:
    wide, high = width + 2 * _MARGIN, height + 2 * _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}" '
        f'viewBox="{-_MARGIN:.0f} {-_MARGIN:.0f} {wide:.0f} {high:.0f}" '
        f'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{_FONT:.0f}" '
        f'text-anchor="middle" fill="none">\n<title>{_text(title)}</title>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _title(kind: str, states: int, transitions: int) -> str:
    return f"{kind}: {states:,} states, {transitions:,} transitions"


def _state(diagram: Diagram, state: int, at: Point, radius: float) -> str:
    bold = 3.0 if state == diagram.start else 1.3
    circle = f'<circle cx="{at.x:.1f}" cy="{at.y:.1f}" r="{radius:.1f}"/>'
    if state in diagram.accepting:
        circle += f'<circle cx="{at.x:.1f}" cy="{at.y:.1f}" r="{radius - _RING:.1f}" stroke-width="1.3"/>'
    text = f'<text x="{at.x:.1f}" y="{at.y + 4:.1f}" fill="{STATE_COLOUR}">{state}</text>'
    if state in diagram.notes:
        text += (
            f'<text x="{at.x:.1f}" y="{at.y + radius + 13:.1f}" fill="{LABEL_COLOUR}" xml:space="preserve">'
            f"{_text(diagram.notes[state])}</text>"
        )
    return f'<g stroke="{STATE_COLOUR}" stroke-width="{bold}">{circle}</g>{text}'


def _loop(edge: Edge, at: Point, radius: float) -> str:
    """A loop from the upper left of the circle to its upper right."""
    angle = math.radians(60)
    reach_x, reach_y = radius * math.cos(angle), radius * math.sin(angle)
    left, right = (at.x - reach_x, at.y - reach_y), (at.x + reach_x, at.y - reach_y)
    high = at.y - radius - 1.2 * _LOOP
    bends = _xy((left[0] - 0.6 * _LOOP, high)), _xy((right[0] + 0.6 * _LOOP, high))
    path = f"M{_xy(left)}C{bends[0]} {bends[1]} {_xy(right)}"
    return _drawn(path, right, math.radians(112), (at.x, at.y - radius - _LOOP - 3), edge)


def _edge(edge: Edge, layout: Layout, chain: Sequence[int], radii: Sequence[float]) -> str:
    """A smooth line through the points of the chain, horizontal under its label."""
    source, target = layout.points[edge.source], layout.points[edge.target]
    rightward = 1.0 if source.x < target.x else -1.0
    stops: list[_XY] = []
    label_at = None
    for number in chain:
        point = layout.points[number]
        if point.width:  # the label is on the line, which is horizontal under it
            label_at = (point.x, point.y - 5)
            half = rightward * point.width / 2
            stops += [(point.x - half, point.y), (point.x + half, point.y)]
        else:
            stops.append((point.x, point.y))
    begin, leaving = _border(source, radii[edge.source], stops[0])
    end, arriving = _border(target, radii[edge.target], stops[-1])
    out = (1.0, 0.0) if leaving else _direction((source.x, source.y), begin)
    into = (1.0, 0.0) if arriving else _direction(end, (target.x, target.y))
    path = f"M{_xy(begin)}"
    here = begin
    for there in (*leaving, *stops, *arriving, end):
        bend = (there[0] - here[0]) / 2
        first, second = (here[0] + bend, here[1]), (there[0] - bend, there[1])
        if here is begin:
            first = here[0] + bend * abs(out[0]), here[1] + abs(bend) * out[1]
        if there is end:
            second = end[0] - bend * abs(into[0]), end[1] - abs(bend) * into[1]
        path += f"C{_xy(first)} {_xy(second)} {_xy(there)}"
        here = there
    angle = math.atan2(into[1], rightward * abs(into[0]))
    return _drawn(path, end, angle, label_at or here, edge)


def _direction(begin: _XY, end: _XY) -> _XY:
    """The unit vector from one position to another."""
    length = math.dist(begin, end)
    return (end[0] - begin[0]) / length, (end[1] - begin[1]) / length


def _border(state: Point, radius: float, towards: _XY) -> tuple[_XY, list[_XY]]:
    """The point of a state's circle that faces ``towards``; not too steep, so that lines leave sideways.

    A state with a label above it is wider than its circle; the second result is a stop at its side, which
    keeps lines horizontal until they are past the label.
    """
    rightward = 1.0 if towards[0] >= state.x else -1.0
    steep = math.atan2(towards[1] - state.y, abs(towards[0] - state.x))
    steep = max(-1.0, min(1.0, steep))
    at = state.x + rightward * radius * math.cos(steep), state.y + radius * math.sin(steep)
    side = state.x + rightward * state.width / 2
    return at, [(side, at[1])] if state.width > 2 * radius + 1 else []


def _drawn(path: str, tip: _XY, angle: float, label_at: _XY, edge: Edge) -> str:
    """A line, its arrow and its label, with a longer list of symbols as its tooltip."""
    wings = [
        (tip[0] - _ARROW * math.cos(angle + turn), tip[1] - _ARROW * math.sin(angle + turn))
        for turn in (0.4, -0.4)
    ]
    return (
        f"<g><title>{_text(f'{edge.source} → {edge.target}: {edge.title}')}</title>"
        f'<path d="{path}" stroke="{EDGE_COLOUR}" stroke-width="1.3"/>'
        f'<path d="M{_xy(tip)}L{_xy(wings[0])} {_xy(wings[1])}Z" fill="{EDGE_COLOUR}"/>'
        f'<text x="{label_at[0]:.1f}" y="{label_at[1]:.1f}" fill="{LABEL_COLOUR}" xml:space="preserve">'
        f"{_text(edge.label)}</text></g>"
    )


def _xy(position: _XY) -> str:
    return f"{position[0]:.1f},{position[1]:.1f}"


def _text(text: str) -> str:
    """Text for XML, which does not allow control characters and lone surrogates, not even escaped."""
    return escape(printable(text))
