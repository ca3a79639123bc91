# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Positions that a driver keeps within one turn are counted on, and nothing else is."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing.processing import process
from robot_identification.processing.repairs import TURN


def run(recording):
    return process(recording, KinematicFilter(cutoff=9.0), 'A')


@pytest.mark.parametrize('lowest', [0.0, -np.pi])
def test_a_position_within_one_turn_goes_on(exact, lowest):
    """The joint passes the end of the turn both ways; its motion is that of the clean log."""
    recording = exact.record()
    far = recording.q + np.array([lowest + 0.3, 0.0, 0.0])
    kept = far.copy()
    kept[:, 0] = np.mod(far[:, 0] - lowest, TURN) + lowest
    clean, found = (run(replace(recording, q=q)) for q in (far, kept))
    note, = (text for text in found.notes if 'jump by a turn' in text)
    assert 'a ' in note and 'times' in note and 'b ' not in note
    moved = found.motion.q - clean.motion.q
    np.testing.assert_allclose(moved - moved[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(found.motion.dq, clean.motion.dq, atol=1e-9)
    np.testing.assert_allclose(found.motion.ddq, clean.motion.ddq, atol=1e-7)
    assert not any('jump' in text for text in clean.notes)
