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

"""Identifies an arm from bags on request."""

from __future__ import annotations

import json
from pathlib import Path
import sys
import threading

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from robot_identification.errors import IdentificationError
from robot_identification.errors import UsageError
from robot_identification.estimation.method import AUTOMATIC
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.nodes.common import declare
from robot_identification.nodes.common import declare_robot
from robot_identification.nodes.common import LATCHED
from robot_identification.nodes.common import run_node
from robot_identification.nodes.robot import robot_from_parameters
from robot_identification.nodes.robot import RobotDescription
from robot_identification.pipeline import identify
from robot_identification.report.save import save_identification
from std_msgs.msg import String
from std_srvs.srv import Trigger


class Identifier(Node):
    """Answers ~/identify when model, report and results are written."""

    def __init__(self) -> None:
        super().__init__('identifier')
        declare_robot(self)
        declare(self, 'identify.bags', [''], 'bags to identify from')
        declare(self, 'identify.output', '', 'folder for model, report and results')
        declare(self, 'identify.effort_unit', '', 'A or Nm; empty: what the bag or robot says')
        declare(self, 'identify.estimator', '', 'name of the estimator; empty: by the friction')
        declare(
            self, 'identify.friction', AUTOMATIC,
            'comma list of friction laws, none, or auto: terms chosen from the data',
        )
        self._description = RobotDescription(self, used=False)
        self._busy = threading.Lock()
        self._result = self.create_publisher(String, '~/result', LATCHED)
        self.create_service(
            Trigger, '~/identify', self._on_identify, callback_group=ReentrantCallbackGroup()
        )

    def _on_identify(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        if not self._busy.acquire(blocking=False):
            response.message = 'BUSY: an identification is running'
            return response
        try:
            response.message = self._identify()
            response.success = True
        except (IdentificationError, OSError) as error:
            self.get_logger().error(str(error))
            response.message = str(error)
        finally:
            self._busy.release()
        return response

    def _identify(self) -> str:
        bags = [Path(bag) for bag in self.get_parameter('identify.bags').value if bag]
        output = self.get_parameter('identify.output').value
        if not bags or not output:
            raise UsageError('set identify.bags and identify.output first')
        options = IdentifyOptions(
            estimator=self.get_parameter('identify.estimator').value or None,
            friction=self.get_parameter('identify.friction').value or None,
            effort_unit=self.get_parameter('identify.effort_unit').value or None,
        )
        found = identify(robot_from_parameters(self, self._description.read()), bags, options)
        save_identification(found, Path(output), 'the identifier node', force=False)
        content = json.dumps({
            'model': str(Path(output) / 'identified_model.yaml'),
            'verdict': found.verdict.level,
            'reasons': found.verdict.reasons,
        })
        self._result.publish(String(data=content))
        return content


def main() -> None:
    """Run the node."""
    sys.exit(run_node(Identifier, threads=3))


if __name__ == '__main__':
    main()
