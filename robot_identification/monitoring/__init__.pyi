# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .collision import CollisionThresholds as CollisionThresholds
from .collision_file import (
    calibrate_on as calibrate_on, CollisionCalibration as CollisionCalibration,
    load_collision_calibration as load_collision_calibration,
)
from .contact_observer import (
    ContactObserver as ContactObserver, observe_recording as observe_recording,
)
from .friction_health import FrictionHealth as FrictionHealth, JointHealth as JointHealth
from .health_reference import read_reference as read_reference, write_reference as write_reference
from .momentum_observer import DEFAULT_BANDWIDTH as DEFAULT_BANDWIDTH
from .online_estimator import OnlineEstimator as OnlineEstimator
from .online_friction import (
    RecursiveFriction as RecursiveFriction, RecursiveFrictionOptions as RecursiveFrictionOptions,
    viscous_slopes as viscous_slopes,
)
from .online_payload import (
    in_words as in_words, LivePayload as LivePayload, NONE as NONE, PAYLOAD as PAYLOAD,
    RecursivePayload as RecursivePayload, RecursivePayloadOptions as RecursivePayloadOptions,
)
from .online_residuals import LiveResiduals as LiveResiduals, ThinningOptions as ThinningOptions
from .warm_up import advise_wait as advise_wait
