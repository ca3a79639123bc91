# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The arm of G. Porcelli's thesis: geometry, bodies and base parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
import tempfile

import numpy as np
from reproductions import porcelli_2020_data as thesis
from reproductions.reproduction import Table
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.files import dump_yaml, read_yaml
from robot_identification.model.base_parameters import BaseReduction, random_motion, reduce_to_base
from robot_identification.model.base_structure import (
    find_symbols, PUBLISHED_ORDERS, published_rows, to_text,
)
from robot_identification.model.consistency import pseudo_inertia
from robot_identification.model.frames import link_frames, table_of
from robot_identification.model.friction import parse_friction
from robot_identification.model.link_table import read_link_table
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.registry import load_robot, share_directory
from robot_identification.model.regressor import (
    inertial_regressor, Motion, prior_inertial_parameters, rigid_torque,
)
from robot_identification.model.robot_model import gravity_of_mounting, RobotModel
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import rigid_inverse_dynamics

LINK_NAMES = ('Base', 'Shoulder', 'Elbow', 'Wrist 1', 'Wrist 2', 'Wrist 3')
TABLE_FILE = Path('config') / 'link_tables' / 'ur5_porcelli.yaml'
# A mounting whose first axis is not vertical: any will do.
TILT = (0.5, 0.2, 0.0)
# A state for everybody who rebuilds the arm: positions, velocities, accelerations.
EXAMPLE = Motion(
    np.array([[0.1, -1.2, 0.8, -0.5, 0.4, 0.3]]),
    np.array([[0.5, -0.4, 0.3, 0.2, -0.1, 0.6]]),
    np.array([[1.0, -0.5, 0.7, 0.3, -0.2, 0.4]]),
)


def dh_parameters(robot: RobotModel) -> FloatArray:
    """Return inertial parameters in the thesis' link frames, Pinocchio's order, shape (10 n,)."""
    change = link_frames(robot, 'dh').to_joint_frames()
    theta: FloatArray = np.asarray(
        np.linalg.solve(change, prior_inertial_parameters(robot)), dtype=float
    )
    return theta


def printed_geometry_table(robot: RobotModel) -> Table:
    """Return table 2.2 beside the shipped robot's."""
    ours = table_of(robot)
    return Table(
        'geometry', 'Denavit-Hartenberg parameters (thesis table 2.2)',
        ('link', 'd printed [m]', 'd here [m]', 'a printed [m]', 'a here [m]',
         'alpha printed [deg]', 'alpha here [deg]'),
        tuple(
            (name, thesis.DH_D[k], float(ours.d[k]), thesis.DH_A[k], float(ours.a[k]),
             thesis.DH_ALPHA[k], float(np.degrees(ours.alpha[k])))
            for k, name in enumerate(LINK_NAMES)
        ),
        'Standard convention, offsets zero. The shipped URDF is written from these numbers.',
    )


def flange_at_zero() -> FloatArray:
    """Return where the thesis' product of eq. 2.3 puts the flange for q = 0, shape (3,) [m]."""
    A = np.eye(4)
    for d, a, alpha in zip(thesis.DH_D, thesis.DH_A, thesis.DH_ALPHA, strict=True):
        A = A @ dh_matrix(0.0, d, a, np.radians(alpha))
    position: FloatArray = A[:3, 3]
    return position


def dh_matrix(theta: float, d: float, a: float, alpha: float) -> FloatArray:
    """Return the product of eq. 2.3, shape (4, 4)."""
    turn, twist = np.eye(4), np.eye(4)
    turn[:2, :2] = [[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]]
    twist[1:3, 1:3] = [[np.cos(alpha), -np.sin(alpha)], [np.sin(alpha), np.cos(alpha)]]
    turn[2, 3], twist[0, 3] = d, a
    A: FloatArray = turn @ twist
    return A


def printed_dh_matrix(theta: float, d: float, a: float, alpha: float) -> FloatArray:
    """Return eq. 2.2 as printed, shape (4, 4)."""
    s, c, sa, ca = np.sin(theta), np.cos(theta), np.sin(alpha), np.cos(alpha)
    return np.array([
        [c, s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0.0, sa, ca, d],
        [0.0, 0.0, 0.0, 1.0],
    ])


def bodies_table(robot: RobotModel) -> Table:
    """Return tables 2.3 and 2.4 beside the shipped robot's, and both readings of the inertia."""
    theta = dh_parameters(robot)
    rows = []
    for k, name in enumerate(LINK_NAMES):
        mass, centre = theta[10 * k], theta[10 * k + 1:10 * k + 4] / theta[10 * k]
        about_centre, about_frame = readings(k)
        rows.append((
            name, thesis.MASSES[k], float(mass),
            round(float(np.abs(centre - thesis.CENTRES[k]).max()), 12),
            float(np.linalg.eigvalsh(pseudo_inertia(about_centre))[0]),
            float(np.linalg.eigvalsh(pseudo_inertia(about_frame))[0]),
            float(np.linalg.eigvalsh(_about_centre(k, about_frame))[0]),
        ))
    return Table(
        'bodies', 'Masses, centres and inertias (thesis tables 2.3 and 2.4)',
        ('link', 'mass printed [kg]', 'mass here [kg]', 'largest difference of the centre [m]',
         'least pseudo-inertia eigenvalue, inertia about the centre of mass',
         'the same, inertia about the link frame',
         'least moment about the centre, inertia about the link frame [kg m²]'),
        tuple(rows),
        'A body exists where the least pseudo-inertia eigenvalue is above zero.',
    )


def readings(link: int) -> tuple[FloatArray, FloatArray]:
    """
    Return the ten parameters of a link by both readings of table 2.4, in its frame.

    Returns
    -------
    about_centre, about_frame : ndarray, shape (10,)
        The printed tensor taken about the centre of mass, and, as the caption says, about the
        link frame.

    """
    mass, centre = thesis.MASSES[link], thesis.CENTRES[link]
    tensor = np.diag(thesis.MOMENTS[link])
    tensor[0, 2] = tensor[2, 0] = thesis.PRODUCT_XZ[link]
    shifted = tensor + mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    first, second = (
        np.concatenate([[mass], mass * centre, one[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]])
        for one in (shifted, tensor)
    )
    return first, second


def _about_centre(link: int, parameters: FloatArray) -> FloatArray:
    """Return the tensor about the centre of mass, shape (3, 3)."""
    xx, xy, yy, xz, yz, zz = parameters[4:]
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    mass, centre = thesis.MASSES[link], thesis.CENTRES[link]
    moved: FloatArray = tensor - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    return moved


def refusal_of_the_caption() -> str:
    """Return what the loader of link tables says where the caption of table 2.4 is followed."""
    content = read_yaml(share_directory() / TABLE_FILE)
    content['inertia_about'] = 'frame'
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'ur5_porcelli.yaml'
        path.write_text(dump_yaml(content))
        try:
            read_link_table(path)
        except DescriptionError as error:
            return str(error).replace(f'{path}: ', '')
    return ''


def drives_table() -> Table:
    """Return table 2.5 on the joint's side."""
    return Table(
        'drives', 'Drives on the side of the joint (from thesis table 2.5)',
        ('joint', 'rotor inertia printed [kg m²]', 'G² J_m [kg m²]', 'friction up, G f [N m]',
         'friction down, G f [N m]', 'noise of 50 dB as torque [N m]'),
        tuple(
            (name, thesis.ROTOR_INERTIA[k], thesis.GEAR_RATIO**2 * thesis.ROTOR_INERTIA[k],
             float(thesis.GEAR_RATIO * thesis.FRICTION_UP[k]),
             float(thesis.GEAR_RATIO * thesis.FRICTION_DOWN[k]),
             float(noise_deviation() * thesis.TORQUE_CONSTANT[k] * thesis.GEAR_RATIO))
            for k, name in enumerate(LINK_NAMES)
        ),
    )


def noise_deviation() -> float:
    """Return the standard deviation that awgn(x, 50) adds: it takes signals to be of 0 dBW."""
    return float(10.0 ** (-thesis.NOISE_DECIBEL / 20.0))


def thesis_reduction(robot: RobotModel, samples: int = 200) -> BaseReduction:
    """Return the base parameters of a group in the thesis' frames and order of preference."""
    return reduce_to_base(
        robot, make_standard_parameters(robot.n, (), False), frames=link_frames(robot, 'dh'),
        preference='mass_first', samples=samples,
    )


@dataclass(frozen=True)
class BaseList:
    """Base parameters of a group in the thesis' order: expressions, and values by the tables."""

    expressions: tuple[str, ...]
    values: tuple[float, ...]


def base_list(robot: RobotModel) -> BaseList:
    """Return the base parameters of a group as formulas of the arm's lengths."""
    reduction = thesis_reduction(robot)
    found = find_symbols(robot, reduction, link_frames(robot, 'dh'))
    rows = published_rows(reduction, PUBLISHED_ORDERS['porcelli'])
    values = reduction.K @ dh_parameters(robot)
    return BaseList(
        tuple(to_text(found.expressions[row]) for row in rows),
        # What is rounding is zero.
        tuple(round(float(values[row]), 12) + 0.0 for row in rows),
    )


def base_table(group: str, found: BaseList) -> Table:
    """Return the list that eq. 4.4 or 4.5 should show."""
    # What can be read of eq. 4.4; nothing of eq. 4.5.
    printed: dict[int, str] = {}
    if group == 'BSE':
        printed = {0: 'J1zz + J3yy - J3zz', 1: 'm2', 8: 'm3'}
    equation = '4.4' if group == 'BSE' else '4.5'
    return Table(
        f'base_{group.lower()}', f'Base parameters of {group} (thesis eq. {equation}, restored)',
        ('number', 'legible in the thesis', 'here', 'value by tables 2.3 and 2.4 [SI]'),
        tuple(
            (k + 1, printed.get(k), expression, value)
            for k, (expression, value) in enumerate(
                zip(found.expressions, found.values, strict=True)
            )
        ),
        'Standard Denavit-Hartenberg link frames, inertias I about the frame (J in the thesis); '
        'a and d are the lengths of table 2.2.',
    )


def count_base(robot: RobotModel, *, drives: bool = False, samples: int = 200) -> int:
    """Return how many base parameters an arm has, with friction and rotors or without."""
    laws = parse_friction('coulomb,viscous' if drives else 'none')
    parameters = make_standard_parameters(robot.n, laws, drives)
    return reduce_to_base(robot, parameters, samples=samples).rank


def wrist_rank_inside_the_arm(robot: RobotModel) -> int:
    """Return the rank of the wrist's own block of the whole arm's matrix, all joints moving."""
    motion = random_motion(robot, 200, np.random.default_rng(0))
    W = inertial_regressor(robot, motion).reshape(-1, 6, 60)[:, 3:, 30:].reshape(-1, 30)
    return int(np.linalg.matrix_rank(W))


def tilted(groups: Mapping[str, RobotModel]) -> dict[str, RobotModel]:
    """Return robots whose first axis is not vertical."""
    return {
        name: robot.with_gravity(gravity_of_mounting(*TILT)) for name, robot in groups.items()
    }


def counts_table() -> Table:
    """Return numbers of base parameters, printed and found."""
    arm = load_robot('ur5_porcelli')
    groups = {name: load_robot(robot) for name, (robot, _) in thesis.GROUPS.items()}
    leaning = tilted(groups)
    thirteen = make_standard_parameters(6, parse_friction('coulomb,viscous'), True)
    rows: list[tuple[str, int | None, int, str]] = []
    for name, robot in groups.items():
        rows += [
            (f'{name}, 30 standard parameters, 25 random points', thesis.GROUP_BASE,
             count_base(robot, samples=thesis.RANDOM_POINTS), 'as the thesis does it'),
            (f'{name}, 200 random points', thesis.GROUP_BASE, count_base(robot), ''),
            (f'{name}, first axis not vertical', None, count_base(leaning[name]),
             'gravity is not along the first axis: two more'),
        ]
    rows += [
        ('W, carried by the moving arm', None, wrist_rank_inside_the_arm(arm),
         "what the wrist's own torques show of it on a real arm"),
        ('whole arm, rigid', None, count_base(arm), 'eq. 4.2, which MATLAB could not hold'),
        ('whole arm, columns of eq. 3.45', 78, thirteen.size, '13 for each link'),
        ('whole arm with friction and rotors', None, count_base(arm, drives=True),
         'what the thesis leaves to future work; 52 in Tika 2020 and Raviola 2021'),
    ]
    return Table(
        'counts', 'Numbers of base parameters (thesis chapter 4)',
        ('which', 'printed', 'here', 'remark'), tuple(rows),
    )


def torques_table(robot: RobotModel) -> Table:
    """Return the arm's torques at two states, by Pinocchio and by MuJoCo."""
    rest = Motion(*(np.zeros((1, robot.n)) for _ in range(3)))
    columns = []
    for state in (rest, EXAMPLE):
        columns.append(rigid_torque(robot, state)[0])
        columns.append(rigid_inverse_dynamics(robot, prior_truth(robot), state)[0])
    return Table(
        'torques', 'Torques of the arm of tables 2.2 to 2.4, for those who rebuild it [N m]',
        ('joint', 'at rest, q = 0, Pinocchio', 'MuJoCo', 'moving, Pinocchio', 'moving, MuJoCo'),
        tuple(
            # What is rounding is zero.
            (name, *(round(float(column[k]), 9) + 0.0 for column in columns))
            for k, name in enumerate(LINK_NAMES)
        ),
        'Moving: q = (0.1, -1.2, 0.8, -0.5, 0.4, 0.3) rad, velocities (0.5, -0.4, 0.3, 0.2, -0.1, '
        '0.6) rad/s, accelerations (1, -0.5, 0.7, 0.3, -0.2, 0.4) rad/s²; g = 9.81 m/s².',
    )
