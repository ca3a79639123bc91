# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The recorder's heartbeat: a motion that is not recorded is stopped."""

from __future__ import annotations

from collections.abc import Callable
import time

import numpy as np
from robot_identification.errors import UnsafeMotionError
from robot_identification.nodes.common import LATCHED
from robot_identification.nodes.json_text import parse_json
from robot_identification.nodes.topic_thread import TopicThread
from std_msgs.msg import String

# [s] (docs/execution.md); chosen: eight heartbeats, a fifth of what the recorder's queue holds at
# 500 Hz. A recorder that was kept from running for less has lost nothing; one that fails says so
# at once, and an arm that is moved unrecorded is in no danger.
HEARTBEAT_TIMEOUT = 0.8


class RecorderBond:
    """Hears the state of the bag recorder of that node name, in the thread of the watch."""

    def __init__(self, watch: TopicThread, recorder: str) -> None:
        self._recorder = recorder
        self._state: dict = {}
        self._heard_at = -np.inf
        watch.hear(String, f'{recorder}/state', LATCHED, self._on_state)

    def check(self, waited: Callable[[float, float], float] = lambda age, now: age) -> None:
        """
        Raise UnsafeMotionError, with the recorder's last state, if it does not record.

        `waited` returns for how long a heartbeat was waited for [s], from the age of the last one
        and the present time.
        """
        if not self._state:
            raise UnsafeMotionError(
                f'nothing came on {self._recorder}/state: start the recorder, or set '
                'require_recorder false where something else records'
            )
        if self._state.get('state') != 'RECORDING':
            reason = self._state.get('reason') or 'call its ~/start first'
            raise UnsafeMotionError(
                f'{self._recorder} is {self._state.get("state")}, not RECORDING: {reason}'
            )
        now = time.monotonic()
        age = now - self._heard_at
        if waited(age, now) > HEARTBEAT_TIMEOUT:
            raise UnsafeMotionError(
                f'{self._recorder} gave no sign of life for {age:.2f} s, at most '
                f'{HEARTBEAT_TIMEOUT:g} s are accepted. Usually the computer was too busy to run '
                'it: end other programs, and record fewer topics. If the log of the recorder ends '
                'at this time, it was killed: start it again'
            )

    def _on_state(self, message: String) -> None:
        content = parse_json(message.data)
        if isinstance(content, dict):
            self._state, self._heard_at = content, time.monotonic()
