# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A recorder that is kept from running for a moment stops no arm; one that is no more does."""

from contextlib import nullcontext
import time
from types import SimpleNamespace

from diagnostic_msgs.srv import SelfTest
import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.nodes.status import RecorderWatch
from ros_helpers import state_message


class Handle(nullcontext):
    """A client of rclpy's core, whose service answers a question when the test wants it."""

    def __init__(self):
        super().__init__()
        self.asked, self.answers = [], []

    def send_request(self, request):
        self.asked.append(len(self.asked))
        return self.asked[-1]

    def take_response(self, kind):
        return self.answers.pop(0) if self.answers else (None, None)

    def answer(self, number, success, **content):
        header = SimpleNamespace(request_id=SimpleNamespace(sequence_number=number))
        self.answers.append((header, SelfTest.Response(
            passed=bytes([success]), status=state_message(**content).status
        )))


@pytest.fixture
def watch(monkeypatch):
    """Return a watch on a recorder, the handle of its client, and a clock."""
    handle, clock = Handle(), [100.0]
    monkeypatch.setattr(time, 'monotonic', lambda: clock[0])
    client = SimpleNamespace(handle=handle, service_is_ready=lambda: True)
    node = SimpleNamespace(create_client=lambda *_, **__: client)
    recorder = RecorderWatch(node, 'bag_recorder')
    recorder.poll()
    return recorder, handle, clock


def test_silence_is_a_fault_with_its_usual_cause(watch):
    """An answer that comes late tells of the time of its question at best."""
    recorder, handle, clock = watch
    with pytest.raises(UnsafeMotionError, match='bag_recorder/status does not answer'):
        recorder.check()
    clock[0] += 0.9
    handle.answer(0, True, state='RECORDING')
    recorder.poll()
    with pytest.raises(UnsafeMotionError, match=(
        r'no sign of life for 0\.90 s, at most 0\.8 s .* Usually the computer was too busy .* end '
    )):
        recorder.check()
    # What this process itself missed is no silence of the recorder.
    recorder.check(lambda age, now: age - 0.5)
    # The question that was asked meanwhile is answered.
    handle.answer(1, True, state='RECORDING')
    recorder.poll()
    recorder.check()


def test_a_recorder_that_fails_is_believed_at_once(watch):
    recorder, handle, _ = watch
    handle.answer(0, False, state='FAULT', reason='the disk is full')
    recorder.poll()
    with pytest.raises(UnsafeMotionError, match='is FAULT, not RECORDING: the disk is full'):
        recorder.check()


@pytest.mark.parametrize('is_started', [True, False])
def test_a_motion_begins_by_a_new_answer(watch, monkeypatch, is_started):
    """An answer from before ~/start, taken late, does not refuse the motion after it."""
    recorder, handle, clock = watch
    handle.answer(0, False, state='IDLE', reason='nothing was recorded yet')
    recorder.poll()
    clock[0] += 0.05

    def sleep(seconds):
        clock[0] += seconds
        recorder.poll()
        if is_started and len(handle.asked) == 2:
            handle.answer(1, True, state='RECORDING')

    monkeypatch.setattr(time, 'sleep', sleep)
    began = clock[0]
    with nullcontext() if is_started else pytest.raises(UnsafeMotionError, match='is IDLE'):
        recorder.check_anew()
    # A recorder that answers is not waited for; one that does not, for the accepted silence.
    assert clock[0] - began == pytest.approx(0.05 if is_started else 0.8, abs=0.03)
