# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The base parameters with all that is known of each, their correlations, and the bodies."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
import io
import math

from markupsafe import Markup
import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.estimation import confidence_intervals, covariance_from_model
from robot_identification.model import (
    CLASSES, IdentifiedModel, linear_classes, prior_inertial_parameters, pseudo_inertia,
    unidentifiable_reasons,
)
from robot_identification.report.figures import WIDTH
from robot_identification.report.formatting import effort_unit_text, fixed, number
from robot_identification.report.plot import box, Drawing, FONT_SIZE, image_at, Picture, text_at

# Above this relative standard error a parameter says little more than its sign.
WEAK_SHARE = 0.5
# ColorBrewer's RdBu, from -1 to 1.
COLOURS = (
    '#053061', '#2166ac', '#4393c3', '#92c5de', '#d1e5f0', '#f7f7f7', '#fddbc7', '#f4a582',
    '#d6604d', '#b2182b', '#67001f',
)
SHADES = 201  # of the palette, for steps of 0.01
# Correlation of two estimates above which the data hardly distinguish them.
STRONG_CORRELATION = 0.95
_SMALL = FONT_SIZE - 2.0  # [points]
_FRAME = 'fill="none" stroke="currentColor" stroke-width="10"'


@dataclass(frozen=True)
class Coefficient:
    """One estimated number; all values are in `unit`."""

    name: str  # leading standard parameter
    expression: str  # the combination of standard parameters that it is
    value: float
    standard_error: float
    unit: str  # SI, or per unknown drive gain
    # The same combination of the URDF's bodies; NaN where it holds friction, or a rotor that
    # nothing is known of, which a URDF has not.
    urdf: float
    # Ends of the 95 % interval; NaN of a parameter that a bound holds.
    low: float
    high: float
    by_prior: bool = False  # whether the prior says more of it than the data

    @property
    def relative(self) -> float:
        """Return the standard error over the value's size; NaN where the value is zero."""
        return self.standard_error / abs(self.value) if self.value else math.nan

    @property
    def weak(self) -> bool:
        """Return whether the value is hardly known."""
        return not self.relative <= WEAK_SHARE

    @property
    def combined(self) -> bool:
        """Return whether it stands for more than the parameter that it is named after."""
        return self.expression != self.name


def coefficients(
    model: IdentifiedModel, decided_by_prior: Collection[str] = ()
) -> tuple[Coefficient, ...]:
    """Return all base parameters of a model, friction among them."""
    reduction = model.reduction
    units = reduction.units_of(model.robot)
    urdf = urdf_values(model)
    ends = confidence_intervals(model.theta_base, covariance_from_model(model))
    return tuple(
        Coefficient(
            name, reduction.expression(row), float(model.theta_base[row]),
            float(model.standard_errors[row]), unit_text(units[row], model), float(urdf[row]),
            float(ends[row][0]), float(ends[row][1]), name in decided_by_prior,
        )
        for row, name in enumerate(reduction.names)
    )


def inertial_coefficients(
    model: IdentifiedModel, decided_by_prior: Collection[str] = ()
) -> tuple[Coefficient, ...]:
    """Return the base parameters that are not friction."""
    friction = model.parameters.names[model.parameters.friction_slice]
    return tuple(
        entry for entry in coefficients(model, decided_by_prior) if entry.name not in friction
    )


def unit_text(unit: str, model: IdentifiedModel) -> str:
    """Return a unit; with unknown drive gains, what is left of it per unknown gain."""
    if not model.relative_scale:
        return unit
    effort = effort_unit_text(model.effort_unit)
    return unit.replace('N m', effort) if 'N m' in unit else f'{unit} {effort}/(N m)'


def urdf_values(model: IdentifiedModel) -> FloatArray:
    """
    Return the URDF's values (b,) of the base parameters of a model, in SI units.

    Rotor inertias are those of the robot YAML. NaN where the combination holds anything that
    neither file knows, or the model's scale is unknown.
    """
    reduction, parameters = model.reduction, model.parameters
    if model.relative_scale or reduction.frames != 'joint':
        return np.full(reduction.rank, np.nan)
    known = np.full(parameters.size, np.nan)
    known[: 10 * parameters.n] = prior_inertial_parameters(model.robot)
    if parameters.reflected_inertia:
        known[parameters.reflected_inertia_slice] = model.robot.drives.reflected_inertia
    used = reduction.significant.copy()
    used[np.arange(reduction.rank), reduction.independent] = True
    terms = [row[columns] * known[columns] for row, columns in zip(reduction.K, used, strict=True)]
    values = np.array([one.sum() for one in terms])
    # What is left of a difference of equal numbers is rounding; a sum of doubles has less.
    rounding = 1.0e-12 * np.array([np.abs(one).sum() for one in terms])
    return np.where(np.abs(values) <= rounding, 0.0, values)


def parameter_classes(
    model: IdentifiedModel
) -> tuple[dict[str, tuple[str, ...]], dict[str, list[str]]]:
    """
    Return which standard parameters motion shows alone, in combinations, or not at all.

    By the names in CLASSES; and by reason those of the last class.
    """
    classes = linear_classes(model.reduction)
    by_reason: dict[str, list[str]] = {}
    if model.reduction.frames == 'joint':
        for name, reason in unidentifiable_reasons(model.robot, model.reduction).items():
            by_reason.setdefault(reason, []).append(name)
    return {name: classes[name] for name in CLASSES}, by_reason


def largest_change(entries: Collection[Coefficient]) -> tuple[Coefficient, float] | None:
    """Return the parameter furthest from its URDF value in standard errors, and how far."""
    found = [
        (entry, abs(entry.value - entry.urdf) / entry.standard_error) for entry in entries
        if math.isfinite(entry.urdf) and entry.standard_error > 0.0
    ]
    return max(found, key=lambda one: one[1], default=None)


def body_rows(model: IdentifiedModel) -> list[tuple[str, ...]]:
    """
    Return the bodies that exports use, link by link; none without consistent parameters.

    Joint, mass of the model and of the URDF, centre of mass in the joint's frame, eigenvalues of
    the pseudo-inertia (all positive for a consistent body), and whether such a body can exist.
    """
    if model.theta_consistent is None:
        return []
    inertial = model.theta_consistent[: 10 * model.robot.n].reshape(-1, 10)
    urdf = prior_inertial_parameters(model.robot).reshape(-1, 10)
    rows: list[tuple[str, ...]] = []
    for joint, own, prior in zip(model.robot.joint_names, inertial, urdf, strict=True):
        eigenvalues = np.linalg.eigvalsh(pseudo_inertia(own))
        rows.append((
            joint, number(own[0], 4), number(prior[0], 4),
            ', '.join(fixed(value, 4) for value in own[1:4] / own[0]),
            ', '.join(number(value, 2) for value in eigenvalues),
            Markup('<span class="yes">yes</span>') if eigenvalues[0] > 0.0
            else Markup('<span class="no">no</span>'),
        ))
    return rows


def strongest_pairs(model: IdentifiedModel) -> tuple[list[tuple[str, str, str]], int]:
    """Return the most strongly correlated pairs, and how many are beyond STRONG_CORRELATION."""
    names = model.reduction.names
    first, second = np.triu_indices(len(names), 1)
    values = np.nan_to_num(covariance_from_model(model).correlation)[first, second]
    order = np.argsort(-np.abs(values), kind='stable')[:12]
    pairs = [
        (names[first[k]], names[second[k]], fixed(values[k], 3)) for k in order if values[k]
    ]
    return pairs, int(np.count_nonzero(np.abs(values) > STRONG_CORRELATION))


def correlation_picture(model: IdentifiedModel) -> Picture:
    """Draw the correlation matrix of the base parameters of a model."""
    names = model.reduction.names
    correlation = np.nan_to_num(covariance_from_model(model).correlation)
    drawing = Drawing(WIDTH, 0.9 * WIDTH)
    left, top, size = 66.0, 68.0, 270.0  # of the matrix [points]
    drawing.add(image_at(left, top, size, size, _as_png(correlation)))
    drawing.add(box(left, top, size, size, _FRAME))
    step = math.ceil(len(names) / 24)  # as many as fit
    for index in range(0, len(names), step):
        at, name = (index + 0.5) * size / len(names), _short(names[index])
        drawing.add(text_at(
            left + at + 0.3 * _SMALL, top - 5.0, name, turned=True, size=_SMALL
        ))
        drawing.add(text_at(
            left - 4.0, top + at + 0.36 * _SMALL, name, anchor='end', size=_SMALL
        ))
    at, width = 348.0, 11.0  # of the bar of colours
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
    # Edges of the squares stay sharp where the picture is enlarged.
    image = Image.fromarray(shades.repeat(8, axis=0).repeat(8, axis=1))
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
