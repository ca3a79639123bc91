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
The MuJoCo twin: rigid body by MuJoCo, friction, drives, sensors and position servo by us.

MuJoCo's own frictionloss is a soft constraint and not sign(dq); friction is therefore computed
here and applied as a generalised force, which makes the truth exact. Pinocchio takes no part, so
that a twin used to test an estimator shares no code with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.errors import MissingDependencyError
from robot_identification.errors import UsageError
from robot_identification.model.robot_model import RobotModel
from robot_identification.model.urdf_variants import for_simulation
from robot_identification.simulation.truth import Truth

FloatArray = NDArray[np.float64]

PHYSICS_STEP = 0.0005
# Natural frequency and damping of the position servo [Hz], [1]: of the size of an industrial
# arm's position loop.
SERVO_FREQUENCY = 12.0
SERVO_DAMPING = 1.0


@dataclass(frozen=True)
class Sensors:
    """
    What measurement adds to the truth.

    Attributes
    ----------
    position_noise, velocity_noise : float
        Standard deviations [rad], [rad/s].
    position_quantum : float
        Resolution of the encoder [rad].
    effort_noise : float
        Standard deviation as a share of the effort limit.

    """

    position_noise: float = 1.0e-5
    velocity_noise: float = 1.0e-3
    position_quantum: float = 1.0e-6
    effort_noise: float = 0.004


NOISE_FREE = Sensors(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Sample:
    """
    Joint states at one instant.

    Attributes
    ----------
    q, dq : ndarray, shape (n,)
        Position [rad], velocity [rad/s].
    effort : ndarray, shape (n,)
        Motor current [A].

    """

    q: FloatArray
    dq: FloatArray
    effort: FloatArray


class Twin:
    """
    A simulated arm under position control.

    Parameters
    ----------
    robot : RobotModel
        Description, limits and mounting; its inertial parameters are only the prior.
    truth : Truth
        What the arm really is.
    sensors : Sensors
        Noise and resolution of the measurement.
    q : ndarray, shape (n,)
        Position at the start [rad].
    seed : int
        Of the sensor noise.

    Raises
    ------
    MissingDependencyError
        If MuJoCo is not installed.

    """

    def __init__(
        self,
        robot: RobotModel,
        truth: Truth,
        sensors: Sensors,
        q: FloatArray,
        seed: int = 0,
    ) -> None:
        self._mujoco = _import_mujoco()
        self._model = _build_model(self._mujoco, robot, truth)
        self._data = self._mujoco.MjData(self._model)
        self._data.qpos[:] = q
        self._truth = truth
        self._sensors = sensors
        self._limit = robot.limits.effort
        self._noise_scale = sensors.effort_noise * np.where(
            np.isfinite(robot.limits.effort), robot.limits.effort, 0.0
        )
        self._rng = np.random.default_rng(seed)
        self._torque = np.zeros(robot.n)
        stiffness = 2.0 * np.pi * SERVO_FREQUENCY
        self._gains = (stiffness**2, 2.0 * SERVO_DAMPING * stiffness)
        self.advance(q, np.zeros(robot.n), np.zeros(robot.n), PHYSICS_STEP)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self._data.time)

    def advance(self, q: FloatArray, dq: FloatArray, ddq: FloatArray, duration: float) -> None:
        """
        Follow a reference for some time.

        Parameters
        ----------
        q, dq, ddq : ndarray, shape (n,)
            Reference at the start of that time [rad], [rad/s], [rad/s^2]; the acceleration is
            held.
        duration : float
            How long [s], a multiple of the physics step.

        """
        mujoco, model, data = self._mujoco, self._model, self._data
        stiffness, damping = self._gains
        inertial = np.zeros_like(q)
        for step in range(round(duration / PHYSICS_STEP)):
            elapsed = step * PHYSICS_STEP
            error = q + elapsed * dq + 0.5 * elapsed**2 * ddq - data.qpos
            error_rate = dq + elapsed * ddq - data.qvel
            mujoco.mj_step1(model, data)
            wanted = ddq + damping * error_rate + stiffness * error
            mujoco.mj_mulM(model, data, inertial, wanted)
            self._torque = np.clip(inertial + data.qfrc_bias, -self._limit, self._limit)
            data.qfrc_applied[:] = self._torque - self._truth.friction(data.qvel)
            mujoco.mj_step2(model, data)

    def true_sample(self) -> Sample:
        """
        Return the state without noise.

        The current is that of the physics step that led to the state, half a millisecond old.
        """
        data = self._data
        return Sample(
            data.qpos.copy(), data.qvel.copy(), self._torque / self._truth.drive_gain
        )

    def measure(self) -> tuple[Sample, Sample]:
        """Return the measured and the true sample of the present instant."""
        true = self.true_sample()
        sensors, rng = self._sensors, self._rng
        n = true.q.size
        q = true.q + sensors.position_noise * rng.standard_normal(n)
        if sensors.position_quantum > 0.0:
            q = np.round(q / sensors.position_quantum) * sensors.position_quantum
        dq = true.dq + sensors.velocity_noise * rng.standard_normal(n)
        noise = self._noise_scale / self._truth.drive_gain * rng.standard_normal(n)
        return Sample(q, dq, true.effort + noise), true


def _import_mujoco() -> Any:
    try:
        import mujoco
    except ImportError:
        raise MissingDependencyError(
            'MuJoCo', 'a simulated robot', 'pip install mujoco'
        ) from None
    return mujoco


def _build_model(mujoco: Any, robot: RobotModel, truth: Truth) -> Any:
    text = for_simulation(robot.urdf.text, robot.locked)
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except ValueError as error:
        raise UsageError(f'MuJoCo refuses the URDF of {robot.name}: {error}') from error
    model.opt.timestep = PHYSICS_STEP
    model.opt.gravity[:] = robot.gravity
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    order = [model.joint(name).id for name in robot.joint_names]
    if order != list(range(robot.n)) or model.nv != robot.n:
        raise UsageError(f'{robot.name}: MuJoCo has the joints in another order')
    bodies = model.jnt_bodyid
    model.jnt_limited[:] = False
    model.body_mass[bodies] *= truth.mass_factor
    model.body_inertia[bodies] *= truth.mass_factor[:, None]
    for body, shift in zip(bodies, truth.centre_shift, strict=True):
        model.body_ipos[body] += shift
    model.dof_armature[:] = truth.reflected_inertia
    model.dof_damping[:] = 0.0
    model.dof_frictionloss[:] = 0.0
    # Without this, inverse weights stay those of the model as loaded.
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def inverse_dynamics(
    robot: RobotModel, truth: Truth, q: FloatArray, dq: FloatArray, ddq: FloatArray
) -> FloatArray:
    """
    Return the true joint torques along a motion, friction and rotors included, by MuJoCo.

    Parameters
    ----------
    robot : RobotModel
        Description and mounting.
    truth : Truth
        What the arm really is.
    q, dq, ddq : ndarray, shape (N, n)
        Position [rad], velocity [rad/s], acceleration [rad/s^2].

    Returns
    -------
    ndarray, shape (N, n)
        Joint torques [N m].

    """
    mujoco = _import_mujoco()
    model = _build_model(mujoco, robot, truth)
    data = mujoco.MjData(model)
    torque = np.empty(q.shape)
    for k in range(len(q)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[k], dq[k], ddq[k]
        mujoco.mj_inverse(model, data)
        torque[k] = data.qfrc_inverse
    return torque + truth.friction(dq)


def true_inertial_parameters(robot: RobotModel, truth: Truth) -> FloatArray:
    """
    Return the true inertial parameters in Pinocchio's order, for tests and the demo's report.

    Returns
    -------
    ndarray, shape (10 n,)
        Inertias about the joint frames; fixed children are part of the link they are fixed to.

    """
    mujoco = _import_mujoco()
    model = _build_model(mujoco, robot, truth)
    parameters = []
    for body in model.jnt_bodyid:
        mass, centre = model.body_mass[body], model.body_ipos[body]
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, model.body_iquat[body])
        R = rotation.reshape(3, 3)
        about_centre = R @ np.diag(model.body_inertia[body]) @ R.T
        inertia = about_centre + mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        parameters.append(np.concatenate([
            [mass], mass * centre,
            [inertia[0, 0], inertia[0, 1], inertia[1, 1],
             inertia[0, 2], inertia[1, 2], inertia[2, 2]],
        ]))
    return np.concatenate(parameters)
