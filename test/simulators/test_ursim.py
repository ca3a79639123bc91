# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
URSim: identify on the ground, predict on the ceiling, as section 7 of Raviola et al. 2021.

    pytest test/simulators/test_ursim.py

It needs docker, ur_robot_driver and a workspace with this package, see docs/launch.md.
"""

import shutil
import subprocess

from launching import launched, why_not_installed, why_not_launchable
import numpy as np
import pytest
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.model.registry import load_robot
from robot_identification.pipeline import identify
from ros_helpers import LATCHED, own_graph, wait_until
from simulators.by_hand import Person
from simulators.judging import mounting_errors, MOUNTING_RATIO
from std_msgs.msg import Bool, String

# What PolyScope calls gravity is the acceleration that a resting arm feels [m/s^2].
GRAVITY = 'sec set_mounting():\n  set_gravity([0, 0, {:.2f}])\nend\n'
# An image of a gigabyte may have to be fetched first [s].
STARTING = 900.0


def why_not_runnable():
    """Return what is missing here, or an empty string."""
    reason = why_not_launchable() or why_not_installed('ur_robot_driver', 'ur_client_library')
    if reason:
        return reason
    if shutil.which('docker') is None:
        return 'docker is not installed'
    asked = subprocess.run(['docker', 'info'], capture_output=True, text=True)
    return '' if asked.returncode == 0 else 'the docker daemon does not run'


def power_on(graph, launch):
    """Power the arm on, release its brakes and start its program, as a person does."""
    launch.wait_for('URSim answers', STARTING)
    running = graph.hear(Bool, 'io_and_status_controller/robot_program_running', LATCHED)
    for verb in ('power_on', 'brake_release'):
        wait_until(
            lambda verb=verb: graph.call(f'dashboard_client/{verb}', 60.0).success, verb, 300.0
        )
    wait_until(
        lambda: graph.call('io_and_status_controller/resend_robot_program', 60.0).success
        and running and running[-1].data,
        'the program of the robot', 300.0,
    )


def mount(graph, roll):
    """Tell URSim how its arm is mounted; the program goes on meanwhile."""
    script = graph.publisher(String, 'urscript_interface/script_command')
    script.publish(String(data=GRAVITY.format(9.81 * np.cos(roll))))


@pytest.mark.timeout(7200)
def test_the_wrong_mounting_is_more_than_50_times_worse(tmp_path):
    """Raviola et al. print 0.0043 N m on the ground, 0.0050 on the ceiling, 0.6144 if mixed up."""
    reason = why_not_runnable()
    if reason:
        pytest.skip(reason)
    with own_graph(tmp_path) as graph:
        with launched('ursim', {'ur_type': 'ur5'}, tmp_path, graph.environment) as launch:
            power_on(graph, launch)
            bags = []
            for roll, seeds in ((0.0, (1, 2)), (np.pi, (3,))):
                mount(graph, roll)
                person = Person(graph, tmp_path, 'ur5', 'A', roll=roll)
                bags += [person.climb(person.design(seed)) for seed in seeds]
    model = identify(load_robot('ur5'), bags[:1], IdentifyOptions()).model
    errors = mounting_errors(model, bags[1], bags[2])
    print(errors)
    assert errors.ratio > MOUNTING_RATIO
