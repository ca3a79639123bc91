# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The exit code of a call is what the service answered; launch files go on by it."""

import subprocess
import sys

import pytest
from std_srvs.srv import Trigger

# Of a process that imports rclpy and finds its peer, on a machine that does something else [s].
LONGEST = 60.0
# With shorter patience than a person has.
CALL = """
import sys
from robot_identification.nodes import call_trigger
call_trigger.GONE = 1.0
sys.exit(call_trigger.main(sys.argv[1:]))
"""


def call(graph, *arguments):
    return subprocess.run(
        [sys.executable, '-c', CALL, *arguments], env=graph.environment, capture_output=True,
        text=True, timeout=LONGEST,
    )


@pytest.mark.parametrize('success, code', [(True, 0), (False, 1)])
def test_the_answer_is_the_exit_code(success, code, graph):
    """`ros2 service call` ends with 0 in both cases."""
    def answer(request, response):
        response.success, response.message = success, 'as it was asked'
        return response

    graph.node.create_service(Trigger, 'identifier/listen', answer)
    ended = call(graph, '/identifier/listen')
    assert ended.returncode == code
    said = ended.stdout if success else ended.stderr
    assert said.endswith('/identifier/listen: as it was asked\n')
