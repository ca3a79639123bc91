# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Observation matrix and structural reduction beside those of FIGAROH, where it is installed."""

from __future__ import annotations

from importlib.metadata import version
from types import SimpleNamespace

import numpy as np
from robot_identification.errors import MissingDependencyError
from robot_identification.model.base_parameters import random_motion
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.catalogue import load_robot
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.regressor import Motion
from robot_identification.model.regressor import observation_matrix
from robot_identification.model.robot_model import RobotModel

from .figures import alternate
from .figures import Figure
from .figures import ratio

REPEATS = 9
SAMPLES = 5000
# What reduce_to_base draws by default.
STRUCTURE_SAMPLES = 200
COLUMNS = {'has_friction': True, 'has_actuator_inertia': True, 'has_joint_offset': False}


def measure(repeats: int) -> list[Figure]:
    """Return the ratios of FIGAROH's times to ours, for the same samples of a UR5."""
    try:
        from figaroh.tools import regressor
    except ImportError:
        raise MissingDependencyError(
            'FIGAROH', 'the comparison with it', 'pip install figaroh'
        ) from None
    robot = load_robot('ur5')
    parameters = make_standard_parameters(robot.n, parse_friction('coulomb_sign,viscous'), True)
    motion = random_motion(robot, SAMPLES, np.random.default_rng(0))
    few = motion.part(slice(0, STRUCTURE_SAMPLES))
    theirs = SimpleNamespace(
        model=robot.pinocchio, data=robot.pinocchio.createData(), nv=robot.n,
    )
    options = {**COLUMNS, 'is_joint_torques': True, 'act_idxv': list(range(robot.n))}

    def their_matrix(part: Motion) -> np.ndarray:
        return regressor.build_regressor_basic(theirs, part.q, part.dq, part.ddq, options)

    rank = reduce_to_base(robot, parameters).rank
    found = reduce_with_figaroh(their_matrix(few), robot)
    if found != rank:
        raise AssertionError(f'FIGAROH finds {found} base parameters, we {rank}')
    our_matrix, figaroh_matrix, ours, figaroh = alternate(
        (
            lambda: observation_matrix(robot, parameters, motion),
            lambda: their_matrix(motion),
            lambda: reduce_to_base(robot, parameters),
            lambda: reduce_with_figaroh(their_matrix(few), robot),
        ),
        repeats,
    )
    release = version('figaroh')
    return [
        Figure(f'observation matrix, FIGAROH {release} / ours', '',
               ratio(figaroh_matrix, our_matrix)),
        Figure(f'structural reduction, FIGAROH {release} / ours', '', ratio(figaroh, ours)),
        Figure('base parameters both find', '', (float(rank),)),
    ]


def reduce_with_figaroh(W: np.ndarray, robot: RobotModel) -> int:
    """Return the number of base parameters that FIGAROH finds in an observation matrix."""
    from figaroh.tools import qrdecomposition
    from figaroh.tools import regressor

    names = {f'column {index}': 0.0 for index in range(W.shape[1])}
    dropped, kept = regressor.get_index_eliminate(W, names, 1e-6)
    reduced = regressor.build_regressor_reduced(W, dropped)
    _, _, independent = qrdecomposition.get_baseParams(reduced, kept, names)
    return len(independent)
