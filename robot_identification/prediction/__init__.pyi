# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .comparison import (
    compare_effort as compare_effort, EffortComparison as EffortComparison, Measured as Measured,
    read_measured as read_measured,
)
from .feed_forward import (
    FeedForward as FeedForward, FeedForwardOptions as FeedForwardOptions, RELEASE as RELEASE,
)
from .forward_dynamics import ArmStates as ArmStates, ForwardDynamics as ForwardDynamics
from .friction_table import FrictionTable as FrictionTable, tabulate_friction as tabulate_friction
from .sample_torque import SampleTorque as SampleTorque
from .torque_predictor import (
    lacks_temperature as lacks_temperature, Prediction as Prediction,
    TorquePredictor as TorquePredictor,
)
