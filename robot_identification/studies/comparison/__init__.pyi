# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .common_parameters import check_same_arm as check_same_arm
from .comparison import (
    CONFIDENCE as CONFIDENCE, holm as holm, LEVEL as LEVEL, p_words as p_words,
    student_interval as student_interval, two_sided as two_sided,
)
from .report import (
    CompareResult as CompareResult, comparison_file_content as comparison_file_content,
    comparison_text as comparison_text, ComparisonOptions as ComparisonOptions,
    run_comparison as run_comparison, TORQUE_HEADER as TORQUE_HEADER, torque_rows as torque_rows,
)
from .sliding import (
    common_range as common_range, compare_joints_of_size as compare_joints_of_size,
    degrees_of_freedom as degrees_of_freedom, JointsOfSize as JointsOfSize,
    sliding_friction as sliding_friction, sliding_torque_map as sliding_torque_map,
)
from .torque_change import (
    change_of_torque as change_of_torque, motion_of_trajectory as motion_of_trajectory,
    RATE as RATE, share_of_limit as share_of_limit, shared_motion as shared_motion,
    TorqueChange as TorqueChange,
)
