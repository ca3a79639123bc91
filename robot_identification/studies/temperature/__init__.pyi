# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .fit import fit_line as fit_line, line_at as line_at, LineFit as LineFit
from .line import LEAST_RANGE as LEAST_RANGE
from .model import model_at as model_at, model_over_temperature as model_over_temperature
from .report import (
    render_temperature_report as render_temperature_report, temperature_json as temperature_json,
    temperature_text as temperature_text,
)
from .settling import (
    figures_of_run as figures_of_run, FRICTION as FRICTION, judge_settling as judge_settling,
    RunFigures as RunFigures, Settling as Settling, SettlingOptions as SettlingOptions,
    TEMPERATURE as TEMPERATURE,
)
from .trend import (
    study_temperature as study_temperature, temperature_content as temperature_content,
)
