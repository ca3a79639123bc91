# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

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
