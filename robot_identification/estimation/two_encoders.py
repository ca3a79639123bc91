# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Identification with an encoder on each side of the gears (Madsen et al. 2020).

The motor works against the rotor's inertia, the friction of the gear, and the torque that the gear
passes on to the link::

    effort * drive gain = Ia ddtheta + f(dtheta, tau_J, T) + tau_J
    tau_J = Y(q, dq, ddq) @ bodies

with the link's angle q from one encoder and the rotor's angle theta, over the gear ratio, from the
other. Friction that was found before, and rotor inertias that are known, are taken off the motor's
torque; bodies, what the known friction leaves over, and unknown rotor inertias are estimated.

References
----------
.. [1] E. Madsen, S. A. Timm, N. A. Ujfalusi, O. S. Rosenlund, D. Brandt, X. Zhang, "Dynamics
   parametrization and calibration of flexible-joint collaborative industrial robot manipulators",
   Mathematical Problems in Engineering, 2020.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray, triangle_of
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.estimation.estimate import Estimate, Estimator
from robot_identification.estimation.estimators.least_squares import WeightedLeastSquares
from robot_identification.estimation.problem import (
    IdentificationProblem, Observations, TriangularFactor,
)
from robot_identification.estimation.solving import need_observations
from robot_identification.files import (
    check_keys, read_yaml, to_list, to_mapping, to_number,
)
from robot_identification.model import (
    BaseReduction, FRICTION_LAWS, FrictionLaw, FrictionTerm, reduce_to_base, RobotModel,
    StandardParameters,
)
from robot_identification.processing import Dataset, have_rotors

# Where rotor inertias come from.
AUTOMATIC, KNOWN, ESTIMATED = ROTOR_INERTIAS = ('auto', 'known', 'estimated')
# A note lists no more names than this.
MOST_NAMES = 8
# Keys of a friction entry, of which model files have more than are read.
_LAW_KEYS = {'law', 'coefficients'}
_OTHER_LAW_KEYS = {'constants', 'standard_errors', 'units'}


@dataclass(frozen=True)
class KnownFriction:
    """Friction of a joint that was found before, from sweeps at constant speeds for instance."""

    law: FrictionLaw  # with its constants
    coefficients: tuple[float, ...]  # in the order of the law's symbols

    def __post_init__(self) -> None:
        symbols = self.law.symbols
        if len(self.coefficients) != len(symbols):
            raise DescriptionError(
                f'coefficients of known friction {self.law.name} are {list(self.coefficients)}, '
                f'there must be one number for each of {", ".join(symbols)}'
            )

    def as_plain(self) -> dict[str, Any]:
        """Return its entry in a file."""
        return {
            'law': self.law.name, 'constants': asdict(self.law),
            'coefficients': list(self.coefficients),
        }


@dataclass(frozen=True)
class TwoEncoders:
    """Known properties of the drives where both sides of the gears are measured."""

    # 'known' takes the rotor inertias of the robot's YAML. 'estimated' distinguishes all from the
    # inertias of the links by the difference of both accelerations, where there are rotor
    # positions: that must be larger than its noise. 'auto' is 'known' if all recordings have rotor
    # positions and the YAML all inertias; else rotor inertias are estimated as with one encoder,
    # some of them as one with those of links.
    rotor_inertia: str = AUTOMATIC
    # by joint; a joint without has none
    friction: Mapping[str, tuple[KnownFriction, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.rotor_inertia not in ROTOR_INERTIAS:
            raise DescriptionError(
                f'rotor_inertia of two_encoders is {self.rotor_inertia!r}, it must be one of '
                f'{", ".join(ROTOR_INERTIAS)}'
            )

    def terms(self, robot: RobotModel, others: Sequence[str]) -> tuple[FrictionTerm, ...]:
        """
        Return the known friction as terms of an arm.

        Friction of an unknown joint, or of a law in `others`, which are estimated, raises a
        `UsageError`.
        """
        strange = [name for name in self.friction if name not in robot.joint_names]
        if strange:
            raise UsageError(
                f'known friction is given for {", ".join(strange)}, {robot.name} has the joints '
                f'{", ".join(robot.joint_names)}'
            )
        by_joint = [self.friction.get(name, ()) for name in robot.joint_names]
        for name, entries in zip(robot.joint_names, by_joint, strict=True):
            laws = [known.law.name for known in entries]
            twice = {law for law in laws if law in others or laws.count(law) > 1}
            if twice:
                raise UsageError(
                    f'friction {", ".join(sorted(twice))} of {name} is known and to be estimated, '
                    'or known twice: leave it out of --friction, or of what is known'
                )
        # By kind, joints inner, as in model files.
        return tuple(
            FrictionTerm(joint, entries[position].law)
            for position in range(max(map(len, by_joint)))
            for joint, entries in enumerate(by_joint) if position < len(entries)
        )

    def known_values(self, observations: Observations) -> dict[str, float]:
        """
        Return the standard parameters that are not estimated, by name.

        Rotor inertias that are asked for and not stated raise a `UsageError`.
        """
        robot = observations.robot
        values = {
            f'{symbol}{joint + 1}': float(value)
            for joint, name in enumerate(robot.joint_names)
            for known in self.friction.get(name, ())
            for symbol, value in zip(known.law.symbols, known.coefficients, strict=True)
        }
        parameters = observations.reduction.parameters
        datasets = [part.dataset for part in observations.data]
        if not parameters.reflected_inertia or not self._knows_rotors(robot, datasets):
            return values
        names = parameters.names[parameters.reflected_inertia_slice]
        return values | dict(zip(names, robot.drives.reflected_inertia.tolist(), strict=True))

    def _knows_rotors(self, robot: RobotModel, datasets: Sequence[Dataset]) -> bool:
        unknown = ~np.isfinite(robot.drives.reflected_inertia)
        if self.rotor_inertia == KNOWN and unknown.any():
            raise UsageError(
                f'the rotor inertia of {", ".join(np.array(robot.joint_names)[unknown])} is not '
                f'in the YAML of {robot.name}: state it, or set rotor_inertia: estimated'
            )
        return self.rotor_inertia == KNOWN or (
            self.rotor_inertia == AUTOMATIC and have_rotors(datasets) and not unknown.any()
        )

    def reduce(
        self, robot: RobotModel, parameters: StandardParameters, datasets: Sequence[Dataset]
    ) -> BaseReduction:
        """
        Return the base parameters.

        Rotor inertias that are known, or distinguished from those of the links by their own
        motion, are base parameters by themselves.
        """
        known = self.terms(robot, ())
        rotors = self._knows_rotors(robot, datasets) or (
            self.rotor_inertia == ESTIMATED and have_rotors(datasets)
        )
        tested = StandardParameters(
            parameters.n, tuple(term for term in parameters.friction if term not in known),
            parameters.reflected_inertia and not rotors,
        )
        return reduce_to_base(robot, tested).extended(parameters)

    def as_plain(self) -> dict[str, Any]:
        """Return its content in a recipe file."""
        return {
            'rotor_inertia': self.rotor_inertia,
            'friction': {
                joint: [known.as_plain() for known in laws]
                for joint, laws in self.friction.items()
            },
        }


def two_encoders_from_content(content: Any, folder: Path) -> TwoEncoders:
    """
    Return what a recipe file says of the drives.

    A missing model file raises a `UsageError`, anything else that is wrong a `DescriptionError`.
    """
    check_keys(
        to_mapping(content, 'two_encoders'), 'two_encoders', set(), {'rotor_inertia', 'friction'}
    )
    friction = content.get('friction', {})
    where = 'friction of two_encoders'
    if isinstance(friction, str):
        path = folder / friction
        where, friction = str(path), read_yaml(path).get('friction')
    return TwoEncoders(
        content.get('rotor_inertia', AUTOMATIC),
        {
            str(joint): tuple(
                _known_friction(entry, f'{where}: {joint}')
                for entry in to_list(entries, f'{where}: {joint}')
            )
            for joint, entries in to_mapping(friction, where).items()
        },
    )


def _known_friction(entry: Any, where: str) -> KnownFriction:
    check_keys(to_mapping(entry, where), where, _LAW_KEYS, _OTHER_LAW_KEYS)
    name = entry['law']
    if not isinstance(name, str) or name not in FRICTION_LAWS:
        raise DescriptionError(
            f'{where}: unknown friction law {name!r}, known are {", ".join(FRICTION_LAWS)}'
        )
    law, constants = FRICTION_LAWS[name], entry.get('constants', {})
    check_keys(
        to_mapping(constants, f'{where}: constants'), f'{where}: constants', set(),
        set(law.__dataclass_fields__),
    )
    # Model files have null for what their data did not show, which counts as zero.
    values = [
        0.0 if value is None else to_number(value, f'{where}: coefficient of {name}')
        for value in to_list(entry['coefficients'], f'{where}: coefficients')
    ]
    try:
        return KnownFriction(law(**constants), tuple(values))
    except DescriptionError as error:
        raise DescriptionError(f'{where}: {error}') from error


@dataclass(frozen=True)
class TwoEncoderFit(Estimator):
    """Estimate what is not known beforehand: known torques are taken off the measured ones."""

    two_encoders: TwoEncoders = field(default_factory=TwoEncoders)  # what is known
    # how the rest is estimated: one that works on the factors alone
    estimator: Estimator = field(default_factory=lambda: WeightedLeastSquares(reweightings=1))

    def known(self, problem: IdentificationProblem) -> dict[str, float]:
        """Return the base parameters that are known, by name."""
        return self.two_encoders.known_values(need_observations(problem, 'two_encoders'))

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate the rest; see `Estimator.estimate`."""
        return estimate_rest(problem, self.known(problem), self.estimator)


def estimate_rest(
    problem: IdentificationProblem, known: Mapping[str, float], estimator: Estimator
) -> Estimate:
    """Estimate base parameters of which some are known."""
    names = problem.reduction.names
    values = np.array([known.get(name, np.nan) for name in names])
    is_known = np.append(np.isfinite(values), np.zeros(problem.nuisance, dtype=bool))
    if not is_known.any():
        return estimator.estimate(problem)
    theta = np.zeros(problem.size)
    theta[is_known] = values[np.isfinite(values)]
    free = np.flatnonzero(~is_known[: len(names)])
    found = estimator.estimate(_without(problem, free, theta))
    b = len(names)
    theta[~is_known] = found.unknowns
    covariance = np.zeros((b, b))
    covariance[np.ix_(free, free)] = found.covariance
    active = is_known[:b].copy()
    active[free] = found.active
    given = [name for name, taken in zip(names, is_known, strict=False) if taken]
    listed = ', '.join(given) if len(given) <= MOST_NAMES else f'{len(given)} parameters'
    return replace(
        found, theta=theta[:b], covariance=covariance, nuisance=theta[b:], problem=problem,
        active=active, notes=(*found.notes, f'known beforehand and not estimated: {listed}'),
    )


def _without(
    problem: IdentificationProblem, free: np.ndarray, theta: FloatArray
) -> IdentificationProblem:
    """Return the problem of the free base parameters, the torque of `theta` taken off."""
    def take_off(factor: TriangularFactor) -> TriangularFactor:
        triangle = factor.triangle.copy()
        triangle[:, -1] -= triangle[:, :-1] @ theta[factor.columns]
        return replace(factor, triangle=triangle_of(np.asfortranarray(triangle)))

    less = replace(
        problem,
        factors=tuple(take_off(factor) for factor in problem.factors),
        blocks=tuple(tuple(take_off(factor) for factor in block) for block in problem.blocks),
        phases=tuple(tuple(take_off(factor) for factor in block) for block in problem.phases),
        observations=None,
    )
    return less.select(free)
