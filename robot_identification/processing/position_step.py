# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Step in which positions are read: of an encoder, or of a log with few digits."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray

# Finer steps are below what friction before sliding depends on [rad]; chosen: a fifth of the
# smallest displacement of the dictionary.
FINEST_STEP = 2.0e-5
# Samples that are looked at, enough to see small changes.
MOST_SAMPLES = 20_000
# Changes of at most so many steps tell a multiple of a step from other numbers; chosen.
MOST_STEPS = 20.0
FEWEST_CHANGES = 20
# Distance of a change from a multiple of the step, as a share of the step; chosen.
ROUNDING = 0.01


def find_position_steps(q: FloatArray) -> FloatArray:
    """
    Return the steps in which positions (N, n) are read [rad or m], 0 where it is too fine.

    Positions have a step where all small changes from sample to sample are multiples of one.
    """
    steps = np.array([_step_of(of_joint) for of_joint in np.asarray(q[:MOST_SAMPLES]).T])
    return np.where(steps > FINEST_STEP, steps, 0.0)


def _step_of(q: FloatArray) -> float:
    """Return the step of the positions (N,) of a joint, 0 where they have none."""
    changes = np.abs(np.diff(q))
    changes = changes[changes > 0.0]
    if not changes.size:
        return 0.0
    step = float(changes.min())
    multiples = changes[changes < MOST_STEPS * step] / step
    is_stepped = multiples.size >= FEWEST_CHANGES and bool(
        np.all(np.abs(multiples - np.round(multiples)) < ROUNDING)
    )
    return step if is_stepped else 0.0
