# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .figures import (
    decimate as decimate, draw_panel as draw_panel, GAP as GAP, MARGINS as MARGINS,
    MAXIMUM_POINTS as MAXIMUM_POINTS, single_panel as single_panel, WIDE_LABELS as WIDE_LABELS,
    WIDTH as WIDTH,
)
from .formatting import (
    attributes as attributes, bullets as bullets, fixed as fixed, json_text as json_text,
    NOT_AVAILABLE as NOT_AVAILABLE, number as number, percent as percent,
    sliding_text as sliding_text, text_table as text_table, wrap as wrap,
)
from .page import Meaning as Meaning, render_page as render_page
from .parameters import coefficients as coefficients
from .plot import (
    BAND as BAND, box as box, Drawing as Drawing, FONT_SIZE as FONT_SIZE, MEASURED as MEASURED,
    Panel as Panel, Picture as Picture, POINTS_PER_INCH as POINTS_PER_INCH,
    PREDICTED as PREDICTED, RESIDUAL as RESIDUAL, text_at as text_at, URDF_COLOUR as URDF_COLOUR,
)
from .reports import (
    render_validation_report as render_validation_report, RESULT_FILES as RESULT_FILES,
    save_identification as save_identification, write_report as write_report,
)
from .text_report import (
    short_verdict_lines as short_verdict_lines, shortcomings as shortcomings,
    summary_text as summary_text, validation_text as validation_text,
)
from .trajectory_report import (
    render_trajectory_report as render_trajectory_report, trajectory_png as trajectory_png,
)
