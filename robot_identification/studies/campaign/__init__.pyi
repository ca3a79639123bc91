# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .campaign import CampaignOutcome as CampaignOutcome, run_campaign as run_campaign
from .campaign_file import load_campaign as load_campaign
from .report import (
    health_content as health_content, health_text as health_text,
    render_campaign_report as render_campaign_report, run_row as run_row,
    sizes_content as sizes_content,
)
