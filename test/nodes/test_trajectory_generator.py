# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The trajectory generator writes what the command line writes, and shows it."""

from itertools import pairwise
import signal
import subprocess
import sys

from diagnostic_msgs.msg import DiagnosticArray
from many_calls import call_at_once
import numpy as np
import pytest
from robot_identification.excitation.trajectory import load_trajectory
from ros_helpers import LATCHED, seconds, wait_until
from std_msgs.msg import Float32, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

GENERATE = '/trajectory_generator/generate'
# Not a multiple of the steps in which the search reports.
EVALUATIONS = 70


@pytest.fixture(scope='module')
def in_the_air(experiment_file, tmp_path_factory):
    """Return the same experiment where nothing is within reach, which takes less time."""
    path = tmp_path_factory.mktemp('in_the_air') / 'short.yaml'
    path.write_text(experiment_file.read_text() + 'collision: off\n')
    return path


def test_writes_what_the_command_line_writes(graph, ur5, in_the_air, tmp_path):
    """Same seed, same bytes; progress runs to 1; the preview waits for late subscribers."""
    by_node, by_command = tmp_path / 'node.yaml', tmp_path / 'command.yaml'
    graph.start('trajectory_generator', {
        'generate.experiment': str(in_the_air), 'generate.output': str(by_node),
        'generate.seed': 5, 'generate.max_evaluations': EVALUATIONS,
    })
    progress = graph.hear_matched(Float32, '/trajectory_generator/progress')
    future = graph.request(Trigger, GENERATE, Trigger.Request())
    completed = subprocess.run(
        [sys.executable, '-m', 'robot_identification.cli.main', 'excite', '--robot', 'ur5',
         '--experiment', str(in_the_air), '--seed', '5',
         '--max-evaluations', str(EVALUATIONS), '-o', str(by_command)],
        capture_output=True, text=True, timeout=120,
    )
    assert completed.returncode == 0, completed.stderr
    answer = graph.answer(future, 60.0)
    assert answer.success, answer.message
    assert by_node.read_bytes() == by_command.read_bytes()
    trajectory = load_trajectory(by_node)
    assert trajectory.sha256 in answer.message

    wait_until(lambda: progress and progress[-1].data == 1.0, 'progress 1')
    shares = [message.data for message in progress]
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


def test_one_design_at_a_time_and_no_overwriting(graph, experiment_file, tmp_path):
    """Of 50 calls at once one is served, the others are BUSY; an existing file stays as it is."""
    output = tmp_path / 'trajectory.yaml'
    node = graph.start('trajectory_generator', {
        'generate.experiment': str(experiment_file), 'generate.output': str(output),
        'generate.max_evaluations': 40,
    })
    served = call_at_once(graph, GENERATE, 50)
    answer = graph.answer(served, 120.0)
    assert answer.success, answer.message

    written = output.read_bytes()
    assert not graph.configure('trajectory_generator', {'generate.seed': 1})
    answer = graph.call(GENERATE)
    assert not answer.success
    assert str(output) in answer.message
    assert 'exists' in answer.message
    assert output.read_bytes() == written
    assert node.exit_code is None


def test_designs_for_the_robot_that_is_described(graph, ur5, in_the_air, tmp_path):
    """The live robot_description wins over the robot's file; errors are told in words."""
    output = tmp_path / 'trajectory.yaml'
    lighter = ur5.urdf.text.replace('mass value="8.393"', 'mass value="7.5"')
    if lighter == ur5.urdf.text:
        lighter = ur5.urdf.text.replace('<mass value="8', '<mass value="7')
    assert lighter != ur5.urdf.text
    description = graph.node.create_publisher(String, '/robot_description', LATCHED)
    description.publish(String(data=lighter))
    graph.start('trajectory_generator', {
        'generate.experiment': str(in_the_air), 'generate.output': str(output),
        'generate.max_evaluations': 40,
    })
    wait_until(description.get_subscription_count, 'the generator')
    answer = graph.call(GENERATE, 60.0)
    assert answer.success, answer.message
    assert load_trajectory(output).certificate['urdf_sha256'] != ur5.urdf_sha256

    description.publish(String(data='<robot>'))
    answer = graph.call(GENERATE, 60.0)
    assert not answer.success
    for values, words in (
        ({'generate.output': str(tmp_path / 'other.yaml')}, 'robot_description'),
        ({'use_robot_description': False, 'generate.experiment': 'nosuch'}, 'nosuch'),
        ({'generate.experiment': str(in_the_air), 'robot': 'hal9000'}, 'hal9000'),
    ):
        assert not graph.configure('trajectory_generator', values)
        answer = graph.call(GENERATE)
        assert not answer.success
        assert words in answer.message
    assert not (tmp_path / 'other.yaml').exists()


@pytest.mark.parametrize(
    ('parameters', 'gravity'),
    [({'mounting': [np.pi / 2, 0.0, 0.0]}, [0.0, -9.81, 0.0]),
     ({'gravity': [1.0, 0.0, -9.7]}, [1.0, 0.0, -9.7])],
)
def test_designs_for_the_mounting_it_is_told(
    graph, in_the_air, tmp_path, parameters, gravity
):
    """By angles or by a vector; both win over the experiment file."""
    output = tmp_path / 'trajectory.yaml'
    graph.start('trajectory_generator', {
        'generate.experiment': str(in_the_air), 'generate.output': str(output),
        'generate.max_evaluations': 20, **parameters,
    })
    answer = graph.call(GENERATE, 60.0)
    assert answer.success, answer.message
    np.testing.assert_allclose(
        load_trajectory(output).certificate['gravity'], gravity, atol=1e-12
    )


def test_asks_for_an_output_that_is_allowed(graph, in_the_air, tmp_path):
    """Without a file name, or with one outside the roots, it says which parameter to set."""
    graph.start('trajectory_generator', {
        'generate.max_evaluations': 10, 'allowed_read_roots': [str(tmp_path)],
        'allowed_write_roots': [str(tmp_path)],
    })
    answer = graph.call(GENERATE)
    assert not answer.success
    assert 'generate.output' in answer.message
    for values, words in (
        ({'generate.output': str(tmp_path.parent / 'out.yaml')}, 'allowed_write_roots'),
        (
            {'generate.output': str(tmp_path / 'in.yaml'),
             'generate.experiment': str(in_the_air)},
            'allowed_read_roots',
        ),
    ):
        assert not graph.configure('trajectory_generator', values)
        answer = graph.call(GENERATE)
        assert not answer.success
        assert words in answer.message
    assert not (tmp_path.parent / 'out.yaml').exists()


def test_a_search_ends_by_its_time_and_tells_how_it_goes(graph, in_the_air, tmp_path):
    """The best so far is written; diagnostics have the criterion, and an ETA."""
    output = tmp_path / 'trajectory.yaml'
    graph.start('trajectory_generator', {
        'generate.experiment': str(in_the_air), 'generate.output': str(output),
        'generate.max_evaluations': 1_000_000, 'generate.time_limit': 2.0,
    })
    heard = graph.hear_matched(DiagnosticArray, '/diagnostics')
    answer = graph.call(GENERATE, 60.0)
    assert answer.success, answer.message
    assert load_trajectory(output).certificate['search']['evaluations'] < 1_000_000
    wait_until(lambda: heard and 'is written' in heard[-1].status[0].message, 'the end')
    (status,) = heard[0].status
    assert status.name == 'trajectory_generator: design'
    assert [pair.key for pair in status.values] == [
        'best criterion', 'evaluations', 'feasible', 'time left [s]'
    ]


def test_a_search_can_be_aborted(graph, in_the_air, tmp_path):
    """Nothing is written, the next request is served; with nothing to abort it says so."""
    output = tmp_path / 'trajectory.yaml'
    graph.start('trajectory_generator', {
        'generate.experiment': str(in_the_air), 'generate.output': str(output),
        'generate.max_evaluations': 1_000_000, 'generate.processes': 2,
    })
    assert not graph.call('/trajectory_generator/abort').success
    progress = graph.hear_matched(Float32, '/trajectory_generator/progress')
    running = graph.request(Trigger, GENERATE, Trigger.Request())
    wait_until(lambda: progress, 'the search')
    assert graph.call('/trajectory_generator/abort').success
    answer = graph.answer(running, 60.0)
    assert not answer.success
    assert 'aborted' in answer.message
    assert not output.exists()
    assert not graph.configure('trajectory_generator', {
        'generate.max_evaluations': 20, 'generate.processes': 1,
    })
    assert graph.call(GENERATE, 60.0).success


def test_a_search_does_not_keep_the_process_from_ending(graph, in_the_air, tmp_path):
    """SIGTERM in the middle of it, as Ctrl-C of the launch file sends."""
    output = tmp_path / 'trajectory.yaml'
    node = graph.start('trajectory_generator', {
        'generate.experiment': str(in_the_air), 'generate.output': str(output),
        'generate.max_evaluations': 1_000_000,
    })
    progress = graph.hear_matched(Float32, '/trajectory_generator/progress')
    graph.request(Trigger, GENERATE, Trigger.Request())
    wait_until(lambda: progress, 'the search')
    node.process.send_signal(signal.SIGTERM)
    assert graph.exit_code(node, 20.0) == 0
    assert not output.exists()


def test_the_preview_for_rviz_waits_for_late_subscribers(graph, experiment_file, tmp_path):
    """Where visualization_msgs is installed."""
    messages = pytest.importorskip('visualization_msgs.msg')
    output = tmp_path / 'trajectory.yaml'
    graph.start('trajectory_generator', {
        'generate.experiment': str(experiment_file), 'generate.output': str(output),
        'generate.max_evaluations': 20,
    })
    assert graph.call(GENERATE, 60.0).success
    previews = graph.hear(messages.MarkerArray, '/trajectory_generator/preview', LATCHED)
    wait_until(lambda: previews, 'the latched markers')
    assert {marker.ns for marker in previews[0].markers} >= {'path', 'nearest'}
