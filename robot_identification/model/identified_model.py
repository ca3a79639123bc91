# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""IdentifiedModel: what a user keeps, enough to predict, validate and export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError, InconsistentModelError, UsageError
from robot_identification.model.base_parameters import BaseReduction
from robot_identification.model.corrections import Corrections
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.model.parameters import EFFORT_UNITS, StandardParameters
from robot_identification.model.payload import joint_parameters, Payload
from robot_identification.model.regressor import Motion, prior_inertial_parameters, standard_torque
from robot_identification.model.robot_model import RobotModel
from robot_identification.texts import short_repr

# Longer delays of the effort are mistakes of a unit [s].
LONGEST_DELAY = 0.5


@dataclass(frozen=True)
class SignalSource:
    """Sources of the signals in a recording, and their processing."""

    topic: str = '/joint_states'
    #: Name in the model by name in the bag, where they differ.
    joint_names: Mapping[str, str] = field(default_factory=dict)
    kinematic_filter: KinematicFilter = field(default_factory=KinematicFilter)
    delay: float = 0.0  #: by which effort lags behind position [s]; 0 is not compensated
    #: Columns and units of recordings that are tables; not in the model file.
    table_mapping: Path | None = None
    #: Of the commands whose position error is the effort [s]; None: effort is as recorded.
    command_delay: float | None = None


@dataclass(frozen=True, eq=False)
class IdentifiedModel:
    """An identified arm."""

    #: Description, joints, gravity and drive gains used, as `RobotModel.for_effort` has it.
    robot: RobotModel
    effort_unit: str  #: Of the recorded effort, one of EFFORT_UNITS.
    reduction: BaseReduction  #: Meaning of the base parameters.
    #: (b,): base parameters, friction and reflected inertia among them, SI units.
    theta_base: FloatArray
    covariance: FloatArray  #: (b, b): of `theta_base`.
    #: (p,): physically consistent standard parameters, which exports and simulators use; with the
    #: same base parameters where there are such, else nearly.
    theta_consistent: FloatArray | None
    consistency_note: str  #: How they were found, or why there are none.
    source: SignalSource  #: Topic, names, filter and delay of the training data.
    provenance: Mapping[str, Any]  #: How the model was made.
    quality: Mapping[str, Any]  #: How good it is.
    #: True where drive gains were unknown: torques are then in ampere times an unknown gain.
    relative_scale: bool = False
    #: How the covariance was found: 'residual' takes residuals as white, the others do not.
    covariance_kind: str = 'residual'
    #: (n,): mean temperature of each joint in the training data [deg C].
    temperature: FloatArray | None = None
    #: Bodies added to the last link after the identification; they are in the parameters already.
    payloads: tuple[Payload, ...] = ()
    #: What predictions and errors have beside the parameters.
    corrections: Corrections = field(default_factory=Corrections)

    __repr__ = short_repr

    @property
    def parameters(self) -> StandardParameters:
        """Return the standard parameters behind the base parameters."""
        return self.reduction.parameters

    @property
    def standard_errors(self) -> FloatArray:
        """Return the standard errors of the base parameters, shape (b,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def theta_lifted(self) -> FloatArray:
        """
        Return the standard parameters with the model's torques, shape (p,).

        They are zero wherever the base parameters leave a choice, and so are not those of a
        rigid body; for that see `theta_consistent`.
        """
        return self.reduction.lift(self.theta_base)

    @property
    def effort_per_torque(self) -> FloatArray:
        """Return what turns joint torque into the recorded effort, shape (n,)."""
        gain = self.robot.drives.drive_gain
        is_current = EFFORT_UNITS[self.effort_unit].is_current
        return 1.0 / gain if is_current else np.ones(self.robot.n)

    def torque(self, motion: Motion) -> FloatArray:
        """Return the joint torques (N, n) [N m] along the start of a recording of N samples."""
        return standard_torque(self.robot, self.parameters, self.theta_lifted, motion)

    def effort(self, motion: Motion) -> FloatArray:
        """Return the model's effort in the bag's unit, shape (N, n); see `torque`."""
        return self.torque(motion) * self.effort_per_torque

    def with_consistent_parameters(self) -> IdentifiedModel:
        """
        Return the model whose torques are those of the physically consistent parameters.

        Raises InconsistentModelError if there are none.
        """
        if self.theta_consistent is None:
            raise InconsistentModelError(
                f'the model of {self.robot.name} has no physically consistent parameters: '
                f'{self.consistency_note}'
            )
        return replace(self, theta_base=self.reduction.K @ self.theta_consistent)

    def with_quality(self, quality: Mapping[str, Any]) -> IdentifiedModel:
        """Return the model with other quality figures."""
        return replace(self, quality=quality)

    def with_mapping(self, mapping: Path | None) -> IdentifiedModel:
        """Return the model with columns and units of recordings that are tables."""
        return replace(self, source=replace(self.source, table_mapping=mapping))


def check_shows_gravity(model: IdentifiedModel, purpose: str) -> None:
    """Raise UsageError if a model is of an effort without gravity, which a purpose needs."""
    unit = EFFORT_UNITS[model.effort_unit]
    if not unit.with_gravity:
        raise UsageError(
            f'the model of {model.robot.name} was identified from {unit.description}, and '
            f'{purpose}: identify the arm from motor current, or from torque with gravity'
        )


def with_payload(model: IdentifiedModel, payload: Payload) -> IdentifiedModel:
    """
    Return an identified model that carries a payload besides those that it has.

    Its base parameters are ``theta_base + K @ payload``; the covariance is the bare arm's. Raises
    UsageError if the scale of the model is relative, or the payload's frame is not fixed to its
    last link.
    """
    if model.relative_scale:
        raise UsageError(
            f'the model of {model.robot.name} has a relative scale: a payload in kg cannot be '
            'added to it; identify with --drive-gains'
        )
    added = np.zeros(model.parameters.size)
    last = slice(10 * (model.robot.n - 1), 10 * model.robot.n)
    added[last] = joint_parameters(model.robot, payload)
    consistent = model.theta_consistent
    return replace(
        model,
        theta_base=model.theta_base + model.reduction.K @ added,
        theta_consistent=None if consistent is None else consistent + added,
        payloads=(*model.payloads, payload),
    )


def equivalent_bodies(
    model: IdentifiedModel, same: float = 1e-8
) -> tuple[pin.Model, FloatArray]:
    """
    Return bodies, and reflected inertias (n,) [kg m^2], that have a model's base parameters.

    Base parameters fix every torque, and with it mass matrix and Coriolis terms; where they leave
    a choice these are those of the description. They need not be possible ones: they are for sums,
    not for simulators.

    Raises DataError if no bodies with a mass have these parameters: if those of the bodies are not
    the model's, up to a share `same` of the largest one.
    """
    robot, parameters, reduction = model.robot, model.parameters, model.reduction
    theta = np.zeros(parameters.size)
    theta[: 10 * robot.n] = prior_inertial_parameters(robot)
    # Independent parameters take up what the description lacks of the base parameters.
    theta[reduction.independent] += model.theta_base - reduction.K @ theta
    pinocchio, wanted = robot.pinocchio.copy(), theta[: 10 * robot.n].reshape(-1, 10)
    for joint, own in enumerate(wanted):
        pinocchio.inertias[joint + 1] = pin.Inertia.FromDynamicParameters(own)
    found = [body.toDynamicParameters() for body in list(pinocchio.inertias)[1:]]
    if not np.allclose(found, wanted, rtol=0.0, atol=same * (1.0 + np.abs(wanted).max())):
        raise DataError(
            f'the base parameters of {robot.name} are of no bodies with a mass: no momentum can '
            'be observed with this model'
        )
    rotors = np.zeros(robot.n)
    if parameters.reflected_inertia:
        rotors = theta[parameters.reflected_inertia_slice]
    return pinocchio, rotors
