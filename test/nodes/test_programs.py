# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The interface between the coordinator and its programs is whole, and kept by both."""

import ast
import inspect

from robot_identification.nodes import programs
from robot_identification.nodes.experiment_coordinator import ExperimentCoordinator

DECLARED = {
    name: member for name, member in vars(programs.Coordinator).items()
    if not name.startswith('_')
}


def test_programs_use_what_is_declared_and_nothing_else():
    """They hand it to no function that wants a node."""
    tree = ast.parse(inspect.getsource(programs))
    named = [
        node for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == 'coordinator'
    ]
    used = [
        node for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        and node.value.id == 'coordinator'
    ]
    assert len(named) == len(used)
    assert {node.attr for node in used} == set(DECLARED)


def test_the_coordinator_has_what_is_declared():
    """By the same arguments."""
    for name, member in DECLARED.items():
        own = inspect.getattr_static(ExperimentCoordinator, name)
        assert isinstance(own, property) == isinstance(member, property), name
        if not isinstance(member, property):
            wanted, given = (list(inspect.signature(one).parameters) for one in (member, own))
            assert wanted == given, name
