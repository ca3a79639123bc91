# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .fit import fit_line as fit_line, line_at as line_at, LineFit as LineFit
from .line import LEAST_RANGE as LEAST_RANGE
from .options import TemperatureOptions as TemperatureOptions
from .report import (
    temperature_content as temperature_content, temperature_text as temperature_text,
)
from .settling import (
    figures_of_run as figures_of_run, FRICTION as FRICTION, judge_settling as judge_settling,
    RunFigures as RunFigures, Settling as Settling, SettlingOptions as SettlingOptions,
    TEMPERATURE as TEMPERATURE,
)
from .study import run_temperature as run_temperature, TemperatureResult as TemperatureResult
