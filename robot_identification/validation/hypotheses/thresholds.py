# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Thresholds of the hypotheses, and a warning on its way to the verdict.

A warning needs two conditions: its hypothesis explains enough of the residual, and
the change it asks for is larger than what is usual on a sound recording. Source of the values: the
simulated arms of `studies/wrong_recordings.py` (docs/verdict.md has the table), and the recordings
of a UR10 and of a Panda, none of which may raise a false warning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.validation.verdict import DataWarning

# Samples that the tests work on: enough for a fault throughout a recording.
SAMPLES = 800
# No more time than this is between two of them [s], so that delays and filters can be seen.
LONGEST_STEP = 0.05
# Longer recordings are seen through so many windows of equal length.
WINDOWS = 8

# Signals are compared below this frequency [Hz]: the band of an arm's motion, in which less of the
# sensors' noise is left.
BAND = 4.0

# A tool that the URDF lacks may weigh so much of the arm [1]: the rated payload of most arms is
# less than a third of their mass.
TOOL_SHARE = 0.2

# A residual below this share of the deviation of a joint's torque has no practical effect [1].
FLOOR = 0.015

# Rise of the logarithm of the posterior that a hypothesis must bring [1]: at 9 it is some
# thousand times as likely as that the data are as they are said to be.
LEAST_GAIN = 9.0
# The same of hypotheses about bodies, gains, gravity and zeros, which what a model lacks does not
# imitate: at 5 it is more than a hundred times as likely.
LEAST_BODY_GAIN = 5.0
# Hypotheses about the signals alone must also lower the residual, as what a model lacks is in part
# explained by any of them [1]: 0.6 is a residual that falls to 74 % of its size in one joint, or
# to 95 % in each of six.
LEAST_FALL = 0.6
# A second hypothesis is named where it explains nearly as much as the best one [1].
NEARLY_AS_GOOD = 0.8
# No more than so many hypotheses are named.
MOST_NAMED = 2

# The same of exchanged joints, of which there are many.
LEAST_ORDER_GAIN = 12.0
# The same of a tool that the URDF lacks, which may be any body: without one the gain is at most 6
# for the simulated arms and 9 for recordings of a UR10 and two Pandas, with one of 4 % of a UR's
# mass or more at least 22.
LEAST_TOOL_GAIN = 16.0
# The same of a payload that changes: without a change the gain is at most 17 for recordings of six
# arms, with one of 3 % of an arm's mass or more at least 54.
LEAST_CHANGE_GAIN = 24.0
# Effort factor of one joint against the others [1]: nominal drive gains are right to 5 to 10 %.
LEAST_FACTOR = 1.15
# Share of the deviation of a torque that bodies must have for that [1]: the wrist of a UR is below
# it, and a factor of 2 to 4 explained its friction where an arm warms up or moves joint by joint.
LEAST_CARRIED = 0.2
# Common factor against the URDF's masses [1]: they are right to some 20 to 30 %, link by link.
LEAST_COMMON_FACTOR = 1.5
# Gravity against the stated one: angle [rad] and ratio of the sizes [1].
LEAST_TILT, LEAST_GRAVITY_RATIO = 0.05, 1.3
# Delay of the effort [s]: twice what drives and buses are known for; no less than the time between
# two joint states, by which a stamp may be wrong anyway.
LEAST_DELAY = 0.012
# Delays are tried up to this [s].
LARGEST_DELAY = 0.150
# Offset of an encoder's zero [rad].
LEAST_ZERO = 0.12
# Cut-offs at which the effort may have been filtered [Hz].
FILTER_CUTOFFS = (0.5, 1.0, 2.0, 4.0)
# What a filter took from the effort, mean over the joints of its share of their deviation [1];
# less is stated, but is no warning.
LEAST_REMOVED = 0.04
# Factor of the velocities against the positions [1], and how far the joints may differ in it.
LEAST_TIME_SCALE, LARGEST_TIME_SCATTER = 0.02, 0.01
# Where the factor is far from one, they may differ by this share of the distance [1]; chosen: rows
# that are missing at random make the factors of joints differ by some per cent.
LARGEST_TIME_SHARE = 0.15
# Share of the samples at exactly the same extreme effort [1], and the fewest of them.
LEAST_CLIPPED, FEWEST_CLIPPED = 0.02, 10
# Motion of a joint in the rarer one of its directions [s]; chosen: so much shows friction there.
SHORTEST_DIRECTION = 1.0
# Power of friction over that of torque and speed [1]: below minus this, friction would drive.
DISSIPATED = 0.02
# The same where no other hypothesis explains it: friction of joints of 120 sound recordings of
# simulated arms takes at least 0.09.
DRIVING = 0.1
# Structured residual: mean over the joints of its share of the effort's deviation [1], and of its
# size over the noise from sample to sample [1].
LARGEST_STRUCTURE, LEAST_OVER_NOISE = 0.10, 2.0
# What the data could tell is tried with these errors of a joint: effort factor [1], zero [rad].
TRIED_FACTOR, TRIED_ZERO = 1.3, 0.3


@dataclass(frozen=True)
class Candidate:
    """A warning and the weight of its evidence."""

    warning: DataWarning  # what is suspected
    # By how much its hypothesis raises the logarithm of the posterior; infinite where the signals
    # show it by themselves, without a model.
    gain: float = np.inf
    # Whether the effect is large enough for a warning; if not, it is stated all the same.
    matters: bool = True
