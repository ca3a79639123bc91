# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""IdentifiedModel: what a user keeps, enough to predict, validate and export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, overload, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
import robot_identification
from robot_identification.arrays import as_floats, FloatArray
from robot_identification.errors import InconsistentModelError, needing, UsageError
from robot_identification.files import AnyPath, write_atomically
from robot_identification.model.base_parameters import BaseReduction
from robot_identification.model.corrections import Corrections
from robot_identification.model.dynamics import (
    ArrayDynamics, friction_curve, FrictionCurve, link_bodies, LinkBody, TorqueParts,
)
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.model.parameters import EFFORT_UNITS, StandardParameters
from robot_identification.model.payload import joint_parameters, Payload
from robot_identification.model.regressor import Motion, standard_torque
from robot_identification.model.robot_model import RobotModel
from robot_identification.texts import html_of, short_repr

if TYPE_CHECKING:
    import pandas

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
    _repr_html_ = html_of

    def __str__(self) -> str:
        robot, joints = self.robot, ', '.join(self.robot.joint_names)
        return '\n'.join([
            f'Identified model of {robot.name}: {self.quality.get("verdict", "not judged")}',
            f'Joints: {joints}',
            f'Effort: {EFFORT_UNITS[self.effort_unit].description} [{self.effort_unit}]',
            f'{self.reduction.rank} base parameters (to_frame), '
            f'{len(self.parameters.friction)} friction laws (friction), '
            f'{robot.n if self.theta_consistent is not None else "no"} consistent bodies (links)',
        ])

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

    @property
    def uses_rotors(self) -> bool:
        """Return whether it was identified with the rotors' own positions."""
        return bool(self.provenance.get('two_encoders'))

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Return the names of the base parameters, in the order of `theta_base`."""
        return self.reduction.names

    @overload
    def torque(
        self, q: ArrayLike | Motion, dq: ArrayLike | None = None, ddq: ArrayLike | None = None, *,
        temperature: ArrayLike | None = None, parts: Literal[False] = False,
    ) -> FloatArray: ...

    @overload
    def torque(
        self, q: ArrayLike | Motion, dq: ArrayLike | None = None, ddq: ArrayLike | None = None, *,
        temperature: ArrayLike | None = None, parts: Literal[True],
    ) -> TorqueParts: ...

    def torque(
        self, q: ArrayLike | Motion, dq: ArrayLike | None = None, ddq: ArrayLike | None = None, *,
        temperature: ArrayLike | None = None, parts: bool = False,
    ) -> FloatArray | TorqueParts:
        """
        Return the joint torques of a motion [N m].

        Friction is that of steady sliding, at rest its offset alone: samples need not follow each
        other. Of a `Motion`, which has consecutive samples, it is with its memory.

        Parameters
        ----------
        q, dq, ddq : array_like, shape (n,) or (N, n)
            Positions [rad], velocities [rad/s] and accelerations [rad/s^2] in the order of
            ``robot.joint_names`` (metres for joints that slide); zero where they are not given.
        temperature : array_like, shape (n,) or (N, n), optional
            Joint temperatures [deg C], for friction that depends on them; by default those of the
            training data.
        parts : bool
            Return gravity, inertia, coriolis and friction by themselves.

        Returns
        -------
        ndarray or TorqueParts
            In the shape of `q`. With unknown drive gains they are in the unit of the effort.

        Raises
        ------
        UsageError
            If an array has another shape, or is not of numbers.
        DataError
            If friction depends on a temperature that is not known.

        """
        if isinstance(q, Motion):
            if parts or dq is not None or ddq is not None:
                raise UsageError('a Motion has all arrays: give q, dq and ddq for parts')
            return standard_torque(self.robot, self.parameters, self.theta_lifted, q)
        dq, ddq = (np.zeros(np.shape(q)) if one is None else one for one in (dq, ddq))
        call = self._dynamics.parts if parts else self._dynamics.torque
        return call(q, dq, ddq, self._temperature(temperature))

    def gravity(self, q: ArrayLike) -> FloatArray:
        """Return the torque that holds the arm against gravity [N m], in the shape of `q`."""
        return self._dynamics.gravity(q)

    def coriolis(self, q: ArrayLike, dq: ArrayLike) -> FloatArray:
        """Return the Coriolis and centrifugal torque [N m], in the shape of `q`."""
        return self._dynamics.coriolis(q, dq)

    def mass_matrix(self, q: ArrayLike) -> FloatArray:
        """
        Return the mass matrix [kg m^2], rotors included.

        Its shape is (n, n) for a pose (n,), (N, n, n) for poses (N, n).
        """
        return self._dynamics.mass_matrix(q)

    def forward_dynamics(
        self, q: ArrayLike, dq: ArrayLike, tau: ArrayLike, *,
        temperature: ArrayLike | None = None,
    ) -> FloatArray:
        """
        Return the accelerations [rad/s^2] under drive torques `tau` [N m].

        It is the inverse of `torque`; arrays are (n,) or (N, n). At rest friction holds nothing: a
        rollout needs friction that sticks (``validate --rollout``, or the exported MJCF).
        """
        return self._dynamics.forward_dynamics(q, dq, tau, self._temperature(temperature))

    @cached_property
    def _dynamics(self) -> ArrayDynamics:
        return ArrayDynamics(self)

    def _temperature(self, given: ArrayLike | None) -> ArrayLike | None:
        return self.temperature if given is None else given

    @cached_property
    def links(self) -> Mapping[str, LinkBody]:
        """
        Return the physically consistent bodies by link, with standard errors.

        A link is named as in the description and has all that is fixed to it.

        Raises InconsistentModelError if there are none.
        """
        return link_bodies(self, self._checked_consistent())

    def friction(
        self, joint: str, dq: ArrayLike, *, load: float | None = None,
        temperature: float | None = None,
    ) -> FrictionCurve:
        """
        Return the friction of a joint in steady sliding with its band of 95 %.

        Parameters
        ----------
        joint : str
            Name of the joint.
        dq : array_like, shape (N,)
            Velocities [rad/s].
        load : float, optional
            Torque that the joint transmits [N m]; by default the mean of the training data.
        temperature : float, optional
            Of the joint [deg C]; by default the mean of the training data.

        Raises
        ------
        UsageError
            If there is no such joint, or `dq` is no list of velocities.

        """
        names = self.robot.joint_names
        if joint not in names:
            raise UsageError(f'no joint {joint!r}: the joints are {", ".join(names)}')
        number = names.index(joint)
        velocities = as_floats('dq', dq).astype(float)
        if velocities.ndim != 1:
            raise UsageError(f'dq has the shape {velocities.shape}, needed is (N,)')
        loads = self.quality.get('loads')
        if load is None:
            load = 0.0 if loads is None else float(loads[number])
        if temperature is None:
            temperature = np.nan if self.temperature is None else float(self.temperature[number])
        return friction_curve(self, number, velocities, load, temperature)

    def to_frame(self) -> pandas.DataFrame:
        """
        Return the base parameters as a pandas table.

        Columns are name, value, standard_error, unit and expression: the combination of standard
        parameters that each is.
        """
        with needing('pandas', 'to_frame'):
            import pandas
        reduction = self.reduction
        return pandas.DataFrame({
            'name': reduction.names,
            'value': self.theta_base,
            'standard_error': self.standard_errors,
            'unit': reduction.units_of(self.robot),
            'expression': [reduction.expression(row) for row in range(reduction.rank)],
        })

    def save(self, path: AnyPath) -> None:
        """Write the model file, which `load_model` reads; an existing file is replaced."""
        write_atomically(Path(path), robot_identification.model.dump_model(self))

    def export(self, path: AnyPath, *, into: AnyPath | None = None, **options: Any) -> None:
        """
        Write the model for another program, see `robot_identification.export_model`.

        The suffix says which: .urdf, .xml (MuJoCo), .sdf (Gazebo) or .yaml (a controller). `into`
        is a URDF or MuJoCo scene of your own whose numbers are changed; an existing file is
        replaced.
        """
        robot_identification.export_model(self, path, into=into, **options)

    def external_torque(self, recording: Any, **options: Any) -> Any:
        """Return external torques of a recording, see `robot_identification.external_torque`."""
        return robot_identification.external_torque(self, recording, **options)

    def effort(self, motion: Motion) -> FloatArray:
        """Return the model's effort in the bag's unit, shape (N, n); see `torque`."""
        return self.torque(motion) * self.effort_per_torque

    def with_consistent_parameters(self) -> IdentifiedModel:
        """
        Return the model whose torques are those of the physically consistent parameters.

        Raises InconsistentModelError if there are none.
        """
        return replace(self, theta_base=self.reduction.K @ self._checked_consistent())

    def _checked_consistent(self) -> FloatArray:
        if self.theta_consistent is None:
            raise InconsistentModelError(
                f'the model of {self.robot.name} has no physically consistent parameters: '
                f'{self.consistency_note}'
            )
        return self.theta_consistent

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
