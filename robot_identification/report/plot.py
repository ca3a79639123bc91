# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Figures as SVG: panels of curves, dots and bars.

A drawing library takes a tenth of a second to load and as long for each figure with four panels;
the figures of an identification took a quarter of its time. These take a millisecond a panel, are
sharp at every size, and the same data give the same bytes.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
import math
from typing import Any

from markupsafe import escape, Markup
import numpy as np
from robot_identification.arrays import FloatArray

# Okabe and Ito's colours beside grey: distinguishable in every kind of colour vision.
MEASURED, PREDICTED, RESIDUAL, URDF_COLOUR = '#767676', '#0072b2', '#d55e00', '#cc79a7'
GRID = '#e0e0e0'
BAND = '#cfe3ef'  # what a band is filled with
SAMPLES, BARS = '#c9ccd0', '#e6a57e'  # dots of samples, bars of a histogram
# Variables of the style sheet, which changes them on a dark screen; `#000` is the text's colour.
INKS = {
    MEASURED: 'measured', PREDICTED: 'predicted', RESIDUAL: 'residual', URDF_COLOUR: 'urdf',
    GRID: 'grid', BAND: 'band', SAMPLES: 'samples', BARS: 'bars',
}
FONT_SIZE = 10.0  # [points]
# Chosen: of a digit over the font's size, the widest of the usual fonts.
DIGIT_WIDTH = 0.62
# Whole numbers in the file are these of a point: finer than a pixel of a sharp screen.
UNITS = 20
POINTS_PER_INCH = 72.0
# Room of a tick's label along the axis [points], and most ticks; chosen: labels do not touch.
ROOM_ACROSS, ROOM_UP = 34.0, 13.0
MOST_INTERVALS = 7
TICK_LENGTH, LABEL_GAP = 3.5, 3.0  # [points]
# Steps between ticks that are easy to count in; the last is the first of the next decade.
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
# Free space beyond the data, of their range.
MARGIN_ACROSS, MARGIN_UP = 0.01, 0.05
_SUPERSCRIPTS = str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹')


@dataclass(frozen=True)
class Picture:
    """A figure inside the page."""

    markup: Markup  # what stands for it in the page
    title: str  # what stands above it; may be empty
    alternative: str  # alternative text


@dataclass
class Axis:
    """One direction of a panel: its label, its scale and its limits."""

    length: float  # [points]
    room: float  # of a tick's label along the axis [points]
    margin: float  # of the range, free at both ends
    label: str = ''
    logarithmic: bool = False
    ticked: bool = True
    numbered: bool = True  # whether ticks have numbers
    # Whether it is the time of a recording, which the page's script can enlarge.
    is_time: bool = False
    # Of the data, or as set.
    low: float = math.inf
    high: float = -math.inf
    fixed: bool = False

    def include(self, values: FloatArray) -> None:
        """Widen the limits to finite values."""
        values = values[np.isfinite(values) & ((values > 0.0) | (not self.logarithmic))]
        if values.size and not self.fixed:
            self.low = min(self.low, float(values.min()))
            self.high = max(self.high, float(values.max()))

    def set_limits(self, low: float, high: float) -> None:
        """Show this range instead of that of the data."""
        self.low, self.high, self.fixed = low, high, True

    def ends(self) -> tuple[float, float]:
        """Return both ends of the axis, as logarithms to base 10 if it is logarithmic."""
        if self.low > self.high:
            return 0.0, 1.0
        low, high = self.low, self.high
        if self.logarithmic:
            low, high = math.log10(low), math.log10(high)
        room = 0.0 if self.fixed else self.margin * (high - low)
        # A constant has an axis, too.
        size = max(abs(low), abs(high))
        if high - low <= 1e-9 * size or not size:
            room = 1.0 if self.logarithmic or not size else 0.05 * size
        return low - room, high + room

    def place(self, values: FloatArray) -> FloatArray:
        """Return how far along the axis values are [points]; NaN for what it cannot show."""
        low, high = self.ends()
        if self.logarithmic:
            values = np.log10(np.where(values > 0.0, values, np.nan))
        return (values - low) / (high - low) * self.length

    def ticks(self) -> list[tuple[float, str]]:
        """Return place [points] and text of the ticks."""
        if not self.ticked:
            return []
        low, high = self.ends()
        most = min(self.length / self.room, MOST_INTERVALS)
        if self.logarithmic:
            values = _logarithmic_ticks(low, high, most)
            texts = [_power(value) for value in values]
        else:
            values = _linear_ticks(low, high, most)
            texts = [f'{value:.4g}' for value in values]
        return list(zip(self.place(np.array(values)).tolist(), texts, strict=True))


def _linear_ticks(low: float, high: float, most: float) -> list[float]:
    """Return round values between two ends, at most so many intervals apart."""
    raw = (high - low) / most
    decade = 10.0 ** math.floor(math.log10(raw))
    step = next(step for step in STEPS if step * decade >= raw * (1.0 - 1e-9)) * decade
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # Zero is never -0.
    return [number * step + 0.0 for number in range(first, last + 1)]


def _logarithmic_ticks(low: float, high: float, most: float) -> list[float]:
    """Return 1, 2 and 5 of every decade, or so many decades apart that there is room."""
    decades = range(math.floor(low), math.ceil(high) + 1)
    for factors, every in (((1, 2, 5), 1), *(((1,), every) for every in range(1, len(decades)))):
        values = [
            factor * 10.0**decade
            for decade in decades if decade % every == 0 for factor in factors
            if low <= math.log10(factor) + decade <= high
        ]
        if len(values) <= most + 1:
            break
    return values


def _power(value: float) -> str:
    """Return a tick of a logarithmic axis as text."""
    decade = math.floor(math.log10(value) + 1e-9)
    if abs(decade) <= 3:
        return f'{value:g}'
    factor = round(value / 10.0**decade)
    return f'{"" if factor == 1 else f"{factor}·"}10{str(decade).translate(_SUPERSCRIPTS)}'


@dataclass(frozen=True, eq=False)
class Mark:
    """Curve, dots or filled polygon of a panel."""

    x: FloatArray
    y: FloatArray
    colour: str
    width: float = 0.0  # of a curve, or of a dot [points]; zero of a polygon
    dots: bool = False
    dashed: bool = False
    name: str = ''  # of a curve whose values the page's script reads

    def attributes(self) -> str:
        """Return how it looks, in SVG."""
        ink = _ink(self.colour)
        if not self.width:
            return f'fill="{ink}" stroke="none"'
        dashes = f' stroke-dasharray="{_units(4.0)}"' if self.dashed else ''
        round_ends = ' stroke-linecap="round"' if self.dots else ''
        named = f' data-name="{self.name}"' if self.name else ''
        return f'stroke="{ink}" stroke-width="{_units(self.width)}"{round_ends}{dashes}{named}'


@dataclass
class Panel:
    """One pair of axes; places are in points from the drawing's upper left corner."""

    left: float
    top: float
    x: Axis
    y: Axis
    marks: list[Mark] = field(default_factory=list)

    def curve(
        self, x: FloatArray, y: FloatArray, colour: str, width: float, *, name: str = '',
        dashed: bool = False,
    ) -> None:
        """
        Draw a curve, broken where a value is not finite; its width is in points.

        The page's script reads values of curves with a name.
        """
        self._add(Mark(x, y, colour, width, dashed=dashed, name=name))

    def dots(self, x: FloatArray, y: FloatArray, colour: str, size: float) -> None:
        """Draw a dot at every pair of finite values; its diameter is in points."""
        self._add(Mark(x, y, colour, size, dots=True))

    def bars(self, edges: FloatArray, heights: FloatArray, colour: str) -> None:
        """Fill the bins (m,) of a histogram between edges (m + 1,)."""
        self.fill(
            np.repeat(edges, 2), np.concatenate([[0.0], np.repeat(heights, 2), [0.0]]), colour
        )

    def error_bars(self, x: FloatArray, y: FloatArray, half: FloatArray, colour: str) -> None:
        """Draw a bar from y - half to y + half at every x."""
        nothing = np.full(len(x), np.nan)
        self.curve(
            np.column_stack([x, x, nothing]).ravel(),
            np.column_stack([y - half, y + half, nothing]).ravel(), colour, 0.8,
        )

    def level(self, y: float, colour: str = '#000', width: float = 0.6) -> None:
        """Draw a line across the panel."""
        self.curve(np.array([-np.inf, np.inf]), np.array([y, y]), colour, width)

    def band(self, low: float, high: float, colour: str) -> None:
        """Fill what lies between two levels."""
        ends = np.array([-np.inf, np.inf])
        self.area(ends, np.full(2, low), np.full(2, high), colour)

    def area(self, x: FloatArray, low: FloatArray, high: FloatArray, colour: str) -> None:
        """Fill what lies between two curves over the same x."""
        self.fill(np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]]), colour)

    def fill(self, x: FloatArray, y: FloatArray, colour: str) -> None:
        """Fill a polygon."""
        self._add(Mark(x, y, colour))

    def label(self, vertical: str, horizontal: str) -> None:
        """Name the axes; a line break in the vertical label makes two lines."""
        self.y.label, self.x.label = vertical, horizontal

    def svg(self, width: float) -> str:
        """Return the panel for a drawing so wide [points]."""
        inside = ''.join(map(self._path, self.marks))
        box = (
            f'x="{_units(self.left)}" y="{_units(self.top)}" '
            f'width="{_units(self.x.length)}" height="{_units(self.y.length)}"'
        )
        below, above = self._ticks(width)
        # An SVG in an SVG shows nothing beyond its edge.
        return (
            f'<g>{below}<svg {box} fill="none" stroke-linejoin="round"{self._scales()}>{inside}'
            f'</svg>{above}</g>'
        )

    def _scales(self) -> str:
        """Return what the page's script needs to read and to enlarge curves."""
        ends = ' '.join(
            f'data-{name}="{low:.9g} {high:.9g}{" log" if axis.logarithmic else ""}"'
            for name, axis in (('x', self.x), ('y', self.y)) for low, high in [axis.ends()]
        )
        time = ' data-time="1"' if self.x.is_time else ''
        label = f' data-label="{escape(self.x.label)}"' if self.x.label else ''
        return f' {ends}{time}{label}'

    def _add(self, mark: Mark) -> None:
        self.x.include(mark.x)
        self.y.include(mark.y)
        self.marks.append(mark)

    def _path(self, mark: Mark) -> str:
        """Return a mark in units of the drawing, from the panel's upper left corner."""
        across, up, x, y = self.x.length, self.y.length, mark.x, mark.y
        # What is far outside stays there, in numbers of a few digits.
        right = np.clip(np.where(np.isinf(x), np.sign(x) * 2.0 * across, self.x.place(x)),
                        -across, 2.0 * across)
        down = np.clip(up - self.y.place(y), -up, 2.0 * up)
        whole = np.column_stack([right, down]) * UNITS
        seen = np.isfinite(whole).all(axis=1)
        places = np.rint(np.where(seen[:, None], whole, 0.0)).astype(int)
        edges = np.flatnonzero(np.diff(seen.astype(int), prepend=0, append=0)).reshape(-1, 2)
        path = ''.join(_piece(places[first:last], mark.dots) for first, last in edges)
        return f'<path d="{path}" {mark.attributes()}/>' if path else ''

    def _ticks(self, width: float) -> tuple[str, str]:
        """Return what stands below the curves, the grid, and what stands around them."""
        left, top = self.left, self.top
        right, below = left + self.x.length, top + self.y.length
        across, up = self.x.ticks(), self.y.ticks()
        lines = ''.join(f'M{_units(left + at)} {_units(top)}V{_units(below)}' for at, _ in across)
        levels = ''.join(f'M{_units(left)} {_units(below - at)}H{_units(right)}' for at, _ in up)
        marks = ''.join(
            f'M{_units(left + at)} {_units(below)}v{_units(TICK_LENGTH)}' for at, _ in across
        )
        frame = f'M{_units(left)} {_units(top)}V{_units(below)}H{_units(right)}' + ''.join(
            f'M{_units(left)} {_units(below - at)}h{_units(-TICK_LENGTH)}' for at, _ in up
        )
        beside, under = left - TICK_LENGTH - LABEL_GAP, below + TICK_LENGTH + FONT_SIZE
        numbers = ''.join(
            _text_within(left + at, under, text, width) for at, text in across if self.x.numbered
        )
        texts = [
            text_at(beside, below - at + 0.36 * FONT_SIZE, text, anchor='end')
            for at, text in up if self.y.numbered
        ]
        if self.x.label:
            texts.append(text_at(
                left + 0.5 * self.x.length, under + 1.5 * FONT_SIZE, self.x.label,
                anchor='middle',
            ))
        widest = max([len(text) for _, text in up if self.y.numbered], default=0)
        line = beside - widest * DIGIT_WIDTH * FONT_SIZE - 0.6 * FONT_SIZE
        for text in reversed(self.y.label.split('\n')) if self.y.label else ():
            texts.append(text_at(
                line, top + 0.5 * self.y.length, text, anchor='middle', turned=True
            ))
            line -= 1.2 * FONT_SIZE
        thin = f'stroke="{_ink(GRID)}" stroke-width="{_units(0.6)}" fill="none"'
        thick = f'stroke="currentColor" stroke-width="{_units(0.8)}" fill="none"'
        # The page's script redraws what has a class.
        return (
            f'<path class="lines" d="{lines}" {thin}/><path d="{levels}" {thin}/>',
            f'<path d="{frame}" {thick}/><path class="marks" d="{marks}" {thick}/>'
            f'<g class="numbers">{numbers}</g>{"".join(texts)}',
        )


class Drawing:
    """A figure of panels; size in inch, later in points."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = POINTS_PER_INCH * width, POINTS_PER_INCH * height
        self.all_panels: list[Panel] = []
        self._parts: list[str] = []

    def panels(
        self,
        margins: Sequence[float],
        *,
        rows: Sequence[float] = (1.0,),
        columns: int = 1,
        gaps: tuple[float, float] = (0.0, 0.0),
    ) -> list[Panel]:
        """
        Add panels in rows of these shares of the height; return them row by row.

        `margins` are the space of the labels at the left, below, at the right and above, `gaps`
        that between columns and rows [inch].
        """
        left, below, right, above = (POINTS_PER_INCH * margin for margin in margins)
        between, apart = (POINTS_PER_INCH * gap for gap in gaps)
        across = (self.width - left - right - between * (columns - 1)) / columns
        free = self.height - below - above - apart * (len(rows) - 1)
        top, added = above, []
        for share in rows:
            up = free * share / sum(rows)
            added += [
                Panel(
                    left + number * (across + between), top,
                    Axis(across, ROOM_ACROSS, MARGIN_ACROSS), Axis(up, ROOM_UP, MARGIN_UP),
                )
                for number in range(columns)
            ]
            top += up + apart
        self.all_panels += added
        return added

    def add(self, part: str) -> None:
        """Add SVG in units of the drawing."""
        self._parts.append(part)

    def picture(self, title: str, alternative: str) -> Picture:
        """Return the picture; the title may be empty, `alternative` is for screen readers."""
        inside = ''.join([*(panel.svg(self.width) for panel in self.all_panels), *self._parts])
        width, height = self.width, self.height
        scale = 96.0 / POINTS_PER_INCH  # pixels of CSS to the point
        text = (
            f'<svg class="plot" role="img" aria-label="{escape(alternative)}" '
            f'width="{scale * width:.0f}" height="{scale * height:.0f}" '
            f'viewBox="0 0 {_units(width)} {_units(height)}" fill="currentColor" '
            f'font-family="system-ui,sans-serif" font-size="{_units(FONT_SIZE)}">{inside}</svg>'
        )
        return Picture(Markup(text), title, alternative)


def text_at(
    x: float, y: float, text: str, *, anchor: str = 'start', turned: bool = False,
    size: float = FONT_SIZE,
) -> str:
    """Return a text with its baseline at a place [points], turned by 90 deg if asked."""
    where: Any = f'x="{_units(x)}" y="{_units(y)}"'
    if turned:
        where = f'transform="translate({_units(x)} {_units(y)})rotate(-90)"'
    if size != FONT_SIZE:
        where += f' font-size="{_units(size)}"'
    if anchor != 'start':
        where += f' text-anchor="{anchor}"'
    return f'<text {where}>{escape(text)}</text>'


def box(x: float, y: float, width: float, height: float, how: str) -> str:
    """Return a rectangle [points] with these attributes."""
    return (
        f'<rect x="{_units(x)}" y="{_units(y)}" width="{_units(width)}" '
        f'height="{_units(height)}" {how}/>'
    )


def image_at(x: float, y: float, width: float, height: float, png: bytes) -> str:
    """Return a PNG drawn into a rectangle [points]."""
    source = f'data:image/png;base64,{base64.b64encode(png).decode("ascii")}'
    return box(
        x, y, width, height, f'preserveAspectRatio="none" href="{source}"'
    ).replace('<rect', '<image')


def _text_within(x: float, y: float, text: str, width: float) -> str:
    """Return a text with its middle at a place, moved where it would end beyond the drawing."""
    if x + 0.5 * DIGIT_WIDTH * FONT_SIZE * len(text) > width:
        return text_at(width, y, text, anchor='end')
    return text_at(x, y, text, anchor='middle')


def _ink(colour: str) -> str:
    """Return a colour that the page's style sheet can change."""
    if colour == '#000':
        return 'currentColor'
    return f'var(--{INKS[colour]},{colour})' if colour in INKS else colour


def _units(points: float) -> int:
    return round(UNITS * points)


def _piece(places: np.ndarray, dots: bool) -> str:
    """Return the path of places (m, 2) in units, without those that repeat the one before."""
    steps = np.diff(places, axis=0)
    steps = steps[np.any(steps != 0, axis=1)]
    start = 'M{} {}'.format(*places[0])
    if dots:
        return start + 'h0' + ''.join(
            [f'm{right} {down}h0' for right, down in steps.tolist()]
        ).replace(' -', '-')
    # A minus sign parts two numbers as well as a blank.
    path = ' '.join(map(str, steps.ravel().tolist())).replace(' -', '-')
    return f'{start}l{path}' if path else f'{start}h0'
