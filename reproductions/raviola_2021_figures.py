# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Figures 1 to 3 and 5 to 9 of Raviola et al. 2021, drawn from simulated arms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from reproductions.panels import (
    BLACK, BLUE, finish, GREEN, GREY, legend_above, panels, RED, small_picture, SMALLER,
)
from reproductions.raviola_2021_accuracy import Arm, Mountings, published_values
from reproductions.raviola_2021_arms import temperatures_at, viscous_at
from reproductions.raviola_2021_motions import Motions
from reproductions.raviola_2021_printed import BASE_PARAMETERS, JOINTS, TITLES
from reproductions.raviola_2021_temperature import SHARES, Warming
from reproductions.reproduction import Picture
from robot_identification.arrays import FloatArray
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.identified_model import IdentifiedModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SECONDS = 'time [s]'
TORQUE = 'torque [N m]'
# Torques are drawn over one period [s], every so many of the 125 samples a second.
PERIOD, THINNED = 10.0, 3
# Rounding is drawn down to here.
FLOOR = 1.0e-16
COLOURS = (BLACK, BLUE, GREEN, '#d08000', RED, '#8a40b8')


def draw_singular_values(singular_values: Mapping[str, FloatArray]) -> Picture:
    """Draw figure 1: singular values of random points, and their cumulative energy."""
    figure, (values, energy) = panels(1, 2, 3.2)
    for (mounting, found), color in zip(singular_values.items(), (BLUE, RED), strict=True):
        count = np.arange(1, len(found) + 1)
        label = f'{mounting}: {BASE_PARAMETERS[mounting]}'
        seen = found > FLOOR
        values.semilogy(
            count[seen], found[seen], '.', color=color, markersize=4, label=label
        )
        energy.plot(count, np.cumsum(found) / found.sum(), color=color, linewidth=1.2)
        for axes in (values, energy):
            axes.axvline(BASE_PARAMETERS[mounting], color=color, linewidth=0.8, linestyle=':')
    finish(values, 'singular values of 25 random points', 'number', 'N m per parameter')
    finish(energy, 'cumulative energy', 'number of singular values', 'share')
    legend_above(figure, values)
    return small_picture(
        'figure_1', 'Figure 1: singular values of the UR5',
        'Singular values fall slowly up to number 52 on the ground and 54 on a wall, and then by '
        'fourteen orders of magnitude; the cumulative energy reaches one there.', figure,
    )


def draw_trajectories(motions: Motions) -> Picture:
    """Draw figure 2: excitation of the UR5 on the ground and under the ceiling."""
    figure, axes = panels(1, 2, 3.4)
    t = np.linspace(0.0, PERIOD, 251)
    for one, (words, trajectory) in zip(axes, (
        ('ground', motions.excitation['ur5']), ('ceiling', motions.ceiling),
    ), strict=True):
        _draw_positions(one, trajectory, t)
        finish(one, words, SECONDS, 'position [rad]')
    legend_above(figure, axes[0])
    return small_picture(
        'figure_2', 'Figure 2: excitation of the UR5, one period',
        'Positions of six joints over ten seconds, at rest at both ends; shoulder positions lie '
        'about minus a quarter turn.', figure,
    )


def draw_validation_motions(motions: Motions) -> Picture:
    """Draw figure 4: the motions that errors are taken along, of both arms."""
    figure, axes = panels(1, 2, 3.4)
    t = np.linspace(0.0, PERIOD, 251)
    for one, (name, trajectory) in zip(axes, motions.validation.items(), strict=True):
        _draw_positions(one, trajectory, t)
        finish(one, TITLES[name], SECONDS, 'position [rad]')
    legend_above(figure, axes[0])
    return small_picture(
        'figure_4', 'Figure 4: motions of random coefficients for validation, one period',
        'Positions of six joints over ten seconds for both arms, at rest at both ends.', figure,
    )


def _draw_positions(axes: Axes, trajectory: Trajectory, t: FloatArray) -> None:
    q = trajectory.sample(t).q
    for joint, (name, colour) in enumerate(zip(JOINTS, COLOURS, strict=True)):
        axes.plot(t, q[:, joint], color=colour, linewidth=1.1, label=name)


def draw_parameters(arms: Mapping[str, Arm]) -> Picture:
    """Draw figure 3: base parameters with standard errors, small ones once more."""
    figure, axes = panels(len(arms), 2, 2.4 * len(arms))
    for row, (name, arm) in enumerate(arms.items()):
        for column in (0, 1):
            one = axes[2 * row + column]
            _draw_values(one, arm.values, arm.errors, BLUE, 0.0, '')
            finish(one, TITLES[name] + (', small values' if column else ''),
                   'number of the base parameter', 'SI units')
        small = axes[2 * row + 1]
        size = float(np.median(np.abs(arm.values)))
        small.set_ylim(-6.0 * size, 6.0 * size)
    return small_picture(
        'figure_3',
        'Figure 3: base parameters 1 to 52 (rows 3 to 54 of appendix A) and standard errors',
        'Masses and viscous friction of the large joints are the largest values; most of the 52 '
        'parameters are below a tenth.', figure,
    )


def _draw_values(
    axes: Axes, values: FloatArray, errors: FloatArray, color: str, shift: float, label: str
) -> None:
    axes.errorbar(
        np.arange(1, len(values) + 1) + shift, values, errors, fmt='.', color=color, markersize=4,
        elinewidth=0.8, label=label,
    )
    axes.axhline(0.0, color=GREY, linewidth=0.6)


def draw_torques(number: int, name: str, arm: Arm) -> Picture:
    """Draw figure 5 or 6: torques measured, and modelled before and after identification."""
    return _draw_predictions(
        number, arm.score.times, arm.score.measured,
        (('model before identification', arm.before, GREY),
         ('model after identification', arm.after, RED)),
        f'Figure {number}: torques of the {TITLES[name]} along the validation motion',
        'Measured torques of six joints; the model after identification lies on them, the one '
        'before lacks friction and is off by it.',
    )


def draw_mountings(mountings: Mountings) -> Picture:
    """Draw figure 9: torques under the ceiling by the regressors of both mountings."""
    return _draw_predictions(
        9, mountings.score.times, mountings.score.measured,
        (('regressor of the ground', mountings.ground, GREY),
         ('regressor of the ceiling', mountings.ceiling, RED)),
        'Figure 9: torques of the simulated UR5 under the ceiling',
        'The regressor of the ceiling gives the measured torques of all joints; that of the '
        'ground gives shoulder and elbow torques of the opposite sign.',
    )


def _draw_predictions(
    number: int, times: FloatArray, measured: FloatArray,
    models: Sequence[tuple[str, FloatArray, str]], title: str, alternative: str,
) -> Picture:
    figure, axes = panels(3, 2, 5.6)
    rows = np.flatnonzero(times < PERIOD)[::THINNED]
    for joint, (one, name) in enumerate(zip(axes, JOINTS, strict=True)):
        one.plot(times[rows], measured[rows, joint], color=BLACK, linewidth=1.4, label='measured')
        for label, torque, color in models:
            one.plot(times[rows], torque[rows, joint], color=color, linewidth=0.9, label=label)
        finish(one, name, SECONDS if joint > 3 else '', TORQUE if joint % 2 == 0 else '')
    legend_above(figure, axes[0])
    return small_picture(f'figure_{number}', title, alternative, figure)


def draw_cold_and_warm(arm: Arm, models: Sequence[IdentifiedModel]) -> Picture:
    """Draw figure 7: base parameters of the UR5 cold and warm."""
    figure, axes = panels(1, 2, 3.2)
    for model, color, shift, label in (
        (models[0], BLUE, -0.2, 'cold'), (models[-1], RED, 0.2, 'warm'),
    ):
        values, errors = published_values(model, arm.structure)
        for one in axes:
            _draw_values(one, values, errors, color, shift, label)
    finish(axes[0], 'all', 'number of the base parameter', 'SI units')
    finish(axes[1], 'friction and rotors alone', 'number of the base parameter')
    friction = len(arm.structure.rows) - 16
    axes[1].set_xlim(friction + 0.5, len(arm.structure.rows) + 0.5)
    axes[1].set_ylim(bottom=-0.5)
    legend_above(figure, axes[0])
    return small_picture(
        'figure_7', 'Figure 7: base parameters of the UR5, cold and warm',
        'Values and standard errors of the 52 parameters of both arms; viscous friction has the '
        'numbers 43 to 48.', figure,
    )


def draw_lines(warming: Warming) -> Picture:
    """Draw figure 8: viscous friction over temperature."""
    figure, axes = panels(len(warming.studies), len(JOINTS), 4.2)
    for row, (name, study) in enumerate(warming.studies.items()):
        true = np.array([viscous_at(name, share) for share in SHARES])
        warmth = np.array([temperatures_at(share) for share in SHARES])
        for joint, found in enumerate(study.joints):
            one = axes[row * len(JOINTS) + joint]
            one.plot(warmth[:, joint], true[:, joint], color=BLACK, linewidth=0.8, label='true')
            one.errorbar(
                found.temperature, found.viscous, found.viscous_errors, fmt='.', color=BLUE,
                markersize=4, elinewidth=0.8, label='identified',
            )
            if found.viscous_line is not None:
                line = [found.viscous_line.at(T) for T in found.temperature]
                one.plot(found.temperature, line, color=BLUE, linewidth=0.8, label='its line')
            finish(one, f'{TITLES[name]} {JOINTS[joint]}', '°C', 'N m s/rad' if not joint else '')
            one.tick_params(labelsize=SMALLER - 1.0)
    legend_above(figure, axes[0])
    return small_picture(
        'figure_8', 'Figure 8: viscous friction over joint temperature',
        'Viscous friction of every joint of both arms falls along a straight line as the joint '
        'warms up; identified values lie near the true ones.', figure,
    )
