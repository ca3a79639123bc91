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

"""The identifier node gives what the pipeline gives, one identification at a time."""

import json

import numpy as np
from robot_identification.model.model_file import load_identified_model
from ros_helpers import LATCHED
from ros_helpers import wait_until
from std_msgs.msg import String
from std_srvs.srv import Trigger

IDENTIFY = '/identifier/identify'


def test_gives_the_model_of_the_pipeline(graph, bag, identification, tmp_path):
    """The very same numbers; the result is latched; a second call meanwhile is BUSY."""
    output = tmp_path / 'result'
    node = graph.start('identifier')
    assert not graph.configure('identifier', {
        'identify.bags': [str(bag)], 'identify.output': str(output),
    })
    first = graph.request(Trigger, IDENTIFY, Trigger.Request())
    second = graph.request(Trigger, IDENTIFY, Trigger.Request())
    wait_until(lambda: first.done() or second.done(), 'an answer')
    # One of them is refused at once, long before the other is ready.
    assert not (first.done() and second.done())
    busy, served = (first, second) if first.done() else (second, first)
    assert not graph.answer(busy).success
    assert 'BUSY' in graph.answer(busy).message
    answer = graph.answer(served, 120.0)
    assert answer.success, answer.message

    expected = identification.model
    model = load_identified_model(output / 'identified_model.yaml')
    assert model.reduction.names == expected.reduction.names
    np.testing.assert_array_equal(model.theta_base, expected.theta_base)
    np.testing.assert_allclose(model.covariance, expected.covariance, rtol=1e-12)
    assert model.effort_unit == expected.effort_unit == 'A'
    assert (output / 'report.html').is_file()
    assert (output / 'results.txt').is_file()

    results = graph.hear(String, '/identifier/result', LATCHED)
    wait_until(lambda: results, 'the latched result')
    assert json.loads(results[0].data) == {
        'model': str(output / 'identified_model.yaml'),
        'verdict': identification.verdict.level,
        'reasons': list(identification.verdict.reasons),
    }
    # What is there is not overwritten.
    written = (output / 'identified_model.yaml').read_bytes()
    again = graph.call(IDENTIFY, 120.0)
    assert not again.success
    assert 'exists' in again.message
    assert (output / 'identified_model.yaml').read_bytes() == written
    assert node.exit_code is None


def test_identifies_the_robot_that_is_described(graph, bag, tmp_path, ur5):
    """On request the live robot_description is the reference, not the robot's file."""
    description = graph.node.create_publisher(String, '/robot_description', LATCHED)
    description.publish(String(data=ur5.urdf.text.replace('mass value="8.393"',
                                                          'mass value="7.5"')))
    graph.start('identifier', {'use_robot_description': True})
    assert not graph.configure('identifier', {
        'identify.bags': [str(bag)], 'identify.output': str(tmp_path / 'result'),
    })
    wait_until(description.get_subscription_count, 'the identifier')
    answer = graph.call(IDENTIFY, 120.0)
    assert answer.success, answer.message
    model = load_identified_model(tmp_path / 'result' / 'identified_model.yaml')
    assert '7.5' in model.robot.urdf.text
    assert model.robot.urdf_sha256 != ur5.urdf_sha256


def test_bad_requests_are_answered_in_words(graph, bag, tmp_path):
    """The node tells the cause and lives on; nothing is written."""
    broken = tmp_path / 'broken'
    broken.mkdir()
    (broken / 'broken.mcap').write_bytes(b'\x89MCAP0\r\nnothing of use')
    output = tmp_path / 'result'
    node = graph.start('identifier')
    cases = (
        ({'identify.bags': ['']}, 'identify.bags'),
        ({'identify.bags': [str(tmp_path / 'nothing')]}, 'nothing'),
        ({'identify.bags': [str(broken)]}, 'broken'),
        ({'identify.bags': [str(bag)], 'identify.estimator': 'guess'}, 'guess'),
        ({'identify.estimator': 'wls', 'identify.friction': 'magic'}, 'magic'),
        ({'identify.friction': 'none', 'identify.effort_unit': 'lbf'}, 'lbf'),
        ({'identify.effort_unit': 'A', 'robot': 'hal9000'}, 'hal9000'),
        ({'robot': 'ur10'}, 'ur5'),
    )
    assert not graph.configure('identifier', {'identify.output': str(output)})
    for values, words in cases:
        # A value may be refused where it is set, or when it is used: in words either way.
        reasons = graph.configure('identifier', values)
        if reasons:
            assert words in ' '.join(reasons)
            continue
        answer = graph.call(IDENTIFY, 60.0)
        assert not answer.success, values
        assert words in answer.message
        assert node.exit_code is None
    assert not output.exists()
