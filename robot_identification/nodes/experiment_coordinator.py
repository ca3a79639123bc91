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

"""
Runs a whole experiment by calling the other nodes' services, as a person would.

Generate, arm, record, execute for every seed; identify from the first recording and give the
model to the torque predictor before the second, so that this one is predicted live.
"""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path
import sys
import threading
import time

from rcl_interfaces.srv import SetParameters
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.parameter import Parameter
from robot_identification.errors import DataError
from robot_identification.errors import IdentificationError
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.model.catalogue import known_robots
from robot_identification.model.catalogue import load_robot
from robot_identification.nodes.common import declare
from robot_identification.nodes.common import LATCHED
from robot_identification.nodes.common import run_node
from std_msgs.msg import String
from std_srvs.srv import Trigger

SERVICE_TIMEOUT = 20.0
LONG_SERVICE_TIMEOUT = 300.0
ARM_TIMEOUT = 10.0


class ExperimentCoordinator(Node):
    """Calls services in order in a thread of its own; finishes with the process's exit code."""

    def __init__(self) -> None:
        super().__init__('experiment_coordinator')
        self.finished: int | None = None
        declare(self, 'output', '', 'folder for trajectories, bags and the result')
        declare(self, 'robot', 'ur5', 'name noted in the bags')
        declare(
            self, 'effort_unit', '', "unit noted in the bags, A or Nm; empty: the robot's"
        )
        declare(self, 'experiment', 'demo', 'experiment file, or name of a shipped one')
        declare(self, 'seeds', [1, 2], 'one trajectory each; the first one is identified from')
        declare(self, 'max_evaluations', 300, 'for each trajectory', minimum=1,
                maximum=10_000_000)
        declare(self, 'topics', ['joint_states'], 'topics to record')
        self._stopping = False
        self._runner_state: dict = {}
        self._group = ReentrantCallbackGroup()
        self.create_subscription(
            String, 'experiment_runner/state', self._on_state, LATCHED,
            callback_group=self._group,
        )
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> bool:
        """Stop waiting for others; return True when the thread has ended."""
        self._stopping = True
        self._thread.join(timeout=0.05)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._experiment()
            self.finished = 0
        except IdentificationError as error:
            self.get_logger().error(str(error))
            self.finished = error.exit_code

    def _experiment(self) -> None:
        output = Path(self.get_parameter('output').value)
        output.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(self.get_parameter('seeds').value, start=1):
            trajectory = self._generate(output / f'trajectory_{number}.yaml', seed)
            bag = output / f'bag_{number}'
            self._execute(trajectory, bag)
            if number == 1:
                model = self._identify(bag, output / 'result')
                self._set('torque_predictor', {'model_file': str(model)})
                self._say(f'predicting live with {model}')

    def _generate(self, path: Path, seed: int) -> Path:
        self._say(f'designing {path.name}')
        self._set('trajectory_generator', {
            'generate.experiment': self.get_parameter('experiment').value,
            'generate.output': str(path),
            'generate.seed': seed,
            'generate.max_evaluations': self.get_parameter('max_evaluations').value,
        })
        self._call('trajectory_generator/generate', LONG_SERVICE_TIMEOUT)
        return path

    def _effort_unit(self) -> str:
        """Return the unit of the effort, empty where neither user nor robot's YAML says it."""
        said = str(self.get_parameter('effort_unit').value)
        name = self.get_parameter('robot').value
        if said or name not in {known.name for known in known_robots()}:
            return said
        return load_robot(name).effort_unit or ''

    def _execute(self, path: Path, bag: Path) -> None:
        sha256 = load_trajectory(path).sha256
        self._set('experiment_runner', {'trajectory_file': str(path), 'arm.sha256': sha256})
        self._arm()
        self._set('bag_recorder', {
            'start.output': str(bag),
            'start.topics': self.get_parameter('topics').value,
            'start.robot': self.get_parameter('robot').value,
            'start.effort_unit': self._effort_unit(),
            'start.trajectory_sha256': sha256,
        })
        self._runner_state = {}
        self._call('bag_recorder/start')
        self._say(f'executing {path.name}, recording {bag.name}')
        self._call('experiment_runner/execute')
        self._wait_until_done()
        self._say(self._call('bag_recorder/stop'))

    def _arm(self) -> None:
        """Arm; for a while again, because nodes that were just started do not see each other."""
        deadline = time.monotonic() + ARM_TIMEOUT
        while True:
            try:
                self._call('experiment_runner/arm')
                return
            except DataError:
                if time.monotonic() > deadline:
                    raise
                self._pause()

    def _identify(self, bag: Path, output: Path) -> Path:
        self._say(f'identifying from {bag.name}')
        self._set('identifier', {'identify.bags': [str(bag)], 'identify.output': str(output)})
        self._call('identifier/identify', LONG_SERVICE_TIMEOUT)
        return output / 'identified_model.yaml'

    def _on_state(self, message: String) -> None:
        self._runner_state = json.loads(message.data)

    def _wait_until_done(self) -> None:
        def done() -> bool:
            state = self._runner_state.get('state')
            if state == 'FAULT':
                raise DataError(f'experiment_runner: {self._runner_state.get("reason")}')
            return state == 'DONE'

        self._wait(done, LONG_SERVICE_TIMEOUT, 'the runner to be done')

    def _set(self, node: str, values: dict) -> None:
        request = SetParameters.Request(
            parameters=[Parameter(name, value=v).to_parameter_msg() for name, v in values.items()]
        )
        answer = self._request(SetParameters, f'{node}/set_parameters', request, SERVICE_TIMEOUT)
        for result in answer.results:
            if not result.successful:
                raise DataError(f'{node}: {result.reason}')

    def _call(self, service: str, timeout: float = SERVICE_TIMEOUT) -> str:
        answer = self._request(Trigger, service, Trigger.Request(), timeout)
        if not answer.success:
            raise DataError(f'{service}: {answer.message}')
        return answer.message

    def _request(self, kind, name: str, request, timeout: float):
        client = self.create_client(kind, name, callback_group=self._group)
        try:
            self._wait(client.service_is_ready, SERVICE_TIMEOUT, f'the service {name}')
            future = client.call_async(request)
            self._wait(future.done, timeout, f'an answer of {name}')
            return future.result()
        finally:
            self.destroy_client(client)

    def _wait(self, condition: Callable[[], bool], timeout: float, what: str) -> None:
        deadline = time.monotonic() + timeout
        while not condition():
            if self._stopping:
                raise DataError('interrupted')
            if time.monotonic() > deadline:
                raise DataError(f'waited {timeout:.0f} s for {what}')
            self._pause()

    def _pause(self) -> None:
        time.sleep(0.02)

    def _say(self, text: str) -> None:
        self.get_logger().info(text)


def main() -> None:
    """Run the node."""
    sys.exit(run_node(ExperimentCoordinator, threads=3))


if __name__ == '__main__':
    main()
