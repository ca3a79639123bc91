# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Friction against temperature, from repeated identifications of one arm.

Raviola et al. 2021 repeat one motion while a UR3 and a UR5 warm up, and find viscous friction
that falls along a straight line from joint to joint, and bodies that stay. Here the line is
weighted by the errors of the identifications; Coulomb friction is taken as constant unless a
t-test of its slope says otherwise. Where temperature varies within recordings, one regression
with the law `temperature_viscous` finds the same slopes.

References
----------
.. [1] A. Raviola, R. Guida, A. De Martin, S. Pastorelli, S. Mauro, M. Sorli, "Effects of
   temperature and mounting configuration on the dynamic parameters identification of industrial
   robots", Robotics 10(3), 2021.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.model import IdentifiedModel, Motion
from robot_identification.report import sliding_text
from robot_identification.studies.comparison import (
    change_of_torque, check_same_arm, common_range, holm, LEVEL, share_of_limit, shared_motion,
    sliding_friction, TorqueChange,
)
from robot_identification.studies.temperature.line import (
    FEWEST_FOR_EXPONENTIAL, fit_temperature_exponential, fit_temperature_line, relative_change,
    TemperatureExponential, TemperatureLine,
)


@dataclass(frozen=True, eq=False)
class JointTemperature:
    """Friction of one joint in m runs, the coldest arm first."""

    joint: str
    temperature: FloatArray  # (m,): [deg C]
    # (m,): [N m s/rad] and [N m]; NaN where a model has none.
    viscous: FloatArray
    # (m,): standard errors.
    viscous_errors: FloatArray
    coulomb: FloatArray
    coulomb_errors: FloatArray
    # None where there is too little to lay one.
    viscous_line: TemperatureLine | None
    coulomb_line: TemperatureLine | None
    exponential: TemperatureExponential | None  # with four runs and more
    # Of the slope of Coulomb friction, corrected for the number of joints.
    coulomb_p: float = float('nan')
    note: str = ''  # why there is no line, or nothing
    viscous_unit: str = 'N m s/rad'

    @property
    def coulomb_moves(self) -> bool:
        """Return whether Coulomb friction changes with temperature by more than chance."""
        return self.coulomb_p < LEVEL

    @property
    def viscous_change(self) -> float:
        """Change of viscous friction from the first to the last run, as a share of the first."""
        return relative_change(float(self.viscous[0]), float(self.viscous[-1]))


@dataclass(frozen=True, eq=False)
class TemperatureStudy:
    """
    Friction of an arm against temperature.

    `joints` are in kinematic order; `order` holds the indices of the given models from the coldest
    to the warmest, and `torque` is the change between these two. `notes` are for the reader.
    """

    robot: str
    joints: tuple[JointTemperature, ...]
    order: tuple[int, ...]
    torque: TorqueChange
    notes: tuple[str, ...]

    @property
    def share_of_limit(self) -> dict[float, float]:
        """Largest change of torque by size of joint, as a share of what it can give."""
        return dict(share_of_limit(self.torque.largest, self.torque.limit))

    @property
    def mean_viscous_change(self) -> float:
        """Mean over the joints of the change of viscous friction, first to last run."""
        changes = [joint.viscous_change for joint in self.joints]
        known = [change for change in changes if np.isfinite(change)]
        return float(np.mean(known)) if known else float('nan')


def study_temperature(
    models: Sequence[IdentifiedModel], motion: Motion | None = None
) -> TemperatureStudy:
    """
    Fit lines of friction over temperature through identifications of one arm, of any laws.

    Torques of the coldest and the warmest arm are compared along the motion, by default
    `shared_motion`. Raises `DataError` if there are fewer than two models, they are of different
    arms, a temperature is missing, or no joint's varies.
    """
    if len(models) < 2:
        raise DataError(
            'one model shows no change with temperature: name two or more of the same arm'
        )
    for number, model in enumerate(models, start=1):
        check_same_arm(models[0], model)
        if model.temperature is None:
            raise DataError(
                f'model {number} of {len(models)} does not state its temperatures: record joint '
                'temperatures with the motion, and identify again'
            )
    T = np.array([model.temperature for model in models], dtype=float)
    order = np.argsort(T.mean(axis=1), kind='stable')
    T = T[order]
    ordered = [models[i] for i in order]
    where = common_range(ordered)
    found = [sliding_friction(model, where) for model in ordered]
    names = ordered[0].robot.joint_names
    joints = [
        _study_joint(
            name, ordered[0].robot.unit('N m s/rad', j), T[:, j],
            np.array([[one.viscous[j], one.standard_errors[1, j], one.freedom[len(names) + j]]
                      for one in found]),
            np.array([[one.coulomb[j], one.standard_errors[0, j], one.freedom[j]]
                      for one in found]),
        )
        for j, name in enumerate(names)
    ]
    if all(joint.viscous_line is None for joint in joints):
        raise DataError(
            f'no joint of {ordered[0].robot.name} shows how friction changes with temperature: '
            f'{joints[0].joint}: {joints[0].note}'
        )
    tested = [
        j for j, joint in enumerate(joints)
        if joint.coulomb_line is not None and np.isfinite(joint.coulomb_line.p_value)
    ]
    lines = [joints[j].coulomb_line for j in tested]
    for j, p_value in zip(
        tested, holm([line.p_value for line in lines if line is not None]), strict=True
    ):
        joints[j] = replace(joints[j], coulomb_p=float(p_value))
    return TemperatureStudy(
        ordered[0].robot.name,
        tuple(joints),
        tuple(int(i) for i in order),
        change_of_torque(
            ordered[0], ordered[-1], shared_motion(ordered) if motion is None else motion
        ),
        _notes(ordered, joints),
    )


def _study_joint(
    name: str, unit: str, T: FloatArray, viscous: FloatArray, coulomb: FloatArray
) -> JointTemperature:
    """Return the lines of one joint; columns are value, standard error, degrees of freedom."""
    lines: list[TemperatureLine | None] = []
    notes = []
    for column in (viscous, coulomb):
        known = np.isfinite(column[:, 0]) & np.isfinite(T)
        try:
            lines.append(fit_temperature_line(T[known], *column[known].T))
        except DataError as error:
            lines.append(None)
            notes.append(str(error))
    known = np.isfinite(viscous[:, 0])
    exponential = None
    if lines[0] is not None and np.count_nonzero(known) >= FEWEST_FOR_EXPONENTIAL:
        exponential = fit_temperature_exponential(T[known], *viscous[known, :2].T)
    return JointTemperature(
        name, T, viscous[:, 0], viscous[:, 1], coulomb[:, 0], coulomb[:, 1], lines[0], lines[1],
        exponential, note=notes[0] if notes else '', viscous_unit=unit,
    )


def _notes(
    models: Sequence[IdentifiedModel], joints: Sequence[JointTemperature]
) -> tuple[str, ...]:
    notes = [f'{joint.joint}: {joint.note}' for joint in joints if joint.note]
    notes += [text for text in [sliding_text(models[0].robot)] if text]
    moved = [joint.joint for joint in joints if joint.coulomb_moves]
    if moved:
        notes.append(
            f'Coulomb friction of {", ".join(moved)} changes with temperature as well; the '
            'written model keeps it constant'
        )
    bent = [
        joint.joint for joint in joints
        if joint.exponential is not None and joint.exponential.p_value < LEVEL / len(joints)
    ]
    if bent:
        notes.append(
            f'viscous friction of {", ".join(bent)} does not follow a straight line: see its '
            'exponential'
        )
    if len(models) == 2:
        notes.append(
            'two runs lie on any line: repeat the motion while the arm warms up, to see whether '
            'it is one'
        )
    scattered = [
        joint.joint for joint in joints
        if joint.viscous_line is not None and joint.viscous_line.excess > 3.0
    ]
    if scattered:
        notes.append(
            f'viscous friction of {", ".join(scattered)} scatters about its line by more than '
            'three times its errors: another motion or payload, or the law is wrong'
        )
    return tuple(notes)
