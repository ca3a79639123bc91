# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Effects that a simulated arm can have beyond rigid bodies and smooth friction."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.model import RobotModel
from robot_identification.options import check_options, option
from robot_identification.simulation.ground_truth import (
    draw_truth, GAIN_SCALE_ERROR, GroundTruth, LOOP_NOISE, POSITION_SHARE, RIPPLE_SHARE,
    with_elastic_joints, with_gain_errors, with_position_torque, with_static_friction,
    with_torque_ripple, with_velocity_loop, with_warming,
)


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
        otherwise='none', minimum=0.0, maximum=10.0, metavar='SHARE', bare=RIPPLE_SHARE,
    )
    position_torque: float | None = option(
        float, 'torque of harmonics 1 to 5 of the joint angle: amplitude of the first over '
        'Coulomb friction [1]',
        otherwise='none', minimum=0.0, maximum=10.0, metavar='SHARE', bare=POSITION_SHARE,
    )
    gain_error: float | None = option(
        float, 'largest share by which the published effort is scaled, per joint [1]',
        otherwise='none beyond that of the drive gains', minimum=0.0, maximum=0.99,
        metavar='SHARE', bare=GAIN_SCALE_ERROR,
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
