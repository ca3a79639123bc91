# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Figures 6 to 18 of Madsen et al. and the friction of the gears, drawn from our arm."""

from __future__ import annotations

import numpy as np
from reproductions.madsen_2020_arm import ElasticArm, friction_curve, Scored
from reproductions.panels import (
    BLACK, BLUE, finish, GREEN, GREY, legend_above, panels, RED, small_picture,
)
from reproductions.reproduction import Picture
from robot_identification.arrays import FloatArray
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.identified_model import IdentifiedModel

# Of the samples at 1 kHz, one in so many is drawn.
DRAWN = 50
FASTEST = 2.0


def draw_motion(trajectory: Trajectory) -> Picture:
    """Return figure 6: the motion that is estimated from."""
    t = np.linspace(0.0, trajectory.duration, 621)
    motion = trajectory.sample(t)
    figure, axes = panels(2, 1, 3.8)
    for panel, values, name in zip(
        axes, (motion.q, motion.dq), ('q [rad]', 'dq [rad/s]'), strict=True
    ):
        for joint, colour in enumerate((BLACK, BLUE, RED, GREEN, GREY, '#c08000')):
            panel.plot(t, values[:, joint], color=colour, linewidth=1.0, label=f'{joint + 1}')
        finish(panel, '', 'time [s]' if panel is axes[-1] else '', name)
    legend_above(figure, axes[0])
    return small_picture(
        'motion', 'Figure 6: the motion of joints 1 to 6 that is estimated from',
        'Positions and velocities of the six joints over 31 seconds.', figure,
    )


def draw_torques(name: str, title: str, scored: Scored, predicted: FloatArray) -> Picture:
    """
    Return six of figures 7 to 18: measured and predicted torques of all joints.

    Parameters
    ----------
    name, title : str
        Of the picture.
    scored : Scored
        For what was measured.
    predicted : ndarray, shape (N, n)
        Torques of a model [N m].

    """
    t = scored.stamps[::DRAWN]
    figure, axes = panels(3, 2, 5.6)
    for joint, panel in enumerate(axes):
        measured, model = scored.measured[::DRAWN, joint], predicted[::DRAWN, joint]
        panel.plot(t, measured, color=BLACK, linewidth=1.0, label='measured')
        panel.plot(t, model, color=RED, linewidth=0.8, label='predicted')
        panel.plot(t, measured - model, color=BLUE, linewidth=0.6, label='error')
        finish(panel, f'joint {joint + 1}', 'time [s]' if joint > 3 else '',
               'torque [N m]' if joint % 2 == 0 else '')
    legend_above(figure, axes[0])
    return small_picture(
        name, title,
        f'{title}: measured torque, predicted torque and their difference of six joints over 31 '
        'seconds.', figure,
    )


def draw_friction(arm: ElasticArm, model: IdentifiedModel) -> tuple[Picture, Picture]:
    """Return the friction of the gears, and what was wrong with it before and after."""
    speeds = np.linspace(-FASTEST, FASTEST, 801)
    curves = [friction_curve(arm, model, joint, speeds) for joint in range(arm.robot.n)]
    figure, axes = panels(2, 3, 3.4)
    for joint, (panel, (true, _, _)) in enumerate(zip(axes, curves, strict=True)):
        panel.plot(speeds, true, color=BLACK, linewidth=1.2)
        finish(panel, f'joint {joint + 1}', 'speed [rad/s]' if joint > 2 else '',
               'friction [N m]' if joint % 3 == 0 else '')
    shape = small_picture(
        'friction', 'True friction of the strain-wave gears without load',
        'Friction torque against speed for six joints: a step at reversal with a small hump, then '
        'a slope.', figure,
    )
    figure, axes = panels(2, 3, 3.6)
    for joint, (panel, (true, known, found)) in enumerate(zip(axes, curves, strict=True)):
        panel.plot(speeds, known - true, color=GREY, linewidth=1.4, label='known beforehand')
        panel.plot(speeds, found - true, color=RED, linewidth=1.0, label='with what was found')
        finish(panel, f'joint {joint + 1}', 'speed [rad/s]' if joint > 2 else '',
               'error [N m]' if joint % 3 == 0 else '')
    legend_above(figure, axes[0])
    return shape, small_picture(
        'friction_error', 'Error of that friction: as it was known, and with what was found',
        'Error of the friction torque against speed for six joints; the correction found takes '
        'most of it away.', figure,
    )
