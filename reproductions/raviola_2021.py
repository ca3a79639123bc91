# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The results of Raviola et al. 2021 on simulated arms: mounting, identification and temperature.

The paper moved a real UR3 and a real UR5. Arms here are MuJoCo's, with the paper's torque
constants, limits and rates, the friction that its tables imply, and its changes with temperature.
"""

from __future__ import annotations

from reproductions.pieces import Pieces
from reproductions.raviola_2021_accuracy import Accuracy, study_accuracy
from reproductions.raviola_2021_accuracy_tables import accuracy_claims, accuracy_tables
from reproductions.raviola_2021_figures import (
    draw_cold_and_warm, draw_lines, draw_mountings, draw_parameters, draw_singular_values,
    draw_torques, draw_trajectories, draw_validation_motions,
)
from reproductions.raviola_2021_motions import find_motions
from reproductions.raviola_2021_printed import (
    JOINTS, LARGEST_TORQUES, ROBOTS, TITLES, TORQUE_CONSTANTS,
)
from reproductions.raviola_2021_structure import study_structure
from reproductions.raviola_2021_temperature import study_warming
from reproductions.reproduction import Misprint, Report, Reproduction, Table

SEED = 'raviola_2021'
TITLE = 'Raviola et al. 2021: temperature and mounting of a UR3 and a UR5'
REFERENCE = (
    'A. Raviola, R. Guida, A. De Martin, S. Pastorelli, S. Mauro, M. Sorli, "Effects of '
    'temperature and mounting configuration on the dynamic parameters identification of '
    'industrial robots", Robotics 10(3), 83, 2021'
)
# Where the stages end, as shares of the work.
STRUCTURE_DONE, MOTIONS_DONE, ACCURACY_DONE, WARMING_DONE = 0.03, 0.45, 0.7, 0.95


def reproduce(report: Report, pieces: Pieces) -> Reproduction:
    """Return the paper's results beside those of simulated arms."""
    report(0.0, 'counting parameters')
    structure = study_structure()
    motions = find_motions(lambda share: report(
        STRUCTURE_DONE + share * (MOTIONS_DONE - STRUCTURE_DONE), 'designing excitation'
    ), pieces)
    accuracy = study_accuracy(motions, lambda share, stage: report(
        MOTIONS_DONE + share * (ACCURACY_DONE - MOTIONS_DONE), stage
    ), pieces)
    warming = study_warming(motions, lambda share, stage: report(
        ACCURACY_DONE + share * (WARMING_DONE - ACCURACY_DONE), stage
    ))
    report(WARMING_DONE, 'drawing')
    return Reproduction(
        SEED,
        (
            _arm_table(), *structure.tables, *motions.tables, *accuracy_tables(accuracy),
            *warming.tables,
        ),
        (
            draw_singular_values(structure.singular_values),
            draw_trajectories(motions),
            draw_parameters(accuracy.arms),
            draw_validation_motions(motions),
            *(
                draw_torques(number, name, accuracy.arms[name])
                for number, name in enumerate(ROBOTS, start=5)
            ),
            draw_cold_and_warm(accuracy.arms['ur5'], warming.models['ur5']),
            draw_lines(warming),
            draw_mountings(accuracy.mountings),
        ),
        (
            *structure.claims, *motions.claims, *accuracy_claims(accuracy), *warming.claims,
        ),
        (*structure.misprints, *_misprints(accuracy), *warming.misprints),
    )


def _arm_table() -> Table:
    return Table(
        'arms', 'Torque constants and largest torques (tables 1 and 2), those of our robots too',
        ('arm', *JOINTS),
        tuple(
            row for name in ROBOTS for row in (
                (f'{TITLES[name]}, torque constant [N m/A]', *TORQUE_CONSTANTS[name]),
                (f'{TITLES[name]}, largest torque [N m]', *LARGEST_TORQUES[name]),
            )
        ),
    )


def _misprints(accuracy: Accuracy) -> tuple[Misprint, ...]:
    points = len(accuracy.arms['ur5'].score.times)
    return (
        Misprint(
            'section 2', 'commands go to port 29999', 'to the interfaces for URScript',
            'servoj is a line of URScript; port 29999 is the dashboard server, which loads and '
            'starts programs',
        ),
        Misprint(
            'equation 10', "weights 1/(G tau_max) in W'W", 'weights of the squares are '
            '1/(G tau_max)^2; G is that of all joints and changes nothing',
            'multiply all rows by one number: the solution stays',
        ),
        Misprint(
            'section 5', 'e_N, without saying what N_val counts', 'points of the motion',
            f'errors here are of the printed size over {points} points of 30 s; over the rows of '
            'six joints they would be a sixth',
        ),
        Misprint(
            'section 7', 'e_N of the wrong mounting "reported in Table 7"', 'in table 8',
            'table 7 has shares of torques',
        ),
    )
