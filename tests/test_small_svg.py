"""``benchmarks.common.small_svg``: a picture of matplotlib in fewer bytes."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from benchmarks.common.small_svg import small

PICTURE = """<?xml version="1.0" encoding="utf-8"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 99 99">
 <metadata>made by a program</metadata>
 <defs><style type="text/css">*{stroke-linejoin: round}</style></defs>
 <defs><path id="m1234567" d="M 0 0
L 0 3.5
" style="stroke: #7a7a7a"/></defs>
 <g id="axes_1">
  <g id="tick_1"><g><use xlink:href="#m1234567" x="10.123456" y="5" style="fill: red; stroke: red"/></g></g>
  <g id="tick_2"><g><use xlink:href="#m1234567" x="20.000001" y="5" style="fill: red; stroke: red"/></g></g>
  <g id="tick_3"><g><use xlink:href="#m1234567" x="30" y="5" style="fill: red; stroke: red"/></g></g>
  <!-- a title -->
  <text style="fill: blue" transform="translate(1.23456 2) rotate(-90)">a <tspan dy="-3">b</tspan></text>
  <g clip-path="url(#p0)"><path d="M 0 0
L 10.000000 0.000000
L 20.0000001 0
L 20 9.999
L 10 9
z
M 1 1 C 1 2 3 4 5.129 6"/></g>
 </g>
 <defs><clipPath id="p0"><rect x="1.005" y="2" width="3.14159" height="4"/></clipPath></defs>
</svg>
"""


def test_a_picture_keeps_what_is_drawn() -> None:
    text = small(PICTURE)
    root = ElementTree.fromstring(text)
    tags = " ".join(one.tag.partition("}")[2] for one in root.iter())
    assert tags == "svg defs style defs path use use use text tspan g path defs clipPath rect"
    marks = [one for one in root.iter() if one.tag.endswith("use")]
    assert [one.get("x") for one in marks] == ["10.12", "20", "30"]
    assert {one.get("class") for one in marks} == {"s0"}
    assert ".s0{fill: red; stroke: red}" in text
    mark = next(one for one in root.iter() if one.get("id", "").startswith("n"))
    assert {one.get("{http://www.w3.org/1999/xlink}href") for one in marks} == {f"#{mark.get('id')}"}


def test_lines_lose_points_where_they_do_not_bend() -> None:
    assert 'd="M0 0 L20 0 20 10 10 9 Z M1 1 C1 2 3 4 5.13 6"' in small(PICTURE)


def test_text_and_clips_stay() -> None:
    text = small(PICTURE)
    assert '<text style="fill: blue" transform="translate(1.23 2) rotate(-90)">a <tspan' in text
    clip = next(one for one in ElementTree.fromstring(text).iter() if one.tag.endswith("clipPath"))
    assert f"url(#{clip.get('id')})" in text


def test_it_is_much_smaller() -> None:
    assert len(small(PICTURE)) < 0.75 * len(PICTURE)
