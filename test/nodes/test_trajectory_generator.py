# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The trajectory generator writes what the command line writes, and shows it."""

from itertools import pairwise
import signal
import struct

from builders import run_command
from hypothesis import given, strategies as st
from many_calls import call_at_once
import numpy as np
import pytest
from robot_identification.excitation.collision import Obstacle
from robot_identification.excitation.trajectory import load_trajectory, tool_path
from robot_identification.nodes.preview import preview_markers
from robot_identification.nodes.replay_clock import ReplayClock
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


try:
    from visualization_msgs.msg import Marker
except ImportError as error:
    pytest.skip(f'needs visualization_msgs: {error}', allow_module_level=True)

OBSTACLES = (
    Obstacle('table', (1.0, 2.0, 0.1), (0.0, 0.1, -0.3), (0.0, 0.0, np.pi / 2)),
    Obstacle('gripper', (0.05, 0.06, 0.07), (0.0, 0.0, 0.035), (0.0, 0.0, 0.0), 'tool0'),
)


def vector(message):
    return np.array([message.x, message.y, message.z])


@pytest.fixture(scope='module')
def markers(ur5, trajectory):
    """Return the markers of a certified motion, by namespace and number."""
    array = preview_markers(ur5, trajectory, OBSTACLES, Marker().header.stamp)
    assert array.markers[0].action == Marker.DELETEALL
    return {(marker.ns, marker.id): marker for marker in array.markers[1:]}


def test_the_path_is_that_of_the_tool(ur5, trajectory, markers):
    line = markers['path', 0]
    assert (line.type, line.header.frame_id) == (Marker.LINE_STRIP, 'base_link')
    places = np.array([vector(point) for point in line.points])
    times = np.linspace(0.0, trajectory.form.duration, len(places))
    expected = tool_path(ur5, trajectory.sample(times).q)
    np.testing.assert_allclose(places, expected, atol=1e-12)
    assert line.scale.x > 0.0


def test_boxes_stand_where_they_are_and_move_with_their_link(markers):
    table, gripper = markers['obstacles', 0], markers['obstacles', 1]
    assert table.header.frame_id == 'base_link'
    np.testing.assert_allclose(vector(table.scale), [1.0, 2.0, 0.1])
    np.testing.assert_allclose(vector(table.pose.position), [0.0, 0.1, -0.3])
    # A turn of 90 degrees about z.
    half = np.sqrt(0.5)
    assert table.pose.orientation.z == pytest.approx(half)
    assert table.pose.orientation.w == pytest.approx(half)
    assert (gripper.header.frame_id, gripper.frame_locked) == ('tool0', True)
    assert table.color.a < 1.0, 'the arm is seen through it'


NANOSECONDS = 1_000_000_000
START = 1_700_000_000 * NANOSECONDS
STEP = 8_000_000


def message(stamp, content=b''):
    return b'\x00\x01\x00\x00' + struct.pack('<iI', *divmod(stamp, NANOSECONDS)) + content


def times(messages, arrivals=None):
    clock, found = ReplayClock(), []
    for k, data in enumerate(messages):
        clock.tick(data, k if arrivals is None else arrivals[k])
        found.append(clock.now)
    return found, clock


@given(st.lists(st.integers(0, 10 * NANOSECONDS), min_size=1, max_size=50), st.data())
def test_growing_stamps_are_the_time(steps, data):
    """Whenever they arrive: the rate of the replay has no effect."""
    stamps = [START + sum(steps[: k + 1]) for k in range(len(steps))]
    arrivals = data.draw(st.lists(
        st.integers(0, 2**62), min_size=len(steps), max_size=len(steps)
    ))
    found, clock = times([message(stamp) for stamp in stamps], arrivals)
    assert found == stamps
    assert (clock.jumps, clock.has_come_round) == (0, False)


@given(st.permutations(range(20)))
def test_time_never_goes_back(order):
    """Messages that overtook each other keep the latest time; that is no jump."""
    found, clock = times([message(START + k * STEP) for k in order])
    assert found == sorted(found)
    assert found[-1] == START + 19 * STEP
    assert clock.jumps == 0


@given(st.integers(2 * NANOSECONDS // STEP, 400), st.data())
def test_a_second_pass_is_known(count, data):
    """By its first message, or by a later one where that was lost, and from any beginning."""
    bag = [message(START + k * STEP, bytes([k % 251])) for k in range(count)]
    joined = data.draw(st.integers(0, count - 1))
    lost = data.draw(st.sets(st.integers(0, count - 1), max_size=count // 4))
    played = bag[joined:] + bag[:joined]
    found, clock = times(played)
    assert not clock.has_come_round
    assert clock.jumps == (1 if joined else 0)
    assert found == sorted(found)
    for k, data in enumerate(played):
        if k not in lost:
            clock.tick(data, 0)
            assert clock.has_come_round
    assert clock.now == found[-1]


def test_a_message_that_is_sent_twice_is_no_second_pass():
    """Nor is a driver whose clock is set back: what it sends then is new."""
    first, second = message(START, b'a'), message(START + STEP, b'b')
    found, clock = times([first, first, second, first])
    assert not clock.has_come_round
    assert found == [START, START, START + STEP, START + STEP]
    clock.tick(message(START - 5 * NANOSECONDS, b'c'), 0)
    assert (clock.jumps, clock.has_come_round) == (1, False)
    # One usual step on.
    assert clock.now == START + 2 * STEP


def test_a_simulated_clock_may_begin_at_zero():
    """A first stamp of zero is then the time of arrival, and others follow it."""
    found, clock = times([message(k * STEP) for k in range(5)], [0] * 5)
    assert found == [k * STEP for k in range(5)]
    assert not clock.has_come_round
