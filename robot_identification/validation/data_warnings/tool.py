# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Test of a last link that is another body than that of the URDF, as one with a tool."""

from __future__ import annotations

from robot_identification.validation.data_warnings.candidate import Candidate
from robot_identification.validation.data_warnings.evidence import Evidence
from robot_identification.validation.data_warnings.thresholds import LEAST_TOOL_GAIN
from robot_identification.validation.verdict import DataWarning


def find_tool(evidence: Evidence) -> Candidate | None:
    """
    Return the finding that the last link carries what the URDF lacks, if that is likely.

    It is no fault: an arm is identified with its tool.
    """
    gain = evidence.gain(evidence.explain(prior=evidence.tool_prior))
    if gain < LEAST_TOOL_GAIN:
        return None
    last = evidence.robot.joint_names[-1]
    return Candidate(DataWarning(
        'tool', (last,),
        f'the link behind {last} is another body than in the URDF, as with a tool',
        'gain in log likelihood', '', gain, LEAST_TOOL_GAIN,
        'the parameters are those of the arm with what it carried',
    ), gain, matters=False)
