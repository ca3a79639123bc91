# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The trajectory generator writes what the command line writes, and shows it."""

from itertools import pairwise
import signal

from builders import run_command
from diagnostic_msgs.msg import DiagnosticArray
from many_calls import call_at_once
import numpy as np
import pytest
from rclpy.parameter import Parameter
from robot_identification.errors import IdentificationError
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.nodes.common import run_node
from robot_identification.nodes.trajectory_generator import TrajectoryGenerator
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


def test_says_where_no_description_was_published(generator, output):
    """Otherwise a driver that was forgotten, or another ROS_DOMAIN_ID, is not noticed."""
    node = generator.graph.start('trajectory_generator', {
        'generate.experiment': 'nosuch', 'generate.output': str(output),
    }, None, '__ns:=/alone')
    assert 'nosuch' in generator.graph.refused('/alone/trajectory_generator/generate')
    assert 'no robot_description is published: the description of ur5' in node.log.read_text()


@pytest.mark.parametrize(
    ('parameters', 'gravity'),
    [({'mounting': [np.pi / 2, 0.0, 0.0]}, [0.0, -9.81, 0.0]),
     ({'gravity': [1.0, 0.0, -9.7]}, [1.0, 0.0, -9.7])],
)
def test_designs_for_the_mounting_it_is_told(generator, output, parameters, gravity):
    """By angles or by a vector; both win over the experiment file."""
    assert not generator.graph.configure('trajectory_generator', parameters)
    generator.graph.done(GENERATE, 60.0)
    np.testing.assert_allclose(
        load_trajectory(output).certificate['gravity'], gravity, atol=1e-12
    )


def test_a_search_ends_by_its_time_and_tells_how_it_goes(generator, output):
    """The best so far is written; diagnostics have the criterion, and an ETA."""
    graph = generator.graph
    generator.configure(max_evaluations=1_000_000, time_limit=1.0)
    heard = graph.hear_matched(DiagnosticArray, '/diagnostics')
    graph.done(GENERATE, 60.0)
    assert load_trajectory(output).certificate['search']['evaluations'] < 1_000_000
    wait_until(lambda: heard and 'is written' in heard[-1].status[0].message, 'the end')
    told = [
        [pair.key for pair in array.status[0].values] for array in heard
        if array.status[0].name == 'trajectory_generator: design'
    ]
    assert [
        'state', 'progress', 'best criterion', 'evaluations', 'feasible', 'time left [s]'
    ] in told


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


def test_the_preview_for_rviz_waits_for_late_subscribers(generator):
    """Where visualization_msgs is installed."""
    messages = pytest.importorskip('visualization_msgs.msg')
    generator.graph.done(GENERATE, 60.0)
    previews = generator.graph.hear(
        messages.MarkerArray, '/trajectory_generator/preview', LATCHED
    )
    wait_until(lambda: previews, 'the latched markers')
    assert 'path' in {marker.ns for marker in previews[0].markers}


def test_a_search_does_not_keep_the_process_from_ending(generator, output):
    """SIGTERM in the middle of it, as Ctrl-C of the launch file sends; the last test here."""
    generator.configure(max_evaluations=1_000_000)
    generator.begin()
    generator.node.process.send_signal(signal.SIGTERM)
    assert generator.graph.exit_code(generator.node, 20.0) == 0
    assert not output.exists()


@pytest.mark.usefixtures('graph', 'own_signals')
def test_a_search_does_not_begin_while_the_process_ends(monkeypatch, tmp_path):
    """A call that a thread has taken by then is served before the node ends: with a refusal."""
    refusals = []

    def make():
        node = TrajectoryGenerator()
        node.set_parameters([Parameter('generate.output', value=str(tmp_path / 'made.yaml'))])
        node.finished = 0
        destroy = node.destroy_node

        def call_late():
            with pytest.raises(IdentificationError) as refused:
                node._work.run(node._design)
            refusals.append(str(refused.value))
            destroy()

        monkeypatch.setattr(node, 'destroy_node', call_late)
        return node

    assert run_node(make, threads=3, arguments=['generator']) == 0
    assert refusals == ['the node is asked to leave: the design does not begin']
