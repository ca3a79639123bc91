# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .campaign_file import Campaign as Campaign, load_campaign as load_campaign
from .report import (
    campaign_content as campaign_content, campaign_text as campaign_text,
    CampaignOutcome as CampaignOutcome,
)
from .study import CampaignOptions as CampaignOptions, run_campaign as run_campaign
