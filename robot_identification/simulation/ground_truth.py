# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The hidden truth of a simulated robot.

It differs from the model's prior, so that a program that returns the prior fails. Only tests and
the demo's report may look at it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.model import RobotModel
from robot_identification.options import check_options, option
from robot_identification.simulation.joint_effects import (
    AMBIENT, JointFriction, make_thermal_model, PeriodicTorque, ThermalModel, VelocityLoop,
    VISCOUS_SLOPE,
)

# Largest errors of the prior: of masses as a share, of centres of mass [m]. Chosen: a program that
# returns the prior fails.
MASS_ERROR, CENTRE_ERROR = 0.2, 0.01
VISCOUS_SHARE = (0.04, 0.08)  # see `draw_truth`
# Static friction over Coulomb friction, and what a strain-wave gear adds per torque it passes on.
STATIC_RATIO = 1.3
LOAD_SHARE = 0.05
# Gain of a velocity loop over the reflected inertia [1/s]; chosen: that of a loop of 24 Hz on the
# rotor alone, twice the position servo's.
LOOP_RATE = 150.0
# Noise of the velocity that it measures [rad/s], amplitude of ripple and of the first harmonic of
# the position over Coulomb friction [1], largest error of a drive gain [1]; chosen: each leaves
# about as much in the effort as, or somewhat more than, the sensor's noise does.
LOOP_NOISE, PERIODIC_SHARE, GAIN_ERROR = 0.01, 0.2, 0.05


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """True parameters of a simulated robot."""

    mass_factor: FloatArray  # (n,): mass and inertia of each moved link over those of the URDF
    # (n, 3): centre of mass of each moved link relative to the URDF's [m].
    centre_shift: FloatArray
    drive_gain: FloatArray  # (n,): joint torque per motor current [N m/A]
    # (n,): friction ``coulomb * tanh(dq / velocity_width) + viscous * dq`` [N m], [N m s/rad].
    coulomb: FloatArray
    viscous: FloatArray
    reflected_inertia: FloatArray  # (n,): rotor inertia on the joint's side [kg m^2]
    velocity_width: float = 0.02  # of the smooth Coulomb friction [rad/s]
    # (n,): break-away torque without load [N m]. With it joints stick, see `JointFriction`;
    # without, friction is the smooth one above.
    static: FloatArray | None = None
    # Of joints that stick [rad/s], [rad]; see `JointFriction`.
    stribeck_velocity: float = 0.03
    travel: float = 1.0e-4
    # (n,): dry friction per torque that a joint passes on to its link [1].
    load_share: FloatArray | None = None
    # (n,): change of viscous friction per temperature, as a share [1/K].
    viscous_slope: FloatArray | None = None
    reference_temperature: float = AMBIENT  # where `viscous` holds [deg C]
    # How joints warm up; without it they stay at the reference temperature.
    thermal: ThermalModel | None = None
    # (n,): of elastic joints [N m/rad]; without it they are rigid.
    stiffness: FloatArray | None = None
    # (n,): of elastic joints, in parallel with the stiffness [N m s/rad].
    joint_damping: FloatArray | None = None
    # Of drives that react to the velocity they measure; without it they see the true one.
    velocity_loop: VelocityLoop | None = None
    # Torques that repeat with the joint angle (of the rotor, where joints are elastic).
    periodic: tuple[PeriodicTorque, ...] = ()

    def periodic_torque(self, q: FloatArray) -> FloatArray:
        """Return what repeats with the joint angle (..., n) [rad] and the motor carries [N m]."""
        torque = np.zeros(np.shape(q))
        for part in self.periodic:
            torque = torque + part.torque(q)
        return torque

    def friction(
        self,
        dq: FloatArray,
        joint_torque: FloatArray | None = None,
        temperature: FloatArray | float | None = None,
    ) -> FloatArray:
        """
        Return the friction torque (..., n) [N m] of joints that do not stick, or slide steadily.

        Velocities [rad/s] are those of the rotors where joints are elastic; `joint_torque` [N m]
        is passed on to the links, by default nothing; the temperature [deg C] is by default the
        reference. The step at zero velocity is smooth, by `velocity_width`.
        """
        dry, viscous = self.coulomb, self.viscous
        if self.static is not None:
            width = self.stribeck_velocity
            dry = dry + (self.static - dry) * np.exp(-(np.asarray(dq) / width) ** 2)
        if self.load_share is not None and joint_torque is not None:
            dry = dry + self.load_share * np.abs(joint_torque)
        if self.viscous_slope is not None and temperature is not None:
            warming = temperature - self.reference_temperature
            viscous = viscous * np.maximum(1.0 + self.viscous_slope * warming, 0.0)
        torque: FloatArray = dry * np.tanh(dq / self.velocity_width) + viscous * dq
        return torque

    def sticking_friction(self) -> JointFriction | None:
        """Return the friction of joints that stick; None where they do not."""
        if self.static is None:
            return None
        zeros = np.zeros(len(self.coulomb))
        return JointFriction(
            self.coulomb,
            self.viscous,
            self.static,
            zeros if self.load_share is None else self.load_share,
            zeros if self.viscous_slope is None else self.viscous_slope,
            self.stribeck_velocity,
            self.travel,
            reference_temperature=self.reference_temperature,
        )


def draw_truth(robot: RobotModel, seed: int) -> GroundTruth:
    """
    Draw a truth for an arm; the same seed gives the same truth.

    Friction and rotor inertia grow with the size of the joint; as shares of its torque limit they
    are in ranges that hold the values published for the UR5 (Porcelli 2020, table 2.5; Raviola et
    al. 2021).

    Raises UsageError if a drive gain of the arm is unknown.
    """
    gains = robot.drives.drive_gain
    if not np.all(np.isfinite(gains)):
        joints = ', '.join(np.array(robot.joint_names)[~np.isfinite(gains)])
        raise UsageError(
            f'a simulated robot needs drive gains, and those of {joints} are unknown: give them '
            'with --drive-gains (N m/A, kinematic order), or record torque (effort unit Nm, by an '
            'option or in the robot YAML)'
        )
    rng = np.random.default_rng(seed)
    n = robot.n
    effort = np.where(np.isfinite(robot.limits.effort), robot.limits.effort, 50.0)
    return GroundTruth(
        mass_factor=rng.uniform(1.0 - MASS_ERROR, 1.0 + MASS_ERROR, n),
        centre_shift=rng.uniform(-CENTRE_ERROR, CENTRE_ERROR, (n, 3)),
        drive_gain=gains * rng.uniform(1.0 - GAIN_ERROR, 1.0 + GAIN_ERROR, n),
        coulomb=effort * rng.uniform(0.04, 0.07, n),
        viscous=effort * rng.uniform(*VISCOUS_SHARE, n),
        reflected_inertia=effort * rng.uniform(0.004, 0.008, n),
    )


def prior_truth(robot: RobotModel) -> GroundTruth:
    """Return the truth that equals the URDF: no friction, no rotor, nominal gains (tests)."""
    n = robot.n
    gains = robot.drives.drive_gain
    return GroundTruth(
        mass_factor=np.ones(n),
        centre_shift=np.zeros((n, 3)),
        drive_gain=np.where(np.isfinite(gains), gains, 1.0),
        coulomb=np.zeros(n),
        viscous=np.zeros(n),
        reflected_inertia=np.zeros(n),
    )


def with_static_friction(
    truth: GroundTruth, *, ratio: float = STATIC_RATIO, load_share: float = LOAD_SHARE
) -> GroundTruth:
    """
    Return a truth whose joints stick.

    `ratio` is break-away torque over Coulomb friction, `load_share` dry friction per transmitted
    torque [1]; 0.05 is of the size measured on strain-wave gears. Raises UsageError if `ratio` is
    below 1 or `load_share` negative.
    """
    if not ratio >= 1.0 or not load_share >= 0.0:
        raise UsageError(
            f'static over Coulomb friction is {ratio:g}, the share of the load {load_share:g}: '
            'needed are at least 1 and 0'
        )
    share = np.where(truth.coulomb > 0.0, load_share, 0.0)
    return replace(truth, static=ratio * truth.coulomb, load_share=share)


def with_warming(
    truth: GroundTruth, *, acceleration: float = 1.0, viscous_slope: float = VISCOUS_SLOPE
) -> GroundTruth:
    """
    Return a truth whose joints warm up in motion, which changes their viscous friction.

    Joints warm up `acceleration` times faster than in reality; `viscous_slope` is the relative
    change of viscous friction with temperature [1/K]. Raises UsageError if `acceleration` is not
    positive.
    """
    return replace(
        truth,
        viscous_slope=np.full(len(truth.viscous), viscous_slope),
        thermal=make_thermal_model(
            truth.coulomb, truth.viscous, ambient=truth.reference_temperature,
            acceleration=acceleration,
        ),
    )


def with_elastic_joints(
    truth: GroundTruth, stiffness: float, *, damping: float = 0.0
) -> GroundTruth:
    """
    Return a truth whose joints all have one stiffness [N m/rad] and damping [N m s/rad].

    Raises UsageError if a joint has no rotor inertia, the stiffness is not positive, or the
    damping is negative.
    """
    n = len(truth.coulomb)
    if not (np.isfinite(stiffness) and stiffness > 0.0 and damping >= 0.0):
        raise UsageError(
            f'elastic joints have stiffness {stiffness:g} N m/rad and damping {damping:g} N m '
            's/rad: needed are more than 0 and at least 0'
        )
    if np.any(truth.reflected_inertia <= 0.0):
        raise UsageError('elastic joints have rotors: their reflected inertia must be > 0')
    return replace(
        truth, stiffness=np.full(n, float(stiffness)), joint_damping=np.full(n, float(damping))
    )


def with_velocity_loop(truth: GroundTruth, *, noise: float = LOOP_NOISE) -> GroundTruth:
    """
    Return a truth whose drives react to the velocity they measure, with `noise` [rad/s].

    The noise is a standard deviation; recorded velocities have it in place of the sensor's. Raises
    UsageError if it is not positive.
    """
    return replace(
        truth, velocity_loop=VelocityLoop(LOOP_RATE * truth.reflected_inertia, noise)
    )


def with_torque_ripple(
    truth: GroundTruth, gear_ratio: FloatArray, seed: int, *, share: float = PERIODIC_SHARE
) -> GroundTruth:
    """
    Return a truth whose gears ripple twice per turn of the motor, with phases drawn by `seed`.

    The wave generator of a strain-wave gear has two lobes.
    `gear_ratio` (n,) is motor turns per turn of the joint, `share` the amplitude over Coulomb
    friction [1]. Raises UsageError if `share` is not positive.
    """
    _check_share('torque ripple', share)
    # Unknown ones, for which 1 stands, too, are as usual.
    ratio = np.where(gear_ratio > 1.0, gear_ratio, 100.0)
    phase = np.random.default_rng([seed, 2]).uniform(0.0, 2.0 * np.pi, (1, len(ratio)))
    ripple = PeriodicTorque(2.0 * ratio[None], share * truth.coulomb[None], phase)
    return replace(truth, periodic=(*truth.periodic, ripple))


def with_position_torque(
    truth: GroundTruth, seed: int, *, share: float = PERIODIC_SHARE
) -> GroundTruth:
    """
    Return a truth with torques of five harmonics of the joint angle, phases drawn by `seed`.

    The first has an amplitude of `share` of Coulomb friction [1], the h-th one of a h-th of that.
    Raises UsageError if `share` is not positive.
    """
    _check_share('position torque', share)
    shape = (5, len(truth.coulomb))
    order = np.broadcast_to(np.arange(1.0, 6.0)[:, None], shape)
    phase = np.random.default_rng([seed, 3]).uniform(0.0, 2.0 * np.pi, shape)
    torque = PeriodicTorque(order, share * truth.coulomb / order, phase)
    return replace(truth, periodic=(*truth.periodic, torque))


def with_gain_errors(
    truth: GroundTruth, seed: int, *, share: float = GAIN_ERROR
) -> GroundTruth:
    """
    Return a truth whose published effort is scaled per joint, by up to `share` [1] up or down.

    Factors are drawn by `seed`; the drive gain is divided by them. Raises UsageError if `share` is
    not between 0 and 1.
    """
    _check_share('gain error', share, below=1.0)
    factor = np.random.default_rng([seed, 4]).uniform(1.0 - share, 1.0 + share, len(truth.coulomb))
    return replace(truth, drive_gain=truth.drive_gain / factor)


def _check_share(name: str, share: float, *, below: float = np.inf) -> None:
    if not 0.0 < share < below:
        limit = '' if np.isinf(below) else f' and below {below:g}'
        raise UsageError(f'{name}: the share is {share:g}, it must be > 0{limit}')


@dataclass(frozen=True)
class SimulatedArmOptions:
    """Effects of a simulated arm; None: without."""

    static_friction: bool | None = option(
        bool, 'static friction: break-away, Stribeck and load-dependent friction'
    )
    stiffness: float | None = option(
        float, 'stiffness of elastic joints [N m/rad]; their rotors are recorded as rotor_states',
        otherwise='rigid', minimum=0.0, maximum=1e9, metavar='K',
    )
    warm_up: float | None = option(
        float, 'ratio to real joints of the rates of warming up and losing viscous friction, '
        'with temperatures recorded as joint_temperatures',
        otherwise='friction stays as it is', minimum=0.0, maximum=1e4, metavar='FACTOR', bare=1.0,
    )
    velocity_loop: float | None = option(
        float, 'noise of the measured velocity [rad/s] that the velocity loops of the drives '
        'react to; it is recorded',
        otherwise='no velocity loops', minimum=0.0, maximum=1.0, metavar='NOISE', bare=LOOP_NOISE,
    )
    torque_ripple: float | None = option(
        float, 'torque ripple at twice the gear ratio: amplitude over Coulomb friction [1]',
        otherwise='none', minimum=0.0, maximum=10.0, metavar='SHARE', bare=PERIODIC_SHARE,
    )
    position_torque: float | None = option(
        float, 'torque of harmonics 1 to 5 of the joint angle: amplitude of the first over '
        'Coulomb friction [1]',
        otherwise='none', minimum=0.0, maximum=10.0, metavar='SHARE', bare=PERIODIC_SHARE,
    )
    gain_error: float | None = option(
        float, 'largest share by which the published effort is scaled, per joint [1]',
        otherwise='none beyond that of the drive gains', minimum=0.0, maximum=0.99,
        metavar='SHARE', bare=GAIN_ERROR,
    )

    def __post_init__(self) -> None:
        check_options(self)

    def truth(self, robot: RobotModel, seed: int) -> GroundTruth:
        """
        Return the truth of an arm with these effects; all of it is drawn by `seed`.

        Raises UsageError if a value has no meaning or a drive gain of the arm is unknown.
        """
        truth = draw_truth(robot, seed)
        if self.static_friction:
            truth = with_static_friction(truth)
        if self.warm_up is not None:
            truth = with_warming(truth, acceleration=self.warm_up)
        if self.stiffness is not None:
            truth = with_elastic_joints(truth, self.stiffness)
        return self._with_drive_effects(robot, truth, seed)

    def _with_drive_effects(
        self, robot: RobotModel, truth: GroundTruth, seed: int
    ) -> GroundTruth:
        """Return a truth with what drives and gears add to the effort."""
        if self.velocity_loop is not None:
            truth = with_velocity_loop(truth, noise=self.velocity_loop)
        if self.torque_ripple is not None:
            truth = with_torque_ripple(
                truth, robot.drives.gear_ratio, seed, share=self.torque_ripple
            )
        if self.position_torque is not None:
            truth = with_position_torque(truth, seed, share=self.position_torque)
        if self.gain_error is not None:
            truth = with_gain_errors(truth, seed, share=self.gain_error)
        return truth
