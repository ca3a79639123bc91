# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Correlations of the estimates: a picture, and the strongest pairs by name."""

from __future__ import annotations

from dataclasses import dataclass
import io
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.estimation import Covariance
from robot_identification.model import IdentifiedModel
from robot_identification.report.figures import WIDTH
from robot_identification.report.plot import box, Drawing, FONT_SIZE, image_at, Picture, text_at

# Of the matrix and of the bar beside it [points]: left, top, size; left, width.
MATRIX, BAR = (66.0, 68.0, 270.0), (348.0, 11.0)
# Pixels of an entry, chosen: an entry's edge stays sharp where the picture is enlarged.
ENTRY_PIXELS = 8
# ColorBrewer's RdBu, from -1 to 1.
COLOURS = (
    '#053061', '#2166ac', '#4393c3', '#92c5de', '#d1e5f0', '#f7f7f7', '#fddbc7', '#f4a582',
    '#d6604d', '#b2182b', '#67001f',
)
SHADES = 201  # of the palette, for steps of 0.01
MOST_PAIRS = 12  # rows of the table
# Names that fit beside the picture.
MOST_NAMES = 24
# Correlation of two estimates above which the data hardly distinguish them.
STRONG_CORRELATION = 0.95
_SMALL = FONT_SIZE - 2.0  # [points]
_FRAME = 'fill="none" stroke="currentColor" stroke-width="10"'
# Where nothing else is known: many degrees of freedom.
MANY = 1.0e6


@dataclass(frozen=True)
class Pair:
    """Two parameters whose estimates go together; `correlation` from -1 to 1."""

    first: str
    second: str
    correlation: float


def covariance_from_model(model: IdentifiedModel) -> Covariance:
    """Return the covariance of a model's base parameters, with its degrees of freedom."""
    b = len(model.theta_base)
    known = model.quality.get('degrees_of_freedom')
    return Covariance(
        model.covariance_kind,
        model.covariance,
        np.full(b, MANY) if known is None else np.asarray(known, dtype=float),
        ~(np.diag(model.covariance) > 0.0),
    )


def strongest_pairs(model: IdentifiedModel) -> tuple[tuple[Pair, ...], int]:
    """Return the most strongly correlated pairs, and how many are beyond STRONG_CORRELATION."""
    names = model.reduction.names
    first, second = np.triu_indices(len(names), 1)
    values = np.nan_to_num(covariance_from_model(model).correlation)[first, second]
    order = np.argsort(-np.abs(values), kind='stable')[:MOST_PAIRS]
    pairs = tuple(
        Pair(names[first[k]], names[second[k]], float(values[k])) for k in order if values[k]
    )
    return pairs, int(np.count_nonzero(np.abs(values) > STRONG_CORRELATION))


def correlation_picture(model: IdentifiedModel) -> Picture:
    """Draw the correlation matrix of the base parameters of a model."""
    names = model.reduction.names
    correlation = np.nan_to_num(covariance_from_model(model).correlation)
    drawing = Drawing(WIDTH, 0.9 * WIDTH)
    left, top, size = MATRIX
    drawing.add(image_at(left, top, size, size, _as_png(correlation)))
    drawing.add(box(left, top, size, size, _FRAME))
    step = math.ceil(len(names) / MOST_NAMES)
    for index in range(0, len(names), step):
        at, name = (index + 0.5) * size / len(names), _short(names[index])
        drawing.add(text_at(
            left + at + 0.3 * _SMALL, top - 5.0, name, turned=True, size=_SMALL
        ))
        drawing.add(text_at(
            left - 4.0, top + at + 0.36 * _SMALL, name, anchor='end', size=_SMALL
        ))
    at, width = BAR
    drawing.add(image_at(at, top, width, size, _as_png(np.linspace(1.0, -1.0, SHADES)[:, None])))
    drawing.add(box(at, top, width, size, _FRAME))
    for value in (1.0, 0.5, 0.0, -0.5, -1.0):
        drawing.add(text_at(
            at + width + 4.0, top + 0.5 * (1.0 - value) * size + 0.36 * _SMALL, f'{value:g}',
            size=_SMALL,
        ))
    return drawing.picture(
        '', f'Correlations of {len(names)} estimates, red for +1, blue for -1'
    )


def _as_png(values: FloatArray) -> bytes:
    """Return values from -1 to 1 as a picture of as many squares."""
    from PIL import Image

    shades = np.rint((0.5 + 0.5 * np.clip(values, -1.0, 1.0)) * (SHADES - 1)).astype(np.uint8)
    image = Image.fromarray(shades.repeat(ENTRY_PIXELS, axis=0).repeat(ENTRY_PIXELS, axis=1))
    anchors = np.array([tuple(bytes.fromhex(colour[1:])) for colour in COLOURS], dtype=float)
    at = np.linspace(0.0, len(COLOURS) - 1.0, SHADES)
    palette = np.column_stack([
        np.interp(at, np.arange(len(COLOURS)), channel) for channel in anchors.T
    ])
    image.putpalette(np.rint(palette).astype(np.uint8).tobytes())
    buffer = io.BytesIO()
    image.save(buffer, format='png')
    return buffer.getvalue()


def _short(name: str) -> str:
    """Return a name without the constants of a friction term, which have no room."""
    head, bracket, tail = name.partition('[')
    return f'{head}{tail.partition("]")[2]}' if bracket else name
