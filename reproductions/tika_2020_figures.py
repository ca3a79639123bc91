# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Figures 2 to 5 of Tika et al., drawn from our search and our arm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from reproductions import tika_2020_printed as paper
from reproductions.panels import (
    BLACK, BLUE, finish, GREEN, GREY, legend_above, panels, RED, small_picture,
)
from reproductions.reproduction import Picture
from reproductions.tika_2020_search import Found
from robot_identification.arrays import FloatArray
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.robot_model import RobotModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Solutions worse than this are drawn at the upper edge.
HIGHEST_CONDITION = 400.0


def draw_search(memetic: Found, random: Found) -> Picture:
    """Return figure 2: all solutions by generation, memetic beside random only."""
    figure, axes = panels(1, 2, 3.4)
    for panel, found, title in (
        (axes[0], memetic, 'memetic'), (axes[1], random, 'random starts only'),
    ):
        _draw_generations(panel, found)
        finish(
            panel, f'{title}: {found.condition:.1f}', 'solution', 'condition number, 20 samples'
        )
    legend_above(figure, axes[0])
    return small_picture(
        'search',
        'Figure 2: solutions of the search, generations between the vertical lines, in each the '
        'fittest first',
        'Condition number of every local minimum found, by generation, for the memetic algorithm '
        f'and for random starts only. The best are {memetic.condition:.1f} and '
        f'{random.condition:.1f}.',
        figure,
    )


def _draw_generations(axes: Axes, found: Found) -> None:
    begin, lines = 0, [0.5]
    for number, generation in enumerate(found.generations):
        at = begin + 1 + np.arange(len(generation.solutions))
        values = np.minimum(
            [condition for condition, _ in generation.solutions], HIGHEST_CONDITION
        )
        kept = np.array([feasible for _, feasible in generation.solutions], dtype=bool)
        first = number == 0
        axes.plot(at[~kept], values[~kept], 'x', color=GREY, markersize=3,
                  label='breaks a limit' if first else None)
        axes.plot(at[kept], values[kept], 'o', color=BLUE, markersize=3,
                  label='within all limits' if first else None)
        begin += len(at)
        lines.append(begin + 0.5)
        axes.plot([lines[-2], lines[-1]], 2 * [generation.best], color=RED, linewidth=1.5,
                  label='best so far' if first else None)
    for line in lines:
        axes.axvline(line, color=GREY, linewidth=0.5)
    axes.set_yscale('log')
    ticks = [40, 60, 100, 200, int(HIGHEST_CONDITION)]
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.set_yticks([], minor=True)


def draw_motion(trajectory: Trajectory) -> Picture:
    """Return figure 3: positions, velocities and accelerations of one period."""
    t = np.linspace(0.0, paper.PERIOD, 501)
    motion = trajectory.sample(t)
    figure, axes = panels(3, 1, 5.2)
    colours = (BLACK, BLUE, RED, GREEN, GREY, '#c08000')
    for panel, values, name in zip(
        axes, (motion.q, motion.dq, motion.ddq), ('q [rad]', 'dq [rad/s]', 'ddq [rad/s²]'),
        strict=True,
    ):
        for joint, colour in enumerate(colours):
            panel.plot(t, values[:, joint], color=colour, linewidth=1.0, label=f'{joint + 1}')
        finish(panel, '', 'time [s]' if panel is axes[-1] else '', name)
    legend_above(figure, axes[0])
    return small_picture(
        'motion', 'Figure 3: the optimized motion of joints 1 to 6 over one period',
        'Positions, velocities and accelerations of the six joints over ten seconds; all begin '
        'and end at rest.', figure,
    )


def end_effector_path(robot: RobotModel, trajectory: Trajectory, samples: int) -> FloatArray:
    """Return positions (samples, 3) of the last joint's frame in the base frame [m]."""
    model = robot.pinocchio
    data = model.createData()
    motion = trajectory.sample(np.linspace(0.0, paper.PERIOD, samples))
    path = np.empty((samples, 3))
    for row, q in zip(path, motion.q, strict=True):
        pin.forwardKinematics(model, data, q)
        row[:] = data.oMi[robot.n].translation
    return path


def draw_path(robot: RobotModel, trajectory: Trajectory) -> Picture:
    """Return figure 4: where the end of the arm is, from above and from the side."""
    path = end_effector_path(robot, trajectory, 801)
    figure, axes = panels(1, 2, 3.6)
    for panel, (across, up), title in (
        (axes[0], (0, 1), 'from above'), (axes[1], (0, 2), 'from the side'),
    ):
        panel.plot(path[:, across], path[:, up], color=BLUE, linewidth=1.0)
        panel.plot(*path[0, [across, up]], 'o', color=BLACK, markersize=5)
        panel.set_aspect('equal')
        finish(panel, title, f'{"xyz"[across]} [m]', f'{"xyz"[up]} [m]')
    return small_picture(
        'path', 'Figure 4: the path of the wrist centre over one period, from the dot',
        'Two projections of the path of the frame of joint 6; the base is at the origin, at the '
        'height of the shoulder.', figure,
    )


def draw_torques(
    name: str, title: str, measured: FloatArray, predicted: FloatArray, joints: tuple[str, ...]
) -> Picture:
    """
    Return a part of figure 5: measured and predicted torques of one period.

    Parameters
    ----------
    name, title : str
        Of the picture.
    measured, predicted : ndarray, shape (N, n)
        Smoothed torques and those of the model [N m].
    joints : tuple of str
        Their names.

    """
    t = np.arange(len(measured)) / paper.RATE
    figure, axes = panels(2, 3, 3.6)
    for joint, panel in enumerate(axes):
        panel.plot(t, measured[:, joint], color=BLACK, linewidth=1.2, label='measured')
        panel.plot(t, predicted[:, joint], color=RED, linewidth=0.8, label='predicted')
        finish(panel, joints[joint], 'time [s]' if joint > 2 else '',
               'torque [N m]' if joint % 3 == 0 else '')
    legend_above(figure, axes[0])
    return small_picture(
        name, title,
        f'{title}: six panels, one a joint, of measured and predicted torque over ten seconds; '
        'the lines are hard to tell apart but for the moments of reversal.', figure,
    )
