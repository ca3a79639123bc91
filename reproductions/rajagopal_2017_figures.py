# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Figures 4.2, 4.4, 4.5, 4.7 and 4.8 of J. Rajagopal's report, drawn from simulated joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from reproductions import rajagopal_2017_data as printed
from reproductions.panels import (
    BLACK, BLUE, finish, GREEN, GREY, legend_above, panels, RED, small_picture, SMALLER,
)
from reproductions.rajagopal_2017_break_away import STEP, StepResponse, TestedJoint
from reproductions.rajagopal_2017_estimate import Identified, POSSIBLE, REPORT, SimulatedYoubot
from reproductions.reproduction import Picture
from robot_identification.studies.break_away.estimate import BoxStatistics

SHOWN_SECONDS = 25.0


def draw_break_away(joints: Sequence[TestedJoint]) -> Picture:
    """Draw figures 4.7 and 4.5: boxes of the published values, and of corrected ones beside."""
    figure, axes = panels(1, 7, 3.4)
    for one, joint in zip(axes, joints, strict=True):
        for place, (box, colour) in enumerate((
            (joint.published, RED), (joint.corrected.boxes[1], BLUE),
        )):
            one.bxp(
                [_drawn(box)], positions=[place], widths=0.6, manage_ticks=False,
                medianprops={'color': colour, 'linewidth': 1.8},
                boxprops={'color': BLACK}, whiskerprops={'color': BLACK},
                capprops={'color': BLACK}, flierprops={'marker': '.', 'markersize': 4},
            )
        one.axhline(joint.medians[1], color=GREEN, linewidth=1.0, linestyle='--')
        one.set_xticks([0, 1], ['report', 'onset'], fontsize=SMALLER)
        one.set_xlim(-0.6, 1.6)
        figure_number = '4.5' if joint.name.startswith('wheel') else '4.7'
        finish(one, f'{figure_number}: {joint.name}', '',
               'break-away torque [N m]' if one is axes[0] else '')
    return small_picture(
        'break_away', 'Figures 4.7 and 4.5: break-away torques, 25 tests in one direction; '
        'dashed the median that the simulated joint really had',
        'Box plots for five joints and two wheels. Torques at the threshold of 0.13 rad/s, as in '
        'the report, lie above the true median; torques at the onset of motion lie on it.', figure,
    )


def _drawn(box: BoxStatistics) -> dict[str, float | list[float]]:
    return {
        'med': box.median, 'q1': box.lower_quartile, 'q3': box.upper_quartile,
        'whislo': box.lower_whisker, 'whishi': box.upper_whisker, 'fliers': [*box.outliers],
    }


def draw_validation(arm: SimulatedYoubot, ways: Mapping[str, Identified]) -> Picture:
    """Draw the comparison of figure 4.8: torques and errors E and M by joint."""
    figure, axes = panels(3, 2, 7.2)
    t = np.arange(len(arm.validation)) / arm.rate
    shown = t < SHOWN_SECONDS
    for joint in range(printed.JOINTS):
        one = axes[joint]
        one.plot(t[shown], arm.actuator[shown, joint], color=GREY, linewidth=2.4, label='actuator')
        one.plot(t[shown], ways[REPORT].predicted[shown, joint], '--', color=RED, linewidth=1.0,
                 label='identified as in the report')
        one.plot(t[shown], ways[POSSIBLE].predicted[shown, joint], color=BLUE, linewidth=0.8,
                 label='identified here')
        finish(one, f'joint {joint + 1}', 'time [s]' if joint == 4 else '', 'torque [N m]')
    last = axes[printed.JOINTS]
    bars = (
        ('E, report', ways[REPORT].validation_errors, RED),
        ("M, maker's bodies", arm.makers_errors(), BLACK),
        ('E, here', ways[POSSIBLE].validation_errors, BLUE),
    )
    for place, (label, values, colour) in enumerate(bars):
        last.bar(np.arange(printed.JOINTS) + 0.27 * (place - 1), values, 0.25, color=colour,
                 label=label)
    last.set_xticks(range(printed.JOINTS), [f'joint {k + 1}' for k in range(printed.JOINTS)])
    last.legend(fontsize=SMALLER, frameon=False)
    finish(last, 'errors E and M (root mean square)', '', 'torque [N m]')
    legend_above(figure, axes[0])
    return small_picture(
        'validation', 'Figure 4.8, carried out: torques along another motion, and errors',
        'Five panels of torque over time. The model identified as in the report misses the steps '
        'of friction by as much as the bodies of the maker do; the one identified here '
        'follows them. A sixth panel has the errors as bars.', figure,
    )


def draw_step_responses(responses: Mapping[str, StepResponse]) -> Picture:
    """Draw figures 4.2 and 4.4: the step and the error of three controllers."""
    figure, axes = panels(1, 2, 2.9)
    for (name, response), colour, style in zip(
        responses.items(), (BLACK, RED, BLUE), ('-', '-', '--'), strict=True
    ):
        axes[0].plot(response.t, response.q, style, color=colour, linewidth=1.2, label=name)
        axes[1].plot(response.t, STEP - response.q, style, color=colour, linewidth=1.2)
    axes[0].axhline(STEP, color=GREY, linewidth=0.8, linestyle=':')
    axes[1].axhline(0.0, color=GREY, linewidth=0.8, linestyle=':')
    finish(axes[0], 'Figure 4.2: step response', 'time [s]', 'position [rad]')
    finish(axes[1], 'Figure 4.4: error', 'time [s]', 'error [rad]')
    legend_above(figure, axes[0])
    return small_picture(
        'step', 'Figures 4.2 and 4.4: a step of 1 rad at 0.2 rad/s at most',
        'Position and error over one minute. With the sum of errors of the report the joint '
        'overshoots by a fifth and takes long to come back; with the integral bounded and taken '
        'over time it does not.', figure,
    )
