# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A controller's constraints are read over its parameter services, and never waited for."""

from types import SimpleNamespace
from typing import ClassVar

import pytest
from robot_identification.nodes import controller
from robot_identification.nodes.controller import ControllerState


class Unanswered:
    """A node whose clients find no service."""

    def create_client(self, kind, service):
        return SimpleNamespace(service_is_ready=lambda: False)

    def destroy_client(self, client):
        """Do nothing."""


class States:
    """A subscription to a controller's states, which come when a test puts them here."""

    arrived: ClassVar[list] = []

    def __init__(self, *_):
        self.arrived.clear()

    def take(self, most):
        taken = [(one, {}) for one in self.arrived[-most:]]
        self.arrived.clear()
        return taken

    def destroy(self):
        """Do nothing."""


@pytest.mark.parametrize(('publishers', 'names', 'found'), [
    (1, ('left_lift', 'left_turn'), [0.1, 0.2]), (2, ('left_lift', 'left_turn'), None),
    (1, ('left_turn', 'left_lift'), [0.2, 0.1]), (1, ('left_lift', 'gripper'), None),
    (1, ('left_lift',), None),
])
def test_where_a_controller_holds_the_arm_is_found_by_names(
    publishers, names, found, monkeypatch
):
    """Not where a bag that is replayed may be what states it."""
    for name, value in {
        'DirectSubscription': States, 'SpeedScalingFactor': None,
        'JointTrajectoryControllerState': object(), 'deserialize_message': lambda data, kind: data,
    }.items():
        monkeypatch.setattr(controller, name, value)
    monkeypatch.setattr(
        controller, 'publishers', lambda node, topic: ['/jtc', '/player'][:publishers]
    )
    stating = ControllerState(Unanswered(), ('left_lift', 'left_turn'))
    stating.refresh('jtc')
    States.arrived.append(SimpleNamespace(
        joint_names=names, reference=SimpleNamespace(positions=[0.1, 0.2]),
    ))
    stated = stating.commanded()
    assert stated is found if found is None else stated.tolist() == found
