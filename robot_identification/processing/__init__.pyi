# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .dataset import (
    Contradiction as Contradiction, Dataset as Dataset,
    find_constant_effort_joints as find_constant_effort_joints,
    find_position_steps as find_position_steps, find_stationary_joints as find_stationary_joints,
    find_unexcited_joints as find_unexcited_joints, have_rotors as have_rotors,
    MOVING_SPEED as MOVING_SPEED, seconds_by_direction as seconds_by_direction,
)
from .effort import (
    compare_with_current as compare_with_current, current_facts as current_facts,
    current_remarks as current_remarks, CurrentComparison as CurrentComparison,
)
from .effort_hypotheses import (
    body_deviation as body_deviation, friction_columns as friction_columns,
    orthonormal as orthonormal,
)
from .effort_meaning import (
    EffortMeaning as EffortMeaning, JointEvidence as JointEvidence, judge_effort as judge_effort,
)
from .filters import (
    causal_coefficients as causal_coefficients, CAUSAL_CUTOFF as CAUSAL_CUTOFF,
    CAUSAL_GAP_PERIODS as CAUSAL_GAP_PERIODS, CAUSAL_ORDER as CAUSAL_ORDER,
    causal_signals as causal_signals, decimation_step as decimation_step,
    HIGHEST_CUTOFF as HIGHEST_CUTOFF, low_pass as low_pass,
    parallel_decimate as parallel_decimate,
)
from .fourier import fit_fourier as fit_fourier, FourierSeries as FourierSeries
from .loading import (
    check_effort_unit as check_effort_unit, check_robot_name as check_robot_name,
    load_for_model as load_for_model, read_arm as read_arm, read_for_model as read_for_model,
)
from .periods import (
    find_periodic_motion as find_periodic_motion, MOST_HARMONICS as MOST_HARMONICS,
    NotPeriodicError as NotPeriodicError, PeriodicMotion as PeriodicMotion,
)
from .processing import (
    check_effort_recorded as check_effort_recorded, describe_damage as describe_damage,
    process as process,
)
from .repairs import (
    count_missing as count_missing, held_joint_remarks as held_joint_remarks,
    hold_as_recorded as hold_as_recorded, MISSING_PERIODS as MISSING_PERIODS,
)
from .robot_state import (
    SAFE_MODES as SAFE_MODES, SAFETY_MODES as SAFETY_MODES,
    temperatures_so_far as temperatures_so_far,
)
from .smoothing import smooth_effort as smooth_effort
from .tracking import (
    CommandDelay as CommandDelay, find_command_delay as find_command_delay, track as track,
    Tracking as Tracking, with_position_error as with_position_error,
)
