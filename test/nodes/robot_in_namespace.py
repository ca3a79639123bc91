# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Start a simulated robot in a namespace, beside others."""

from contextlib import contextmanager
import signal
import subprocess
import sys

from robot_identification.files import dump_yaml


@contextmanager
def robot_in(graph, namespace, parameters, variables=None):
    """Run a simulated robot in a namespace; check that it ends well."""
    file = graph.folder / f'{namespace}.yaml'
    file.write_text(dump_yaml({'/**': {'ros__parameters': parameters}}))
    process = subprocess.Popen(
        [sys.executable, '-m', 'robot_identification.nodes.simulated_robot', '--ros-args',
         '-r', f'__ns:=/{namespace}', '--params-file', str(file)],
        env={**graph.environment, **(variables or {})}, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            said, _ = process.communicate(timeout=10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
    assert process.returncode == 0, said
