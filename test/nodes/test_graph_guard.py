# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""One commander of one arm, on the topics as they are remapped, whatever anybody publishes."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import subprocess
import sys
import threading

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from nodes.runner import COMMANDS, FOREIGN_TOPICS, join
import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.nodes.graph import EFFORT_COMMANDS, GraphGuard
from ros_helpers import wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory


def refusal(guard, commands=EFFORT_COMMANDS):
    """Return why the guard refuses, empty where it does not."""
    try:
        guard.check(commands)
    except UnsafeMotionError as error:
        return str(error)
    return ''


@pytest.fixture
def guard(graph):
    node = graph.add_node(
        'commander', '', 'joint_states:=/ur/joint_states', f'{EFFORT_COMMANDS}:=/ur/effort',
    )
    return GraphGuard(node, '')


def test_a_second_publisher_of_remapped_joint_states_is_refused(graph, guard):
    """Publishers of the topic before the remapping are those of another arm."""
    arms = [graph.add_node(name) for name in ('driver', 'player')]
    for arm in arms:
        arm.create_publisher(JointState, '/joint_states', 1)
    arms[0].create_publisher(JointState, '/ur/joint_states', 1)
    assert not refusal(guard)
    arms[1].create_publisher(JointState, '/ur/joint_states', 1)
    wait_until(lambda: 'all publish /ur/joint_states' in refusal(guard), 'a refusal')


def test_a_second_commander_on_remapped_commands_is_refused(graph, guard):
    other = graph.add_node('other')
    other.create_publisher(Float64MultiArray, EFFORT_COMMANDS, 1)
    assert not refusal(guard)
    other.create_publisher(Float64MultiArray, '/ur/effort', 1)
    wait_until(lambda: '/other publishes /ur/effort' in refusal(guard), 'a refusal')


def test_a_remapping_that_leads_on_is_refused(graph):
    """The subscription is remapped once, and what rclpy is asked about twice."""
    node = graph.add_node('chained', '', 'joint_states:=first', 'first:=second')
    assert '/first, and that to /second' in refusal(GraphGuard(node, ''))


def identity(*tokens):
    """Return what simulated robots with these tokens publish of themselves."""
    return DiagnosticArray(status=[
        DiagnosticStatus(name='/simulated_robot', hardware_id=token) for token in tokens
    ])


@pytest.mark.parametrize('kind', FOREIGN_TOPICS)
def test_a_simulated_robot_is_not_moved_beside_others(graph, kind):
    """Another source of joint states or another controller may be a real arm."""
    guard = GraphGuard(graph.add_node('runner'), 'ours')
    assert 'no simulated robot with our simulation_token' in refusal(guard, COMMANDS)
    guard._on_identity(identity('ours'))
    robot = graph.add_node('simulated_robot')
    robot.create_publisher(JointState, '/joint_states', 1)
    assert 'not connected yet' in refusal(guard, COMMANDS)
    robot.create_subscription(JointTrajectory, COMMANDS, lambda message: None, 1)
    wait_until(lambda: not refusal(guard, COMMANDS), 'the robot')
    intruder = join(graph, kind)
    wait_until(lambda: '/elsewhere/intruder' in refusal(guard, COMMANDS), 'its name')
    assert FOREIGN_TOPICS[kind] in refusal(guard, COMMANDS)
    graph.remove_node(intruder)
    wait_until(lambda: not refusal(guard, COMMANDS), 'the robot to be alone')


class Node:
    """A node that hears what a test says."""

    def __init__(self):
        self.heard = []

    def create_subscription(self, kind, topic, callback, qos):
        self.heard.append(callback)


@pytest.mark.parametrize('statuses', [
    [], [DiagnosticStatus()],
    [DiagnosticStatus(name=str(number), hardware_id='x') for number in range(1000)],
], ids=['empty', 'nameless', 'many'])
def test_no_message_raises_or_is_an_identity(statuses):
    node = Node()
    guard = GraphGuard(node, 'token')
    (hear,) = node.heard
    hear(DiagnosticArray(status=statuses))
    with pytest.raises(UnsafeMotionError, match='no simulated robot'):
        guard.check_identity()


def test_the_identity_of_an_earlier_simulation_is_not_heeded():
    """A bag that is replayed ends no simulated motion."""
    node = Node()
    guard = GraphGuard(node, 'ours')
    (hear,) = node.heard
    hear(identity('theirs'))
    hear(identity('ours', 'theirs'))
    with pytest.raises(UnsafeMotionError, match='no simulated robot with our simulation_token'):
        guard.check_identity()
    for token in 'ours', 'theirs':
        hear(identity(token))
        guard.check_identity()


def test_a_commander_that_was_seen_is_remembered_until_a_later_look(monkeypatch):
    """Between two looks the arm is as contested as at the last one."""
    guard = GraphGuard(Node(), '')
    looks, others = [], ['/other']

    def look(commands):
        looks.append(commands)
        if others:
            raise UnsafeMotionError(f'{others} command the arm')

    monkeypatch.setattr(guard, '_check_real', look)
    for _ in range(3):
        with pytest.raises(UnsafeMotionError, match='other'):
            guard.check_again('commands', 1000.0)
    assert len(looks) == 1
    others.clear()
    guard.check_again('commands', 0.0)
    guard.check_again('commands', 1000.0)
    assert len(looks) == 2


ROUNDS, RIVALS = 100, 4
JOINTS = ['shoulder', 'elbow']


@pytest.fixture
def claim_of(graph):
    from robot_identification.nodes.arm_claim import ArmClaim

    claims = []

    def make(name, *, namespace='', topic='/joint_states', token=''):
        node = graph.add_node(name, namespace, f'joint_states:={topic}')
        claims.append(ArmClaim(node, token))
        return claims[-1]

    yield make
    for claim in claims:
        claim.release()


def refused(claim, joints=JOINTS):
    """Return why a claim is refused, empty where it is not."""
    try:
        claim.acquire(joints)
    except UnsafeMotionError as error:
        assert not claim.held
        return str(error)
    assert claim.held
    return ''


def test_a_second_commander_of_the_arm_is_refused_whatever_its_name(claim_of):
    """Also in another namespace and with some joints only; other arms are free at any time."""
    first = claim_of('runner')
    assert not refused(first)
    first.check()
    second = claim_of('runner', namespace='/elsewhere')
    reason = refused(second, ['wrist', 'elbow'])
    assert '/joint_states is claimed by' in reason
    assert 'end that one first' in reason
    with pytest.raises(UnsafeMotionError, match='no claim'):
        second.check()
    assert not refused(second, ['left_shoulder', 'left_elbow'])
    assert not refused(claim_of('other'), ['wrist'])
    assert not refused(claim_of('third', topic='/arm/joint_states'))


def test_two_with_one_token_are_one_arm(claim_of):
    """The simulated robot is known by its token, on whichever topic its states are."""
    first = claim_of('first', token='shared')
    assert not refused(first)
    assert refused(claim_of('second', topic='/relay/joint_states', token='shared'), ['other'])
    assert not refused(claim_of('third', topic='/relay/joint_states', token='own'), ['other'])


def test_of_many_at_one_instant_one_gets_the_arm(claim_of):
    """Rivals are released by a barrier, repeatedly: never two, and never none."""
    claims = [claim_of(f'rival_{k}') for k in range(RIVALS)]
    barrier = threading.Barrier(RIVALS)

    def compete(claim):
        wins = []
        for _ in range(ROUNDS):
            barrier.wait()
            wins.append(not refused(claim))
            barrier.wait()
            claim.release()
        return wins

    with ThreadPoolExecutor(RIVALS) as pool:
        rounds = list(zip(*pool.map(compete, claims), strict=True))
    assert [sum(wins) for wins in rounds] == [1] * ROUNDS


def test_a_crashed_commander_blocks_nobody(graph, claim_of):
    """The kernel takes the claim back at once, though nothing was said."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name('claimant.py')), *JOINTS],
        env=graph.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    try:
        said = process.stdout.readline()
        assert said == 'claimed\n', process.communicate()[1]
        rival = claim_of('rival')
        assert 'claimed by another process' in refused(rival)
    finally:
        process.kill()
        process.communicate()
    assert not refused(rival)
