# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Payload and friction of an arm at work together: each gets what is not the other's."""

from __future__ import annotations

from collections import deque

from robot_identification.monitoring.online_friction import RecursiveFriction
from robot_identification.monitoring.online_payload import PayloadChange, RecursivePayload, WINDOW
from robot_identification.monitoring.online_residuals import LiveSample


class OnlineEstimator:
    """
    Estimator of payload and friction together; both are of the bare arm's model.

    Friction gets the residual less the torque of the payload, as soon as that is known, and only
    samples that are older than the payload's window: those that a change of payload has spoiled
    are dropped with it.
    """

    def __init__(self, payload: RecursivePayload, friction: RecursiveFriction) -> None:
        self.payload, self.friction = payload, friction
        self._waiting: deque[LiveSample] = deque()

    def step(self, sample: LiveSample) -> PayloadChange | None:
        """Take a sample; return the change of payload that it shows, if any."""
        if self._waiting and sample.stamp < self._waiting[-1].stamp:
            # Another clock: the time limit of those that wait has no meaning any more.
            self._waiting.clear()
        before = self.payload.changes
        self.payload.step(sample.stamp, sample.q, sample.dq, sample.ddq, sample.residual)
        if self.payload.changes is not before:
            self._waiting.clear()
            return self.payload.changes[-1]
        self._waiting.append(sample)
        while self._waiting and self._waiting[0].stamp <= sample.stamp - WINDOW:
            old = self._waiting.popleft()
            if self.payload.is_known:
                needed = self.payload.torque(old.q, old.dq, old.ddq)
                self.friction.step(old.stamp, old.dq, old.residual - needed)
        return None

    def restart(self) -> None:
        """Forget payload and friction."""
        self.payload.restart()
        self.friction.restart()
        self._waiting.clear()
