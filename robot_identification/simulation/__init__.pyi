# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .contact import Contact as Contact
from .controller import (
    quintic as quintic, QUINTIC_PEAK as QUINTIC_PEAK, TrajectoryPoints as TrajectoryPoints,
)
from .drive import Drive as Drive
from .effort_arm import effort_truth as effort_truth, EffortArm as EffortArm
from .effort_joint import EffortJoint as EffortJoint, EffortJointConstants as EffortJointConstants
from .faults import (
    Stream as Stream, StreamFaults as StreamFaults, StreamSample as StreamSample,
)
from .run import (
    DEFAULT_RATE as DEFAULT_RATE, driver_period as driver_period,
    published_effort as published_effort, record_motion as record_motion,
    simulate_poses as simulate_poses, SimulatedRun as SimulatedRun,
)
from .scaled_controller import (
    RobotCondition as RobotCondition, ScaledController as ScaledController,
)
from .ground_truth import (
    draw_truth as draw_truth, GroundTruth as GroundTruth,
    SimulatedArmOptions as SimulatedArmOptions,
    with_elastic_joints as with_elastic_joints, with_gain_errors as with_gain_errors,
    with_position_torque as with_position_torque, with_static_friction as with_static_friction,
    with_torque_ripple as with_torque_ripple, with_velocity_loop as with_velocity_loop,
    with_warming as with_warming,
)
from .mujoco_robot import (
    import_mujoco as import_mujoco, NOISE_FREE as NOISE_FREE, Sample as Sample, Sensors as Sensors,
    true_inertial_parameters as true_inertial_parameters, MujocoRobot as MujocoRobot,
)
from .ur_controller.robot import (
    kinematics_of as kinematics_of, UrOptions as UrOptions, UrRobot as UrRobot,
)
from .ur_controller.server import NetworkOptions as NetworkOptions, UrServer as UrServer
