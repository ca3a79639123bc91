# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A recorder that is kept from running for a moment stops no arm; one that is no more does."""

import json
import time

import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.nodes.recorder_bond import RecorderBond
from std_msgs.msg import String


class Watch:
    """Stands for the thread of the watch."""

    def hear(self, kind, topic, qos, callback):
        self.tell = lambda **content: callback(String(data=json.dumps(content)))


@pytest.fixture
def bond(monkeypatch):
    """Return a bond to a recorder, what it says, and a clock."""
    watch, clock = Watch(), [100.0]
    monkeypatch.setattr(time, 'monotonic', lambda: clock[0])
    return RecorderBond(watch, 'bag_recorder'), watch, clock


@pytest.mark.parametrize('stall', [0.1, 0.48, 0.7])
def test_a_stall_that_loses_nothing_is_no_fault(bond, stall):
    """The recorder's queue holds seconds."""
    recorder, watch, clock = bond
    watch.tell(state='RECORDING')
    clock[0] += stall
    recorder.check()


def test_silence_is_a_fault_with_its_usual_cause(bond):
    recorder, watch, clock = bond
    watch.tell(state='RECORDING')
    clock[0] += 0.9
    with pytest.raises(UnsafeMotionError, match=(
        r'no sign of life for 0\.90 s, at most 0\.8 s .* Usually the computer was too busy .* end '
    )):
        recorder.check()
    # What this process itself missed is no silence of the recorder.
    recorder.check(lambda age, now: age - 0.5)


def test_a_recorder_that_fails_is_believed_at_once(bond):
    recorder, watch, _ = bond
    watch.tell(state='FAULT', reason='the disk is full')
    with pytest.raises(UnsafeMotionError, match='is FAULT, not RECORDING: the disk is full'):
        recorder.check()
