# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .collision import CollisionThresholds as CollisionThresholds
from .collision_file import (
    calibrate_on as calibrate_on, CollisionCalibration as CollisionCalibration,
    load_collision_calibration as load_collision_calibration,
)
from .contact_observer import (
    ContactObserver as ContactObserver, DEFAULT_BANDWIDTH as DEFAULT_BANDWIDTH,
    external_torque as external_torque, observe_recording as observe_recording,
)
from .friction_health import FrictionHealth as FrictionHealth, JointHealth as JointHealth
from .health_reference import read_reference as read_reference, write_reference as write_reference
from .live_payload import (
    LivePayload as LivePayload, NONE as NONE, PAYLOAD as PAYLOAD, PayloadChange as PayloadChange,
    PayloadState as PayloadState,
)
