# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Friction of each joint: its coefficients, and measured and modelled over its speed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import (
    FrictionLaw, FrictionTerm, IdentifiedModel, nearest_plain_friction,
    rigid_and_transmitted_torque, sliding_speeds, steady_columns,
)
from robot_identification.processing import MOVING_SPEED
from robot_identification.report.explanation import Scored
from robot_identification.report.figures import MARGINS, single_panel
from robot_identification.report.formatting import effort_unit_text, number
from robot_identification.report.parameters import Coefficient, coefficients, unit_text
from robot_identification.report.plot import (
    BAND as BAND_COLOUR, MEASURED, Picture, PREDICTED, RESIDUAL, SAMPLES,
)
from robot_identification.validation import BAND

MOST_SAMPLES = 40_000  # of all recordings together
BINS = 24  # of velocity; chosen: half of them in either direction


@dataclass(frozen=True)
class FrictionEntry:
    """One term of the friction of a joint."""

    term: str  # kind of a dictionary's term, or law with symbol
    # The constant that distinguishes it from others of its kind, with its unit; empty if none.
    constant: str
    coefficient: Coefficient | None  # none where the data do not determine it


@dataclass(frozen=True)
class FrictionTable:
    """Friction by joint, in two arrangements: a grid, or one line for each term."""

    # Of the grid: law with symbol, and unit, of every coefficient.
    columns: tuple[tuple[str, str], ...]
    # Of the grid: joint and its coefficients; None where the joint has no such law, or the data do
    # not determine it.
    rows: tuple[tuple[str, tuple[Coefficient | None, ...]], ...]
    groups: tuple[tuple[str, tuple[FrictionEntry, ...]], ...]  # the lines: joint and its terms
    # Shape constants in words, of laws that all joints have alike; others stand beside terms.
    constants: tuple[str, ...]
    # Of joints with a dictionary: joint, Coulomb and viscous friction nearest to it, and the speed
    # up to which they are; the units of these three.
    nearest: tuple[tuple[str, str, str, str], ...]
    nearest_units: tuple[str, ...]

    @property
    def coefficients(self) -> tuple[Coefficient, ...]:
        """All coefficients, joint by joint."""
        return tuple(
            entry.coefficient for _, entries in self.groups for entry in entries
            if entry.coefficient
        )


def friction_table(model: IdentifiedModel) -> FrictionTable:
    """Return the friction coefficients of a model by joint."""
    parameters, joints = model.parameters, model.robot.joint_names
    found = {entry.name: entry for entry in coefficients(model)}
    columns: dict[tuple[FrictionLaw, int], None] = {}
    cells: dict[tuple[int, FrictionLaw, int], Coefficient | None] = {}
    lines: dict[int, list[FrictionEntry]] = {index: [] for index in range(len(joints))}
    everywhere = {
        law for law, count in Counter(term.law for term in parameters.friction).items()
        if count == len(joints)
    }
    for term, place in parameters.friction_columns:
        for k, name in enumerate(parameters.names[place]):
            columns[term.law, k] = None
            cells[term.joint, term.law, k] = found.get(name)
            words, constant = term.law.label(k)
            if term.law not in everywhere and not constant:
                constant = _constants_beside(term, k)
            constant = model.robot.unit(constant, term.joint)
            lines[term.joint].append(FrictionEntry(words, constant, found.get(name)))
    nearest_units, nearest = _nearest_friction(model)
    return FrictionTable(
        columns=tuple(
            (f'{law.name} {law.symbols[k]}', model.robot.units(unit_text(law.units[k], model)))
            for law, k in columns
        ),
        rows=tuple(
            (joint, tuple(cells.get((index, law, k)) for law, k in columns))
            for index, joint in enumerate(joints) if columns
        ),
        groups=tuple(
            (joint, tuple(lines[index])) for index, joint in enumerate(joints) if columns
        ),
        constants=tuple(
            f'{law.name}: {name} {f"{value:g}" if isinstance(value, float) else value}'
            for law in dict.fromkeys(law for law, _ in columns)
            for name, value in law.constants().items()
            if law in everywhere and not law.is_sparse
        ),
        nearest=nearest,
        nearest_units=nearest_units,
    )


def _constants_beside(term: FrictionTerm, k: int) -> str:
    """Return what stands beside coefficient k: its share of the constants, the last the rest."""
    law = term.law
    if law.is_sparse:
        return ''
    errors = dict(zip(law.shape, term.constant_errors, strict=False))
    texts = [
        f'{name} {number(value, 3) if isinstance(value, float) else value}'
        + (f' +- {number(errors[name], 2)}' if errors.get(name, 0.0) > 0.0 else '')
        for name, value in law.constants().items()
    ]
    return ', '.join(texts[k:] if k == len(law.symbols) - 1 else texts[k:k + 1])


def _nearest_friction(
    model: IdentifiedModel
) -> tuple[tuple[str, ...], tuple[tuple[str, str, str, str], ...]]:
    """Return units and rows of `FrictionTable.nearest`."""
    speeds, loads = model.quality.get('speeds'), model.quality.get('loads')
    if speeds is None or loads is None:
        return (), ()
    units = (unit_text('N m', model), unit_text('N m s/rad', model), 'rad/s')
    found, own_units = [], []
    for term, columns in model.parameters.friction_columns:
        fastest = float(speeds[term.joint])
        if term.law.is_sparse and fastest > 0.0:
            coulomb, viscous = nearest_plain_friction(
                term.law, model.theta_lifted[columns], sliding_speeds(fastest),
                float(loads[term.joint]),
            )
            found.append((
                model.robot.joint_names[term.joint], number(coulomb), number(viscous),
                number(fastest),
            ))
            own_units.append([model.robot.unit(unit, term.joint) for unit in units])
    # Those of joints that turn and of joints that slide.
    columns_of_units = zip(*own_units, strict=True)
    return tuple(' or '.join(dict.fromkeys(column)) for column in columns_of_units), tuple(found)


# --- friction over speed -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FrictionPoints:
    """Friction of one joint over its velocity."""

    joint: str
    unit: str  # of the torques: N m, N of a joint that slides, or A where gains are unknown
    speed_unit: str
    # (m,): velocity [rad/s], and measured torque less that of the model's bodies and rotors.
    speed: FloatArray
    friction: FloatArray
    # (3, k): of samples at similar velocity: its mean, mean friction, and standard deviation of
    # it.
    bins: FloatArray
    # Of the model in steady sliding at the mean load, backward and forward: velocities, torques
    # and the standard errors of these, shape (3, m) each.
    curve: tuple[FloatArray, ...]
    temperature: float  # mean [deg C]; NaN where it was not recorded


def friction_points(model: IdentifiedModel, bags: Sequence[Scored]) -> tuple[FrictionPoints, ...]:
    """Return the friction of every joint that moves."""
    samples = [
        np.concatenate(parts) for parts in zip(
            *(_samples(model, bag, MOST_SAMPLES // len(bags)) for bag in bags), strict=True
        )
    ]
    return tuple(
        _of_joint(model, joint, [values[:, joint] for values in samples])
        for joint in range(model.robot.n)
        if np.abs(samples[0][:, joint]).max(initial=0.0) > MOVING_SPEED
    )


def friction_picture(points: FrictionPoints) -> Picture:
    """Draw the friction of a joint: samples as dots, bins with their scatter, the model's."""
    drawing, panel = single_panel(2.9, MARGINS[0])
    step = max(1, len(points.speed) // 600)
    panel.dots(points.speed[::step], points.friction[::step], SAMPLES, 2.0)
    for speeds, torque, error in points.curve:
        panel.area(speeds, torque - BAND * error, torque + BAND * error, BAND_COLOUR)
        panel.curve(speeds, torque, PREDICTED, 1.6, name='model')
    speed, friction, scatter = points.bins
    panel.error_bars(speed, friction, scatter, MEASURED)
    panel.dots(speed, friction, RESIDUAL, 3.5)
    panel.level(0.0)
    panel.label(f'friction [{points.unit}]', f'velocity [{points.speed_unit}]')
    # A few samples far off would squeeze all others.
    low, high = np.quantile(points.friction, [0.002, 0.998])
    drawn = np.concatenate([points.bins[1], *(torque for _, torque, _ in points.curve)])
    low, high = min(low, drawn.min(initial=low)), max(high, drawn.max(initial=high))
    room = 0.08 * (high - low) or 1.0
    panel.y.set_limits(low - room, high + room)
    return drawing.picture(
        points.joint,
        f'Friction of {points.joint} over its velocity: samples, means of {points.bins.shape[1]} '
        "bins with their scatter, and the model's curve in steady sliding with its 95 % band",
    )


def bin_friction(speed: FloatArray, friction: FloatArray) -> FloatArray:
    """
    Return mean velocity, mean friction and its standard deviation by bin of velocity, (3, k).

    Bins with few samples are left out, and so are samples at rest: friction there may have any
    value up to break-away.
    """
    moving = np.abs(speed) > MOVING_SPEED
    speed, friction = speed[moving], friction[moving]
    if not speed.size:
        return np.zeros((3, 0))
    # An even number of bins: none holds both directions.
    edges = np.linspace(-1.0, 1.0, BINS + 1) * np.abs(speed).max() * (1.0 + 1e-9)
    number = np.digitize(speed, edges) - 1
    count = np.bincount(number, minlength=BINS)
    taken = np.flatnonzero(count >= 10)
    members = [number == index for index in taken]
    return np.array([
        [speed[rows].mean() for rows in members],
        [friction[rows].mean() for rows in members],
        [friction[rows].std() for rows in members],
    ]).reshape(3, -1)


def sliding_friction(
    model: IdentifiedModel, joint: int, speeds: FloatArray, load: float, temperature: float
) -> tuple[FloatArray, FloatArray]:
    """
    Return the model's friction (m,) of a joint in steady sliding, and its standard error [N m].

    The offset is included; the error is that of all coefficients together.

    `speeds` (m,) [rad/s] have one sign and are passed in their order; `load` is the torque that
    the joint transmits [N m]. With NaN as `temperature` [deg C], each law takes its reference
    temperature.
    """
    W = np.zeros((speeds.size, model.parameters.size))
    for term, columns in model.parameters.friction_columns:
        if term.joint == joint:
            W[:, columns] = steady_columns(
                term.law, speeds, load, term.law.temperature_at(temperature)
            )
    W = W[:, model.reduction.independent]
    variance = np.sum((W @ model.covariance) * W, axis=1)
    return W @ model.theta_base, np.sqrt(np.maximum(variance, 0.0))


def _samples(
    model: IdentifiedModel, bag: Scored, most: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return velocity, friction torque, rigid torque and temperature of samples, (m, n) each."""
    dataset = bag.dataset
    chosen = np.flatnonzero(bag.rows)
    chosen = chosen[:: max(1, len(chosen) // most)]
    motion = dataset.motion.rows(chosen)
    rigid, _ = rigid_and_transmitted_torque(
        model.robot, model.parameters, model.theta_lifted, motion
    )
    torque = dataset.effort[chosen] / model.effort_per_torque
    temperature = motion.temperature
    if temperature is None:
        temperature = np.full(rigid.shape, np.nan)
    dataset.release()
    return np.asarray(motion.drive_side.dq), torque - rigid, rigid, temperature


def _of_joint(
    model: IdentifiedModel, joint: int, samples: Sequence[FloatArray]
) -> FrictionPoints:
    """Return the points of a joint from its speed, friction, load and temperature (N,)."""
    speed, friction = samples[:2]
    load, temperature = float(np.mean(np.abs(samples[2]))), float(np.mean(samples[3]))
    fastest = float(np.abs(speed).max())
    slides = np.linspace(0.005 * fastest, fastest, 120)
    curve = tuple(
        np.array([side, *sliding_friction(model, joint, side, load, temperature)])
        for side in (-slides, slides)
        if np.any(np.sign(speed) == np.sign(side[0]))
    ) if model.parameters.friction else ()
    return FrictionPoints(
        model.robot.joint_names[joint],
        effort_unit_text(model.effort_unit) if model.relative_scale
        else model.robot.unit('N m', joint),
        model.robot.unit('rad/s', joint), speed, friction, bin_friction(speed, friction), curve,
        temperature,
    )
