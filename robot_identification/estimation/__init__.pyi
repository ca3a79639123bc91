# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .estimate import (
    check_not_negative as check_not_negative, check_positive as check_positive,
    Estimate as Estimate, Estimator as Estimator,
)
from .estimators import ESTIMATORS as ESTIMATORS
from .estimators.consistent import (
    ConsistentBody as ConsistentBody, fit_consistent_body as fit_consistent_body,
)
from .estimators.huber import NORMAL_DEVIATION as NORMAL_DEVIATION
from .estimators.least_squares import WeightedLeastSquares as WeightedLeastSquares
from .fitted_recordings import fit_recordings as fit_recordings
from .fitting import fit_parameters as fit_parameters, observe as observe
from .inputs import (
    choose_drive_gains as choose_drive_gains, choose_effort_unit as choose_effort_unit,
    distinct_names as distinct_names, read_inputs as read_inputs,
    take_position_errors as take_position_errors,
)
from .judgement import (
    Identification as Identification, judge_identification as judge_identification,
    make_model as make_model,
)
from .method import (
    AUTOMATIC as AUTOMATIC, COMMAND as COMMAND, EFFORT as EFFORT,
    IdentifyOptions as IdentifyOptions, LATEST_TIME as LATEST_TIME,
)
from .problem import (
    combine_factors as combine_factors, IdentificationProblem as IdentificationProblem,
    Observations as Observations, select_blocks as select_blocks,
    TriangularFactor as TriangularFactor,
)
from .recipe import load_recipe as load_recipe, Recipe as Recipe
from .rows import (
    divided_period as divided_period, parts_of_period as parts_of_period,
    QRAccumulator as QRAccumulator, RowTreatment as RowTreatment, SHORTEST_BLOCK as SHORTEST_BLOCK,
    TIME_BLOCKS as TIME_BLOCKS, TrainingData as TrainingData,
)
from .selection import (
    choose as choose, ignore_progress as ignore_progress, Report as Report,
    survey_recordings as survey_recordings,
)
from .solving import solve_bounded as solve_bounded, solve_weighted as solve_weighted
from .standard import draw_consistent as draw_consistent
from .uncertainty.covariance import Covariance as Covariance, covariance_of as covariance_of
from .uncertainty.intervals import (
    confidence_intervals as confidence_intervals, covariance_from_model as covariance_from_model,
    find_needed_terms as find_needed_terms, joint_test as joint_test, JointTest as JointTest,
    nested_test as nested_test,
)
from .uncertainty.scatter import (
    choose_lag as choose_lag, moving_sums as moving_sums, problem_of as problem_of,
)
