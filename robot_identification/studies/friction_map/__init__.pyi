# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .estimate import map_friction as map_friction, MapRun as MapRun, payload_mass as payload_mass
from .plan import certified_segments as certified_segments, SegmentPlan as SegmentPlan
from .report import (
    friction_map_content as friction_map_content, FRICTION_MAP_FILES as FRICTION_MAP_FILES,
    friction_map_text as friction_map_text, save_friction_map as save_friction_map,
)
from .segments import SegmentOptions as SegmentOptions
