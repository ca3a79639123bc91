# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .plan import SegmentPlan as SegmentPlan
from .report import (
    friction_map_content as friction_map_content, friction_map_text as friction_map_text,
)
from .study import (
    FrictionMapOptions as FrictionMapOptions, PLAN_FILE as PLAN_FILE,
    run_friction_map as run_friction_map, run_friction_plan as run_friction_plan,
)
