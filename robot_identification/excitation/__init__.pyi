# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .certificate import (
    certify as certify,
    describe_certificate_gaps as describe_certificate_gaps,
    describe_unchecked as describe_unchecked,
    describe_waived_collision as describe_waived_collision, find_overlaps as find_overlaps,
    find_unchecked as find_unchecked, NOT_CHECKED as NOT_CHECKED,
    overlapping_links as overlapping_links, unchecked_from_content as unchecked_from_content,
    unknown_limits as unknown_limits,
)
from .collision import (
    CollisionModel as CollisionModel, Obstacle as Obstacle,
)
from .constraints import (
    broken_limits as broken_limits, hardware_limits as hardware_limits,
    measure_limit_use as measure_limit_use, motion_limits as motion_limits,
    MotionLimits as MotionLimits,
)
from .criteria import CRITERIA as CRITERIA
from .design import design_excitation as design_excitation
from .evaluation import (
    criteria_columns as criteria_columns, criteria_of as criteria_of,
    evaluate_motion as evaluate_motion,
    evaluate_recording as evaluate_recording, Evaluation as Evaluation,
    evaluation_content as evaluation_content, rounded as rounded, UNITS_NOTE as UNITS_NOTE,
    WeakParameter as WeakParameter,
)
from .experiment import Experiment as Experiment, ExtraLimits as ExtraLimits
from .experiment_file import (
    extra_limits_from_content as extra_limits_from_content, find_experiment as find_experiment,
    load_experiment as load_experiment, obstacles_from_content as obstacles_from_content,
)
from .experiment_plan import (
    adapt_laboratory as adapt_laboratory, APPROACH_SPEED as APPROACH_SPEED,
    GENTLE_SPEED as GENTLE_SPEED, Laboratory as Laboratory, plan_study as plan_study,
    PlannedMotion as PlannedMotion, slab as slab, SOURCES as SOURCES, STEPS as STEPS,
    USUAL_HOME as USUAL_HOME,
)
from .feasibility import (
    certificate_times as certificate_times, path_limit_uses as path_limit_uses,
    refine_limit_uses as refine_limit_uses,
)
from .information import Knowledge as Knowledge, standard_errors as standard_errors
from .margins import (
    FEW_HELD as FEW_HELD, find_experiment_holding as find_experiment_holding,
    find_holding as find_holding, find_open_choices as find_open_choices,
    GenericExperiment as GenericExperiment, make_generic_experiment as make_generic_experiment,
    MASS_UNCERTAINTY as MASS_UNCERTAINTY, POSITION_MARGIN as POSITION_MARGIN,
    SHORTEST_APPROACH as SHORTEST_APPROACH, SLOW_SPEED as SLOW_SPEED,
    SLOW_TOOL_SPEED as SLOW_TOOL_SPEED, TORQUE_SHARE as TORQUE_SHARE, usual_window as usual_window,
    VELOCITY_SHARE as VELOCITY_SHARE,
)
from .motion_import import import_motion as import_motion
from .optimizers.search import (
    Budget as Budget, DesignArguments as DesignArguments, GENERIC as GENERIC, Progress as Progress,
)
from .parametrizations.fourier import FourierParametrization as FourierParametrization
from .parametrizations.parametrization import LONGEST_PERIOD as LONGEST_PERIOD
from .parametrizations.sampled import (
    knot_coefficients as knot_coefficients, SampledParametrization as SampledParametrization,
)
from .path_constraints import state_constraints as state_constraints
from .sequential import (
    knowledge_of_model as knowledge_of_model, next_experiment as next_experiment,
    residual_noise as residual_noise,
    weak_parameters as weak_parameters, WEAK_SHARE as WEAK_SHARE, Weakness as Weakness,
)
from .trajectory import (
    check_rest_at_ends as check_rest_at_ends, dump_trajectory as dump_trajectory,
    load_trajectory as load_trajectory, MAXIMUM_PERIODS as MAXIMUM_PERIODS,
    tool_frame as tool_frame, tool_path as tool_path, Trajectory as Trajectory,
    trajectory_csv as trajectory_csv,
)
