# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .bag_errors import (
    BagErrors as BagErrors, contiguous_parts as contiguous_parts, ErrorDetails as ErrorDetails,
    errors_at as errors_at, LONGEST_MEMORY as LONGEST_MEMORY, measure_details as measure_details,
    measure_errors as measure_errors, noise_deviation as noise_deviation,
    partial_rms as partial_rms, score_urdf as score_urdf, square_over_mean as square_over_mean,
)
from .band import (
    BAND as BAND, freedom_of_sums as freedom_of_sums,
    make_prediction_deviation as make_prediction_deviation, MOST_FREEDOM as MOST_FREEDOM,
    normal_deviation as normal_deviation, ParameterError as ParameterError,
    PredictionDeviation as PredictionDeviation,
)
from .folds import (
    FOLDS as FOLDS, Folds as Folds, GAP_SECONDS as GAP_SECONDS, hold_out as hold_out,
    is_no_worse as is_no_worse, limit_outliers as limit_outliers, Trial as Trial,
)
from .hypotheses.examination import (
    Examination as Examination, examine_data as examine_data, with_structure as with_structure,
)
from .joint_stiffness import (
    describe_two_encoder_figures as describe_two_encoder_figures,
    two_encoder_figures as two_encoder_figures,
)
from .score import Residuals as Residuals, Score as Score
from .training_data import (
    find_training_data as find_training_data,
    temperature_notes as temperature_notes, temperatures_covered as temperatures_covered,
)
from .validation import (
    bandwidth_of as bandwidth_of, corrected_joints as corrected_joints,
    describe_uncorrected as describe_uncorrected, errors_content as errors_content,
    errors_on as errors_on, predict_effort as predict_effort,
    predict_urdf_effort as predict_urdf_effort, validate as validate, Validation as Validation,
    validation_content as validation_content, validation_json as validation_json,
)
from .verdict import (
    ANOTHER_MOTION as ANOTHER_MOTION, BAD as BAD, DataWarning as DataWarning, Findings as Findings,
    findings_in as findings_in, is_low_rate as is_low_rate, join_verdicts as join_verdicts,
    judge as judge, Limit as Limit, limits_in as limits_in, NOT_INDEPENDENT as NOT_INDEPENDENT,
    NOTHING_FOUND as NOTHING_FOUND, PAYLOAD as PAYLOAD, SIMULATION as SIMULATION,
    Verdict as Verdict, verdict_content as verdict_content,
)
from .whiteness import (
    autocovariance as autocovariance, correlation_distance as correlation_distance,
    independent_share as independent_share, ljung_box as ljung_box,
)
