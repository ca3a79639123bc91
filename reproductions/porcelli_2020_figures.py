# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Figures 4.3 to 4.33 of G. Porcelli's thesis, drawn from simulated arms."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from reproductions import porcelli_2020_data as thesis
from reproductions.panels import (
    BLACK, BLUE, finish, GREEN, GREY, legend_above, panels, RED, SMALL, small_picture, SMALLER,
)
from reproductions.porcelli_2020_corrections import corrected
from reproductions.porcelli_2020_models import Fit, SimulatedGroup, with_noise
from reproductions.porcelli_2020_motion import one_period, PERIOD, recorded_instants, series
from reproductions.reproduction import Picture
from robot_identification.arrays import FloatArray

FIRST_TRAJECTORY = 3
# First figure of each model, its words in the thesis' captions, and whether a fit with friction
# is drawn as well.
MODEL_FIGURES = {
    'A': (9, 'without friction and noise', False),
    'B': (15, 'with friction', True),
    'C': (22, 'with white noise', False),
    'D': (28, 'with friction and white noise', True),
}
SECONDS = 'time [s]'


def draw_trajectories() -> Picture:
    """Draw figures 4.3 to 4.8: position, velocity and acceleration of each joint."""
    figure, axes = panels(6, 3, 10.5)
    t = one_period(300)
    zero = np.zeros(thesis.JOINTS)
    printed = series(thesis.SINES, thesis.COSINES, t, zero)
    mended = series(*corrected(), t, zero)
    words = (('position [rad]', None), ('velocity [rad/s]', thesis.VELOCITY_LIMIT),
             ('acceleration [rad/s²]', thesis.ACCELERATION_LIMIT))
    for joint in range(thesis.JOINTS):
        for kind, (first, second) in enumerate((
            (printed.q, mended.q), (printed.dq, mended.dq), (printed.ddq, mended.ddq),
        )):
            one = axes[3 * joint + kind]
            one.plot(t, first[:, joint], color=BLACK, linewidth=1.2, label='as printed')
            one.plot(t, second[:, joint], '--', color=BLUE, linewidth=1.2,
                     label='corrected, at rest at both ends')
            words_of, limit = words[kind]
            if limit is not None:
                for value in (-limit, limit):
                    one.axhline(value, color=RED, linewidth=0.8, linestyle=':')
            one.plot(t[:1], first[:1, joint], 'o', color=BLACK, markersize=3)
            title = f'Figure 4.{FIRST_TRAJECTORY + joint}: joint {joint + 1}' if kind == 0 else ''
            finish(one, title, SECONDS if joint == thesis.JOINTS - 1 else '', words_of)
    legend_above(figure, axes[0])
    return small_picture(
        'trajectories', 'Figures 4.3 to 4.8: the optimal trajectories, one period; limits dotted',
        'Six rows of position, velocity and acceleration over one period. As printed, joint 2 '
        'starts with a velocity and joints 3 and 6 with an acceleration that are not zero; '
        'corrected they start at rest. All stay within plus and minus pi.', figure,
    )


def draw_model(model: str, fits: Mapping[str, Fit], fitted: Mapping[str, Fit]) -> Picture:
    """
    Draw the six torque figures of a model.

    Parameters
    ----------
    model : str
        A to D.
    fits, fitted : mapping of str to Fit
        Of both groups: as the thesis identifies, and with friction among the parameters.

    """
    first, words, with_friction = MODEL_FIGURES[model]
    figure, axes = panels(3, 2, 7.0)
    t = recorded_instants()
    shown = t < PERIOD
    for group, (_, joints) in thesis.GROUPS.items():
        for place, joint in enumerate(range(joints.start, joints.stop)):
            one = axes[joint]
            one.plot(t[shown], fits[group].reference[shown, place], color=GREY, linewidth=2.4,
                     label='rne (simulated robot)')
            if with_friction:
                one.plot(t[shown], fitted[group].predicted[shown, place], color=GREEN,
                         linewidth=0.8, label='identified with friction')
            one.plot(t[shown], fits[group].predicted[shown, place], '--', color=BLUE,
                     linewidth=1.1, label='YB (identified, rigid bodies)')
            finish(one, f'Figure 4.{first + joint}: joint {joint + 1}',
                   SECONDS if joint >= 4 else '', 'torque [N m]')
    legend_above(figure, axes[0])
    description = {
        'A': 'Both lines lie on each other.',
        'B': 'The identified torque misses the steps of friction; identified with friction it '
             'does not.',
        'C': 'The identified torque runs through the middle of the noise.',
        'D': 'As with friction alone, and noise on top.',
    }[model]
    return small_picture(
        f'model_{model.lower()}',
        f'Figures 4.{first} to 4.{first + 5}: model {model}, {words}',
        f'Six panels of joint torque over one period, simulated and identified. {description}',
        figure,
    )


def draw_noise(group: SimulatedGroup) -> Picture:
    """Draw the signals of figure 4.21, a diagram in the thesis, for joint 2."""
    figure, axes = panels(1, 2, 2.6)
    t = recorded_instants()
    shown = t < PERIOD
    gain = thesis.TORQUE_CONSTANT[1] * thesis.GEAR_RATIO
    noisy: FloatArray = with_noise(group.torque, group.joints, 0)
    for one, scale, words in zip(axes, (gain, 1.0), ('current [A]', 'torque [N m]'), strict=True):
        one.plot(t[shown], noisy[shown, 1] / scale, color=GREY, linewidth=0.8, label='with noise')
        one.plot(t[shown], group.torque[shown, 1] / scale, color=BLUE, linewidth=1.0,
                 label='model A')
        finish(one, words.split(' [', maxsplit=1)[0], SECONDS, words)
    legend_above(figure, axes[0])
    return small_picture(
        'noise', 'Signals of figure 4.21: model A as a current, noise on it and on the constant',
        'Current and torque of joint 2 over one period, without and with noise; the noise grows '
        'with the torque, because the torque constant is noisy, too.', figure,
    )


def draw_parameters(fits: Mapping[str, Mapping[str, Fit]]) -> Picture:
    """Draw how far base parameters of both groups are off, with intervals of 95 %."""
    figure, axes = panels(2, 1, 6.4)
    # The thesis' bodies alone: those of friction have no place in its list.
    kept = slice(0, thesis.GROUP_BASE)
    styles = {'C': (BLUE, 'model C'), 'D': (RED, 'model D'), 'D fitted': (GREEN, 'model D, '
              'identified with friction')}
    for one, group in zip(axes, thesis.GROUPS, strict=True):
        for place, (key, (colour, words)) in enumerate(styles.items()):
            fit = fits[group][key]
            scale = fits[group]['D fitted'].deviation[kept]
            one.errorbar(
                np.arange(thesis.GROUP_BASE) + 0.22 * (place - 1),
                (fit.found - fit.true)[kept] / scale, yerr=1.96 * fit.deviation[kept] / scale,
                fmt='o', color=colour, markersize=3, capsize=2, linewidth=0.8, label=words,
            )
        one.axhline(0.0, color=BLACK, linewidth=0.6)
        one.set_yscale('symlog', linthresh=10.0)
        one.set_xticks(range(thesis.GROUP_BASE), fits[group]['C'].names[kept], fontsize=SMALLER)
        finish(one, f'{group}: error over its standard error in model D with friction', '',
               'error / standard error')
        one.set_title(one.get_title(), fontsize=SMALL)
    legend_above(figure, axes[0])
    return small_picture(
        'parameters', 'Base parameters with intervals of 95 %, which the thesis does not have',
        'Errors of the 15 base parameters of each group. Without friction in the model many '
        'intervals are far from zero; with friction nearly all contain it.', figure,
    )
