# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The trajectory generator writes what the command line writes, and shows it."""

from itertools import pairwise
import signal

from builders import run_command
from many_calls import call_at_once
import numpy as np
import pytest
from robot_identification.excitation.trajectory import load_trajectory
from ros_helpers import acknowledged, LATCHED, own_graph, seconds, wait_until
from std_msgs.msg import Float32, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

GENERATE = '/trajectory_generator/generate'
# Not a multiple of the steps in which the search reports.
EVALUATIONS = 70


class Generator:
    """The node, which serves one test after the other."""

    def __init__(self, graph):
        self.graph = graph
        self.node = graph.start('trajectory_generator')
        self.progress = graph.hear_matched(Float32, '/trajectory_generator/progress')

    def configure(self, **values):
        assert not self.graph.configure(
            'trajectory_generator', {f'generate.{name}': value for name, value in values.items()}
        )

    def begin(self):
        """Call ~/generate; return the future as soon as the search reports."""
        self.progress.clear()
        future = self.graph.request(Trigger, GENERATE, Trigger.Request())
        wait_until(lambda: self.progress, 'the search')
        return future


@pytest.fixture(scope='module')
def in_the_air(experiment_file, tmp_path_factory):
    """Return the same experiment where nothing is within reach, which takes less time."""
    path = tmp_path_factory.mktemp('in_the_air') / 'short.yaml'
    path.write_text(experiment_file.read_text() + 'collision: off\n')
    return path


@pytest.fixture(scope='module')
def shared(tmp_path_factory):
    """Return a node for all tests; the last one ends it."""
    with own_graph(tmp_path_factory.mktemp('generator')) as graph:
        yield Generator(graph)


@pytest.fixture
def output(tmp_path):
    return tmp_path / 'trajectory.yaml'


@pytest.fixture
def generator(shared, in_the_air, output):
    """Return the same, set to a short search."""
    shared.progress.clear()
    assert not shared.graph.configure('trajectory_generator', {
        'robot': 'ur5', 'use_robot_description': False, 'mounting': [0.0] * 3,
    })
    shared.configure(
        experiment=str(in_the_air), output=str(output), seed=0, max_evaluations=20, processes=1,
        time_limit=0.0,
    )
    return shared


def test_writes_what_the_command_line_writes(generator, ur5, in_the_air, output, tmp_path):
    """Same seed, same bytes; progress runs to 1; the preview waits for late subscribers."""
    graph, by_command = generator.graph, tmp_path / 'command.yaml'
    generator.configure(seed=5, max_evaluations=EVALUATIONS)
    future = graph.request(Trigger, GENERATE, Trigger.Request())
    made = run_command(
        'excite', '--robot', 'ur5', '--experiment', in_the_air, '--seed', '5',
        '--max-evaluations', EVALUATIONS, '-o', by_command,
    )
    assert made.code == 0, made.err
    answer = graph.answer(future, 60.0)
    assert answer.success, answer.message
    assert output.read_bytes() == by_command.read_bytes()
    trajectory = load_trajectory(output)
    assert trajectory.sha256 in answer.message

    wait_until(lambda: generator.progress and generator.progress[-1].data == 1.0, 'progress 1')
    shares = [message.data for message in generator.progress]
    assert len(shares) > 2
    assert all(0.0 <= earlier <= later <= 1.0 for earlier, later in pairwise(shares))

    previews = graph.hear(JointTrajectory, '/trajectory_generator/trajectory', LATCHED)
    wait_until(lambda: previews, 'the latched preview')
    preview = previews[0]
    assert list(preview.joint_names) == list(ur5.joint_names)
    times = np.array([seconds(point.time_from_start) for point in preview.points])
    positions = np.array([point.positions for point in preview.points])
    np.testing.assert_allclose(positions, trajectory.sample(times).q, rtol=0, atol=1e-6)
    assert abs(times[-1] - trajectory.duration) < 1e-6
    reason = graph.refused(GENERATE)
    assert str(output) in reason and 'exists already: remove it' in reason
    assert output.read_bytes() == by_command.read_bytes()


def test_designs_for_the_robot_that_is_described(generator, ur5, in_the_air, output, tmp_path):
    """The live robot_description wins over the robot's file; errors are told in words."""
    graph = generator.graph
    assert not graph.configure('trajectory_generator', {'use_robot_description': True})
    lighter = ur5.urdf.text.replace('mass value="8.393"', 'mass value="7.5"')
    assert lighter != ur5.urdf.text
    description = graph.node.create_publisher(String, '/robot_description', LATCHED)
    description.publish(String(data=lighter))
    wait_until(description.get_subscription_count, 'the generator')
    assert acknowledged(description)
    graph.done(GENERATE, 60.0)
    assert load_trajectory(output).certificate['urdf_sha256'] != ur5.urdf_sha256

    description.publish(String(data='<robot>'))
    assert acknowledged(description)
    other = tmp_path / 'other.yaml'
    for values, words in (
        ({'generate.output': str(other)}, 'robot_description'),
        ({'use_robot_description': False, 'generate.experiment': 'nosuch'}, 'nosuch'),
        ({'generate.experiment': str(in_the_air), 'robot': 'hal9000'}, 'hal9000'),
    ):
        assert not graph.configure('trajectory_generator', values)
        assert words in graph.refused(GENERATE)
    assert not other.exists()
    graph.end_publisher(description)


def test_a_search_can_be_aborted(generator, output):
    """Of 50 calls at once the others are BUSY; nothing is written, the next request is served."""
    graph = generator.graph
    generator.configure(max_evaluations=1_000_000, processes=2, output='')
    assert 'generate.output' in graph.refused(GENERATE)
    generator.configure(output=str(output))
    running = call_at_once(graph, GENERATE, 50)
    wait_until(lambda: generator.progress, 'the search')
    # What is designed keeps its arguments: a busy generator takes none.
    busy = graph.call_with(GENERATE, {'generate.output': str(output.with_name('other.yaml'))})
    assert 'BUSY' in busy.reason
    assert graph.parameter('trajectory_generator', 'generate.output') == str(output)
    graph.done('/trajectory_generator/abort')
    answer = graph.answer(running, 60.0)
    assert not answer.success
    assert 'aborted' in answer.message
    assert not output.exists()
    generator.configure(max_evaluations=20, processes=1)
    graph.done(GENERATE, 60.0)


def test_a_search_does_not_keep_the_process_from_ending(generator, output):
    """SIGTERM in the middle of it, as Ctrl-C of the launch file sends; the last test here."""
    generator.configure(max_evaluations=1_000_000)
    generator.begin()
    generator.node.process.send_signal(signal.SIGTERM)
    assert generator.graph.exit_code(generator.node, 20.0) == 0
    assert not output.exists()
