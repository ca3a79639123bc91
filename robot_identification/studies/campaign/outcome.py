# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Results of a campaign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robot_identification.studies.campaign.campaign_file import Campaign
from robot_identification.studies.campaign.friction_trend import FleetFriction
from robot_identification.studies.campaign.runs import DONE
from robot_identification.studies.comparison import JointsOfSize


@dataclass(frozen=True, eq=False)
class CampaignOutcome:
    """Results of a campaign."""

    campaign: Campaign  # what was asked for
    # Of all runs, in the order of the file (docs/formats/campaign.md).
    states: tuple[Mapping[str, Any], ...]
    kept: tuple[str, ...]  # runs that were there already
    health: FleetFriction  # friction over temperature and date
    sizes: tuple[JointsOfSize, ...] = ()  # joints of one size, compared
    notes: tuple[str, ...] = ()  # what a reader should know

    @property
    def failed(self) -> tuple[Mapping[str, Any], ...]:
        """States of the runs that failed."""
        return tuple(state for state in self.states if state['status'] != DONE)
