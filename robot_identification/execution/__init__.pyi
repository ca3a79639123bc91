# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from . import events as events
from .approval import (
    Approval as Approval, approve as approve, check_hash as check_hash,
    ExecutionOptions as ExecutionOptions, make_plan as make_plan,
)
from .checks import trajectory_knots as trajectory_knots
from .commissioning import record_path as record_path
from .controller_constraints import (
    check_controller_joints as check_controller_joints, constraint_names as constraint_names,
    constraints_from_parameters as constraints_from_parameters,
    ControllerConstraints as ControllerConstraints, PREFIXES as PREFIXES,
)
from .events import (
    GoalAccepted as GoalAccepted, GoalFailed as GoalFailed, GoalsReleased as GoalsReleased,
    JointStateReceived as JointStateReceived, JointStateUnusable as JointStateUnusable,
)
from .executed import compare_execution as compare_execution
from .safety import check_same_arm as check_same_arm
from .state_machine import (
    ARMED_SECONDS as ARMED_SECONDS, ExecutionStateMachine as ExecutionStateMachine,
    NOT_EXECUTED as NOT_EXECUTED,
)
from .states import Armed as Armed, Moving as Moving, State as State, Stopping as Stopping
from .stop import START_TOLERANCE as START_TOLERANCE
from .watch import REST_SPEED as REST_SPEED
