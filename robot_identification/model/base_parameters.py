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

"""
Base parameters: the combinations of standard parameters that motion can show.

The structure is decided on random samples of the model, never on measured data. Columns are taken
greedily in a stated order of preference, which makes the result the set of Gautier and Khalil for
arms in modified Denavit-Hartenberg frames.

References
----------
.. [1] M. Gautier, "Numerical calculation of the base inertial parameters of robots",
   J. Robotic Systems 8(4), 1991.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.errors import DescriptionError
from robot_identification.model.friction.law import FloatArray
from robot_identification.model.parameters import INERTIAL_SYMBOLS
from robot_identification.model.parameters import StandardParameters
from robot_identification.model.regressor import Motion
from robot_identification.model.regressor import observation_matrix
from robot_identification.model.robot_model import RobotModel

# Base to tip; inside a link the parameters that are most often identifiable alone come first.
PREFERENCE = ('Izz', 'Ixx', 'Ixy', 'Ixz', 'Iyz', 'mx', 'my', 'Iyy', 'mz', 'm')
# Part of a unit column that the ones before it leave unexplained: rounding is 1e-15, and the
# smallest independent part seen on the shipped arms is 0.1, so the limit is not delicate.
INDEPENDENCE_TOLERANCE = 1.0e-8
# A coefficient below this is rounding.
COEFFICIENT_TOLERANCE = 1.0e-9


@dataclass(frozen=True)
class BaseReduction:
    """
    How the base parameters follow from the standard ones.

    Attributes
    ----------
    parameters : StandardParameters
        The standard parameters, size p.
    K : ndarray, shape (b, p)
        ``theta_base = K @ theta_standard``.
    independent : ndarray of int, shape (b,)
        The columns of the observation matrix that stay: ``W_base = W[:, independent]``.
    gap : float
        Smallest accepted over largest rejected part of a column: how clear the rank is.

    """

    parameters: StandardParameters
    K: FloatArray
    independent: np.ndarray
    gap: float

    @property
    def rank(self) -> int:
        """Number of base parameters b."""
        return len(self.independent)

    @property
    def names(self) -> tuple[str, ...]:
        """Leading standard parameter of every base parameter, length b."""
        return tuple(self.parameters.names[index] for index in self.independent)

    @property
    def units(self) -> tuple[str, ...]:
        """SI units of the base parameters, length b."""
        return tuple(self.parameters.units[index] for index in self.independent)

    def expression(self, index: int) -> str:
        """Return base parameter `index` as a sum of standard parameters."""
        names = self.parameters.names
        leading = self.independent[index]
        text: str = names[leading]
        for column in np.flatnonzero(np.abs(self.K[index]) > COEFFICIENT_TOLERANCE):
            if column != leading:
                value = self.K[index, column]
                factor = '' if abs(abs(value) - 1.0) < 1e-9 else f'{_clean(abs(value)):.6g} '
                text += f' {"-" if value < 0 else "+"} {factor}{names[column]}'
        return text

    def classes(self) -> dict[str, tuple[str, ...]]:
        """
        Return the names of the standard parameters by identifiability (linear convention).

        Returns
        -------
        dict
            'identifiable': alone; 'combined': only in a combination; 'unidentifiable': no motion
            shows them.

        """
        used = np.abs(self.K) > COEFFICIENT_TOLERANCE
        alone = {
            int(leading)
            for row, leading in zip(used, self.independent, strict=True)
            if row.sum() == 1
        }
        classes: dict[str, list[str]] = {'identifiable': [], 'combined': [], 'unidentifiable': []}
        for column, name in enumerate(self.parameters.names):
            kind = (
                'identifiable'
                if column in alone
                else 'combined' if used[:, column].any() else 'unidentifiable'
            )
            classes[kind].append(name)
        return {kind: tuple(names) for kind, names in classes.items()}


def _clean(value: float) -> float:
    """Return a number without its rounding noise, so that equal ones are printed equal."""
    return float(f'{value:.10g}')


def random_motion(robot: RobotModel, samples: int, rng: np.random.Generator) -> Motion:
    """
    Return unrelated random samples for structural questions.

    Positions within the limits or half a turn, velocities up to 3 rad/s, accelerations up to
    5 rad/s^2: numbers of one size keep the columns comparable; they are not meant to be executed.
    """
    lower = np.clip(robot.limits.lower, -np.pi, np.pi)
    upper = np.clip(robot.limits.upper, -np.pi, np.pi)
    shape = (samples, robot.n)
    return Motion(
        rng.uniform(lower, upper, shape),
        rng.uniform(-3.0, 3.0, shape),
        rng.uniform(-5.0, 5.0, shape),
    )


def preference_order(parameters: StandardParameters) -> list[int]:
    """Return the column indices in order of preference: links base to tip, friction, rotors."""
    inertial = [
        10 * link + INERTIAL_SYMBOLS.index(symbol)
        for link in range(parameters.n)
        for symbol in PREFERENCE
    ]
    return inertial + list(range(10 * parameters.n, parameters.size))


def reduce_to_base(
    robot: RobotModel, parameters: StandardParameters, *, samples: int = 200, seed: int = 0
) -> BaseReduction:
    """
    Find the base parameters of an arm [1]_.

    Parameters
    ----------
    robot : RobotModel
        The arm, in its mounting.
    parameters : StandardParameters
        The columns to consider.
    samples : int
        Random samples; 100 are ample for 6 joints.
    seed : int
        Of the random samples.

    Raises
    ------
    DescriptionError
        If the rank is not clear (a gap below 1000 between accepted and rejected columns), or the
        singular values disagree with it.

    """
    rng = np.random.default_rng(seed)
    motion = random_motion(robot, samples, rng)
    tau_rigid = rng.normal(size=(samples, robot.n))
    W = observation_matrix(robot, parameters, motion, None, tau_rigid)
    scale = np.linalg.norm(W, axis=0)
    null = scale <= 1e-9 * scale.max()
    unit = W / np.where(null, 1.0, scale)
    basis = np.zeros((len(W), 0))
    independent: list[int] = []
    smallest_accepted, largest_rejected = np.inf, 1e-16
    for column in preference_order(parameters):
        if null[column]:
            continue
        rest = unit[:, column]
        for _ in range(2):  # once more: orthogonal to rounding
            rest = rest - basis @ (basis.T @ rest)
        size = float(np.linalg.norm(rest))
        if size > INDEPENDENCE_TOLERANCE:
            independent.append(column)
            basis = np.column_stack([basis, rest / size])
            smallest_accepted = min(smallest_accepted, size)
        else:
            largest_rejected = max(largest_rejected, size)
    chosen = np.array(sorted(independent))
    gap = smallest_accepted / largest_rejected
    singular = np.linalg.svd(unit[:, ~null], compute_uv=False)
    rank = int(np.sum(singular > 1e-10 * singular[0]))
    if gap < 1e3 or rank != len(chosen):
        raise DescriptionError(
            f'{robot.name}: the number of base parameters is not clear '
            f'({len(chosen)} by QR, {rank} by singular values, gap {gap:.1e}); '
            'check the URDF for links of extreme size'
        )
    K = np.zeros((len(chosen), parameters.size))
    solution = np.linalg.lstsq(unit[:, chosen], unit, rcond=None)[0]
    K[:, :] = solution * np.where(null, 0.0, scale) / scale[chosen][:, None]
    K[np.abs(K) < COEFFICIENT_TOLERANCE] = 0.0
    K[:, chosen] = np.eye(len(chosen))
    return BaseReduction(parameters, K, chosen, gap)
