# SPDX-License-Identifier: Apache-2.0
"""The drawing of a :class:`op_extension.picture.Picture`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from op_extension.picture import Lane, Picture, Step

__all__ = ["svg_of"]

# In pixels.
_ROW = 20
_LANE = 150
_LEFT = 50
_RIGHT = 220
_MAP = 760  # width of a space
_COLORS = {
    "PIPE_S": "#dddddd",
    "PIPE_MTE2": "#a6cee3",
    "PIPE_MTE1": "#c6dbef",
    "PIPE_M": "#fdbf6f",
    "PIPE_V": "#b2df8a",
    "PIPE_FIX": "#e5c7e6",
    "PIPE_MTE3": "#fb9a99",
}
_STYLE = (
    "text { font: 12px monospace } .small { font-size: 10px } .flag { fill: #555555 } .end { text-anchor: end } "
    ".head { font-weight: bold }"
)
_ARROW = (
    '<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
    '<path d="M0 0 L8 4 L0 8 z" fill="#cc3311"/></marker>'
)


def _text(x: float, y: float, text: str, css: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}"{f" class={quoteattr(css)}" if css else ""}>{escape(text)}</text>'


def _box(x: float, y: float, width: float, height: float, fill: str, title: str) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" stroke="#333333" '
        f'stroke-width="0.5"><title>{escape(title)}</title></rect>'
    )


def _map(picture: Picture, top: float) -> tuple[list[str], float]:
    """The spaces with their tiles, and where the drawing ends."""
    drawn: list[str] = []
    for name, use in picture.memory.spaces.items():
        mine = picture.memory.tiles[picture.memory.tiles["space"] == name]
        drawn.append(_text(_LEFT, top + 14, f"{name}: peak {use.peak} of {use.capacity} bytes", "head"))
        scale = _MAP / max(use.peak, 1)
        for tile in mine:
            top += _ROW
            begin, end = tile["address"], tile["address"] + tile["bytes"]
            what = f"{tile['dtype']} {tile['rows']}x{tile['columns']} {tile['line'].rpartition('/')[2]}"
            x, width = _LEFT + begin * scale, max(tile["bytes"] * scale, 1)
            drawn.append(_box(x, top, width, _ROW - 4, "#eeeecc", tile["line"]))
            is_right = x + width > _LEFT + _MAP / 2  # its text stands before it, or in it
            beside = (x + width if width > _MAP / 2 else x) - 4 if is_right else x + width + 4
            drawn.append(_text(beside, top + 12, f"{begin:#x} - {end:#x} {what}", "small end" if is_right else "small"))
        top += 1.5 * _ROW
    return drawn, top


class _Order:
    """The steps: a row for each, a column for each pipe."""

    def __init__(self, picture: Picture, top: float) -> None:
        self.picture = picture
        self.top = top
        self.lanes = picture.lanes

    def lanes_of(self, step: Step) -> list[int]:
        """Columns of a step: of one on all pipes those of its core."""
        mine = [n for n, lane in enumerate(self.lanes) if lane[:2] == (step.core, step.sub_block)]
        return [n for n in mine if self.lanes[n].pipe == step.pipe] or mine

    def y(self, number: int) -> float:
        """Top of a row."""
        return self.top + (number + 1) * _ROW

    def draw(self) -> Iterator[str]:
        """Headings, steps, arrows."""
        for number, lane in enumerate(self.lanes):
            yield _text(_LEFT + number * _LANE, self.top + 14, _heading(lane), "head")
            x = _LEFT + number * _LANE + _LANE / 2 - 5
            yield f'<path d="M{x:g} {self.y(0):g} V{self.y(len(self.picture.steps)):g}" stroke="#dddddd"/>'
        for number, step in enumerate(self.picture.steps):
            yield from self._draw_step(number, step)
        for begin, end in self.picture.arrows:
            yield self._draw_arrow(begin, end)

    def _draw_step(self, number: int, step: Step) -> Iterator[str]:
        lanes, y = self.lanes_of(step), self.y(number)
        x, width = _LEFT + lanes[0] * _LANE, (lanes[-1] - lanes[0] + 1) * _LANE - 10
        yield _text(8, y + 14, str(number + 1), "small")
        if step.kind == "instruction":
            yield _box(x, y + 2, width, _ROW - 4, _COLORS.get(step.pipe, "#ffffff"), step.line)
            yield _text(x + 4, y + 14, step.label)
        elif step.kind in ("barrier", "meet"):
            yield f'<path d="M{x:g} {y + 10:g} h{width:g}" stroke="#333333" stroke-width="3"/>'
            yield _text(x + width + 2, y + 7, step.label, "small")
        else:
            yield _text(x + 4, y + 14, step.label, "small flag")
        yield _text(_LEFT + len(self.lanes) * _LANE, y + 14, step.line.rpartition("/")[2], "small")

    def _draw_arrow(self, begin: int, end: int) -> str:
        from_lane = self.lanes_of(self.picture.steps[begin])[0]
        to_lane = self.lanes_of(self.picture.steps[end])[0]
        forth = from_lane < to_lane
        x = _LEFT + from_lane * _LANE + (_LANE - 10 if forth else 0)
        to_x = _LEFT + to_lane * _LANE + (0 if forth else _LANE - 10)
        y, to_y = self.y(begin) + 10, self.y(end) + 10
        return f'<path d="M{x:g} {y:g} L{to_x:g} {to_y:g}" stroke="#cc3311" fill="none" marker-end="url(#tip)"/>'


def _heading(lane: Lane) -> str:
    return f"{lane.core} {lane.sub_block} {lane.pipe.removeprefix('PIPE_')}"


def svg_of(picture: Picture) -> str:
    """The map of the tiles above, the steps below."""
    title = f"kernel {picture.kernel}, block 0" + ("" if picture.is_whole else ", the steps that are recorded")
    drawn, top = _map(picture, _ROW * 2)
    order = _Order(picture, top)
    steps = list(order.draw())
    width = max(_LEFT + len(order.lanes) * _LANE + _RIGHT, _LEFT + _MAP + 20)
    height = order.y(len(picture.steps)) + _ROW
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}">',
            f"<style>{_STYLE}</style><defs>{_ARROW}</defs>",
            f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>',
            _text(8, 16, title, "head"),
            *drawn,
            *steps,
            "</svg>",
        ]
    )
