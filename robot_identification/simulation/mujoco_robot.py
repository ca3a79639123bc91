# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The MuJoCo simulator: rigid body by MuJoCo, friction, drives, sensors and position servo by us.

MuJoCo's own frictionloss is a soft constraint and not sign(dq); friction is therefore computed
here and applied as a generalized force, which makes the truth exact. Pinocchio takes no part, so
that a simulator used to test an estimator shares no code with it.

Elastic joints are linear springs between MuJoCo's links and rotors that are ours. The springs'
torque at the end of a step acts throughout it (implicit Euler in the spring alone), which is
stable for any stiffness and any light link, and becomes the rigid arm as stiffness grows.
Implicit steps damp free oscillations as a damper of h K in parallel would, 5 N m s/rad at
1e4 N m/rad; at the instants that are recorded the torque is K (theta - q) all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
import re
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import needing, UsageError
from robot_identification.model import (
    EFFORT_UNITS, for_simulation, massless_joints, Motion, RobotModel,
)
from robot_identification.simulation.contact import Contact, Contacts
from robot_identification.simulation.ground_truth import GroundTruth
from robot_identification.simulation.joint_effects import (
    RunningVelocityLoop, smallest_stable_inertia,
)

PHYSICS_STEP = 0.0005  # [s]; stable for joints above 0.006 kg m^2 (docs/simulation.md)
# Natural frequency and damping of the position servo [Hz], [1]: of the size of an industrial
# arm's position loop.
SERVO_FREQUENCY, SERVO_DAMPING = 12.0, 1.0


@dataclass(frozen=True)
class Sensors:
    """Sensor noise and resolution."""

    # Standard deviations [rad], [rad/s].
    position_noise: float = 1.0e-5
    velocity_noise: float = 1.0e-3
    position_quantum: float = 1.0e-6  # resolution of the encoder [rad]
    effort_noise: float = 0.004  # standard deviation as a share of the effort limit
    # Noise and resolution of the encoders on elastic joints' rotors, seen on the joint's side,
    # over those of the links' encoders: the gear divides them.
    rotor_share: float = 0.1


NOISE_FREE = Sensors(0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Sample:
    """Joint states at one instant."""

    # (n,): position [rad], velocity [rad/s].
    q: FloatArray
    dq: FloatArray
    # (n,): motor current [A]; less that which holds gravity where the driver's effort has none.
    effort: FloatArray
    temperature: FloatArray  # (n,): of the joints [deg C]
    # (n,): of the rotors of elastic joints, on the joint's side [rad], [rad/s].
    rotor_q: FloatArray | None = None
    rotor_dq: FloatArray | None = None


class _Rotors:
    """Rotors behind springs: B theta'' = motor - tau, tau = K (theta - q) + D (theta' - q')."""

    def __init__(
        self, truth: GroundTruth, stiffness: FloatArray, q: FloatArray, torque: FloatArray
    ):
        h = PHYSICS_STEP
        damping = np.zeros(len(q)) if truth.joint_damping is None else truth.joint_damping
        self.inertia = truth.reflected_inertia
        self._stiffness = stiffness
        self._momentum = self.inertia / h
        self._impedance = h * stiffness + damping
        self._share = self._impedance / (self._momentum + self._impedance)
        # What acts on a link against its velocity at the end of the step.
        self.link_damping = self._share * self._momentum
        self.q = q + torque / stiffness
        self.dq = np.zeros(len(q))

    def push(self, motor: FloatArray, link_q: FloatArray) -> FloatArray:
        """Return what acts on the links in this step apart from their damping."""
        self._spring = self._stiffness * (self.q - link_q)
        self._drive = self._momentum * self.dq + motor - self._spring
        force: FloatArray = self._spring + self._share * self._drive
        return force

    def finish(self, link_dq: FloatArray) -> FloatArray:
        """Move the rotors, with the links' velocity after the step; return the joint torque."""
        self.dq = (self._drive + self._impedance * link_dq) / (self._momentum + self._impedance)
        self.q = self.q + PHYSICS_STEP * self.dq
        torque: FloatArray = self._spring + self._impedance * (self.dq - link_dq)
        return torque


class MujocoRobot:
    """
    Simulated arm under position control.

    The inertial parameters of `robot` are only the prior; `truth` has the true ones. `q` (n,)
    [rad] and `temperature` (n,) [deg C], by default that of the air, are those at the start;
    `seed` is that of the sensor noise. Raises MissingDependencyError if MuJoCo is not installed,
    and UsageError if the physics step is too long for the joints.
    """

    def __init__(
        self,
        robot: RobotModel,
        truth: GroundTruth,
        sensors: Sensors,
        q: FloatArray,
        seed: int = 0,
        *,
        temperature: FloatArray | None = None,
    ) -> None:
        self._mujoco = import_mujoco()
        self._model = _build_model(
            self._mujoco, robot, truth, with_rotors=truth.stiffness is None
        )
        self._data = self._mujoco.MjData(self._model)
        self._data.qpos[:] = q
        self._contacts = Contacts(self._mujoco, self._model)
        self._armature = self._model.dof_armature.copy()
        self._truth = truth
        self._sensors = sensors
        self._limit = robot.limits.effort
        self._noise_scale = sensors.effort_noise * np.where(
            np.isfinite(robot.limits.effort), robot.limits.effort, 0.0
        )
        self._rng = np.random.default_rng(seed)
        self._torque = np.zeros(robot.n)
        self._at_rest = None
        if not EFFORT_UNITS[published_unit(robot)].with_gravity:
            self._at_rest = self._mujoco.MjData(self._model)
        stiffness = 2.0 * np.pi * SERVO_FREQUENCY
        self._gains = (stiffness**2, 2.0 * SERVO_DAMPING * stiffness)
        start = truth.reference_temperature if truth.thermal is None else truth.thermal.ambient
        self._temperature = np.full(robot.n, start) if temperature is None else temperature.copy()
        self._sticking = truth.sticking_friction()
        self._bend = np.zeros(robot.n)
        self._joint_torque = np.zeros(robot.n)
        self._loop = None
        if truth.velocity_loop is not None:
            self._loop = RunningVelocityLoop(truth.velocity_loop, PHYSICS_STEP, seed)
        self._mujoco.mj_forward(self._model, self._data)
        self._check_step(robot)
        self._rotors = None
        if truth.stiffness is not None:
            self._rotors = self._mount_rotors(truth, truth.stiffness, np.asarray(q, dtype=float))
        self.advance(q, np.zeros(robot.n), np.zeros(robot.n), PHYSICS_STEP)

    def _check_step(self, robot: RobotModel) -> None:
        """Refuse joints that are too light for the stiffness of their friction."""
        if self._sticking is None:
            return
        inertia = np.zeros((robot.n, robot.n))
        for column, unit in zip(inertia, np.eye(robot.n), strict=True):
            self._mujoco.mj_mulM(self._model, self._data, column, unit)
        felt = 1.0 / np.diag(np.linalg.inv(inertia))
        if self._truth.stiffness is not None:
            felt = self._truth.reflected_inertia
        needed = smallest_stable_inertia(self._sticking, PHYSICS_STEP)
        for joint, has, needs in zip(robot.joint_names, felt, needed, strict=True):
            if has <= needs:
                raise UsageError(
                    f'{joint}: friction that sticks needs an inertia above {needs:.2g} kg m^2, '
                    f'the joint has {has:.2g}: choose a longer travel or a larger rotor inertia'
                )

    def _mount_rotors(self, truth: GroundTruth, stiffness: FloatArray, q: FloatArray) -> _Rotors:
        """Move the links to the static equilibrium of the springs, with the rotors at `q`."""
        for _ in range(20):
            self._data.qpos[:] = q - self._data.qfrc_bias / stiffness
            self._mujoco.mj_forward(self._model, self._data)
        rotors = _Rotors(truth, stiffness, self._data.qpos.copy(), self._data.qfrc_bias.copy())
        self._model.dof_damping[:] = rotors.link_damping
        return rotors

    @property
    def time(self) -> float:
        """Return the simulated time [s]."""
        return float(self._data.time)

    @property
    def warms_up(self) -> bool:
        """Return whether the temperatures of the joints change."""
        return self._truth.thermal is not None

    @property
    def links(self) -> list[str]:
        """Links that can be touched, from the base to the tool."""
        return self._contacts.links

    def touch(self, contact: Contact) -> None:
        """
        Push the arm, in a span of simulated time; contacts that overlap add up.

        Raises a `UsageError` if the arm has no such link.
        """
        self._contacts.add(contact)

    def release(self) -> None:
        """End all contacts, those to come as well."""
        self._contacts.clear()

    @property
    def is_elastic(self) -> bool:
        """Return whether the joints are elastic."""
        return self._rotors is not None

    @property
    def temperature(self) -> FloatArray:
        """Temperatures of the joints [deg C], shape (n,)."""
        return self._temperature.copy()

    def advance(self, q: FloatArray, dq: FloatArray, ddq: FloatArray, duration: float) -> None:
        """
        Follow a reference (n,) [rad], [rad/s], [rad/s^2] for some time [s].

        The acceleration is held; the time is a multiple of the physics step. Where joints are
        elastic, the reference is that of the rotors, whose encoders a drive has.
        """
        mujoco, model, data, rotors = self._mujoco, self._model, self._data, self._rotors
        stiffness, damping = self._gains
        inertial = np.zeros_like(q)
        heat = np.zeros_like(q)
        steps = round(duration / PHYSICS_STEP)
        for step in range(steps):
            elapsed = step * PHYSICS_STEP
            position, speed = (
                (data.qpos, data.qvel) if rotors is None else (rotors.q, rotors.dq)
            )
            error = q + elapsed * dq + 0.5 * elapsed**2 * ddq - position
            dq_wanted = dq + elapsed * ddq
            mujoco.mj_step1(model, data)
            wanted = ddq + damping * (dq_wanted - speed) + stiffness * error
            mujoco.mj_mulM(model, data, inertial, wanted)
            if rotors is not None:
                inertial += rotors.inertia * wanted
            if self._loop is not None:
                inertial += self._loop.step(dq_wanted, speed)
            self._torque = self._limited(inertial + data.qfrc_bias)
            friction = self._friction(speed)
            heat += friction * speed
            driven = self._torque - friction
            if self._truth.periodic:
                driven -= self._truth.periodic_torque(position)
            if rotors is None:
                self._move_rigid(driven)
            else:
                driven = rotors.push(driven, data.qpos)
                self._push(driven)
                mujoco.mj_step2(model, data)
                self._joint_torque = rotors.finish(data.qvel)
        self._warm(heat / max(steps, 1), steps * PHYSICS_STEP)

    def _limited(self, torque: FloatArray) -> FloatArray:
        """Return what motors give of a torque; np.clip takes three times as long for a joint."""
        limited: FloatArray = np.minimum(np.maximum(torque, -self._limit), self._limit)
        return limited

    def _move_rigid(self, driven: FloatArray) -> None:
        """Take the second half of a step with what motors exert on the joints in the end."""
        model, data = self._model, self._data
        self._push(driven)
        self._mujoco.mj_step2(model, data)
        # What others exert on links does not go through the joints' gears.
        self._joint_torque = driven - self._armature * data.qacc

    def _push(self, driven: FloatArray) -> None:
        """Apply what the motors exert on the links, and what others do."""
        if self._contacts.expected:
            driven = driven + self._contacts.torque(self._data)
        self._data.qfrc_applied[:] = driven

    def _friction(self, speed: FloatArray) -> FloatArray:
        if self._sticking is None:
            return self._truth.friction(speed, self._joint_torque, self._temperature)
        # The torque passed on is that of the step before: it is not known before friction is.
        torque, self._bend = self._sticking.step(
            speed, self._joint_torque, self._temperature, self._bend,
            PHYSICS_STEP,
        )
        return torque

    def _warm(self, heat: FloatArray, duration: float) -> None:
        thermal = self._truth.thermal
        if thermal is not None:
            self._temperature = thermal.step(self._temperature, heat, duration)

    def true_sample(self) -> Sample:
        """
        Return the state without noise.

        The current is that of the physics step that led to the state, half a millisecond old.
        """
        data, rotors = self._data, self._rotors
        return Sample(
            data.qpos.copy(),
            data.qvel.copy(),
            self._published_torque() / self._truth.drive_gain,
            self._temperature.copy(),
            None if rotors is None else rotors.q.copy(),
            None if rotors is None else rotors.dq.copy(),
        )

    def _published_torque(self) -> FloatArray:
        """Return the motors' torque, less that of gravity where the driver's effort has none."""
        if self._at_rest is None:
            return self._torque
        self._at_rest.qpos[:] = self._data.qpos
        self._mujoco.mj_forward(self._model, self._at_rest)
        torque: FloatArray = self._torque - self._at_rest.qfrc_bias
        return torque

    def measure(self) -> tuple[Sample, Sample]:
        """Return the measured and the true sample of the present instant."""
        true = self.true_sample()
        sensors, rng = self._sensors, self._rng
        n = true.q.size
        q, dq = self._read_encoder(true.q, true.dq, 1.0)
        noise = self._noise_scale / self._truth.drive_gain * rng.standard_normal(n)
        rotor_q, rotor_dq = true.rotor_q, true.rotor_dq
        if rotor_q is not None and rotor_dq is not None:
            rotor_q, rotor_dq = self._read_encoder(rotor_q, rotor_dq, sensors.rotor_share)
        if self._loop is not None:
            # The drive publishes the velocity that its loop has seen.
            if true.rotor_dq is None:
                dq = true.dq + self._loop.noise
            else:
                rotor_dq = true.rotor_dq + self._loop.noise
        return Sample(q, dq, true.effort + noise, true.temperature, rotor_q, rotor_dq), true

    def _read_encoder(
        self, q: FloatArray, dq: FloatArray, share: float
    ) -> tuple[FloatArray, FloatArray]:
        sensors, rng = self._sensors, self._rng
        quantum = share * sensors.position_quantum
        q = q + share * sensors.position_noise * rng.standard_normal(q.size)
        if quantum > 0.0:
            q = np.round(q / quantum) * quantum
        return q, dq + share * sensors.velocity_noise * rng.standard_normal(q.size)


def published_unit(robot: RobotModel) -> str:
    """Return the unit of an arm's YAML; 'A' without one, or where a torque needs unknown gains."""
    known = bool(np.all(np.isfinite(robot.drives.drive_gain)))
    return robot.effort_unit if robot.effort_unit is not None and known else 'A'


def import_mujoco(purpose: str = 'a simulated robot') -> Any:
    """Return MuJoCo; raise MissingDependencyError if it is not installed."""
    with needing('MuJoCo', purpose, 'pip install mujoco'):
        import mujoco
    return mujoco


def _build_model(
    mujoco: Any, robot: RobotModel, truth: GroundTruth, *, with_rotors: bool = True
) -> Any:
    massless = massless_joints(robot)
    if massless:
        raise UsageError(
            f'{robot.name}: its description has no mass that {", ".join(massless)} would move, '
            'and a simulated robot needs one: complete the <inertial> of the links'
        )
    text = for_simulation(robot.urdf.text, robot.locked)
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except ValueError as error:
        named = re.search(r"Element name '([^']+)'", str(error))
        where = '' if named is None else f' at {named[1]:.80}'
        raise UsageError(
            f'{robot.name}: its description cannot be simulated, for the simulator refuses it'
            f'{where}: `doctor` says what is odd in it'
        ) from error
    model.opt.timestep = PHYSICS_STEP
    model.opt.gravity[:] = robot.gravity
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    order = [model.joint(name).id for name in robot.joint_names]
    if order != list(range(robot.n)) or model.nv != robot.n:
        raise UsageError(
            f'{robot.name}: its joints branch, and a simulated robot is one chain: name the '
            'joints of one with --joints'
        )
    bodies = model.jnt_bodyid
    model.jnt_limited[:] = False
    model.body_mass[bodies] *= truth.mass_factor
    model.body_inertia[bodies] *= truth.mass_factor[:, None]
    for body, shift in zip(bodies, truth.centre_shift, strict=True):
        model.body_ipos[body] += shift
    # Compiled from centres at the joints' origins, which these are no more.
    model.body_sameframe[:], model.body_simple[:], model.dof_simplenum[:] = 0, 0, 0
    model.dof_armature[:] = truth.reflected_inertia if with_rotors else 0.0
    model.dof_damping[:] = 0.0
    model.dof_frictionloss[:] = 0.0
    # Without this, inverse weights stay those of the model as loaded.
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


class RigidInverseDynamics:
    """Torques of an arm without friction, by MuJoCo; without rotors those on the links."""

    def __init__(
        self, robot: RobotModel, truth: GroundTruth, *, with_rotors: bool = True
    ) -> None:
        self._mujoco = import_mujoco()
        self._model = _build_model(self._mujoco, robot, truth, with_rotors=with_rotors)
        self._data = self._mujoco.MjData(self._model)

    def set_gravity(self, gravity: FloatArray) -> None:
        """Take another gravity (3,) in the root frame [m/s^2]."""
        self._model.opt.gravity[:] = gravity

    def torque(self, q: FloatArray, dq: FloatArray, ddq: FloatArray) -> FloatArray:
        """Return the joint torques [N m] of one state, all (n,)."""
        data = self._data
        data.qpos[:], data.qvel[:], data.qacc[:] = q, dq, ddq
        self._mujoco.mj_inverse(self._model, data)
        torque: FloatArray = data.qfrc_inverse.copy()
        return torque


def rigid_inverse_dynamics(
    robot: RobotModel, truth: GroundTruth, motion: Motion, *, with_rotors: bool = True
) -> FloatArray:
    """
    Return the true torques (N, n) [N m] along a motion (N, n) without friction, by MuJoCo.

    Without rotors, these are the torques on the links.
    """
    dynamics = RigidInverseDynamics(robot, truth, with_rotors=with_rotors)
    torque = np.empty(motion.q.shape)
    for k in range(len(motion.q)):
        torque[k] = dynamics.torque(motion.q[k], motion.dq[k], motion.ddq[k])
    return torque


def inverse_dynamics(
    robot: RobotModel,
    truth: GroundTruth,
    motion: Motion,
    *,
    temperature: FloatArray | float | None = None,
) -> FloatArray:
    """
    Return the true joint torques (N, n) [N m] along a motion, with friction, rotors and ripple.

    By MuJoCo; joints are rigid and do not stick here. The temperature, (N, n), (n,) or one of all
    joints [deg C], is by default the reference.
    """
    torque = rigid_inverse_dynamics(robot, truth, motion)
    passed_on = torque - truth.reflected_inertia * motion.ddq
    resistance = truth.friction(motion.dq, passed_on, temperature)
    return torque + resistance + truth.periodic_torque(motion.q)


def true_inertial_parameters(robot: RobotModel, truth: GroundTruth) -> FloatArray:
    """
    Return the true inertial parameters (10 n,) in Pinocchio's order.

    Inertias are about the joint frames; fixed children are part of the link they are fixed to. For
    tests and the demo's report.
    """
    mujoco = import_mujoco()
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
