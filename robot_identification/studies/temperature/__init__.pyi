# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .line import (
    fit_line as fit_line, LEAST_RANGE as LEAST_RANGE, line_at as line_at, LineFit as LineFit,
)
from .report import (
    run_temperature as run_temperature, temperature_content as temperature_content,
    temperature_text as temperature_text, TemperatureOptions as TemperatureOptions,
    TemperatureResult as TemperatureResult,
)
from .steady_state import (
    figures_of_run as figures_of_run, FRICTION as FRICTION,
    judge_steady_state as judge_steady_state, RunFigures as RunFigures, SteadyState as SteadyState,
    SteadyStateOptions as SteadyStateOptions, TEMPERATURE as TEMPERATURE,
)
