# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Correlations of the estimates: a picture, and the strongest pairs by name."""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from robot_identification.estimation import Covariance
from robot_identification.model import IdentifiedModel
from robot_identification.report.canvas import new_figure
from robot_identification.report.figures import FONT_SIZE, Picture, picture_of, WIDTH

RESOLUTION = 110.0  # [dots per inch]
MOST_PAIRS = 12  # rows of the table
# Names that fit beside the picture.
MOST_NAMES = 24
# Correlation of two estimates above which the data hardly distinguish them.
STRONG_CORRELATION = 0.95
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
    figure = new_figure(WIDTH, 0.9 * WIDTH, RESOLUTION, (0.95, 0.1, 0.45, 0.95))
    axes = figure.subplots()
    image = axes.imshow(
        correlation, cmap='RdBu_r', vmin=-1.0, vmax=1.0, interpolation='nearest', aspect='equal'
    )
    step = math.ceil(len(names) / MOST_NAMES)
    at = np.arange(0, len(names), step)
    shown = [_short(names[index]) for index in at]
    axes.set_xticks(at, shown, rotation=90, fontsize=FONT_SIZE - 2)
    axes.set_yticks(at, shown, fontsize=FONT_SIZE - 2)
    axes.xaxis.tick_top()
    bar = figure.colorbar(image, ax=axes, fraction=0.04, pad=0.03)
    bar.ax.tick_params(labelsize=FONT_SIZE - 1)
    return picture_of(
        figure, '', f'Correlations of {len(names)} estimates, red for +1, blue for -1',
        colours=256,
    )


def _short(name: str) -> str:
    """Return a name without the constants of a friction term, which have no room."""
    head, bracket, tail = name.partition('[')
    return f'{head}{tail.partition("]")[2]}' if bracket else name
