# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""One commander of an arm: whatever its name, at one instant, after a crash, between hosts."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
import json
from pathlib import Path
import subprocess
import sys
import threading

import pytest
from robot_identification.errors import UnsafeMotionError
from ros_helpers import DEADLINE, LATCHED, wait_until
from std_msgs.msg import String

ROUNDS, RIVALS = 100, 4
JOINTS = ['shoulder', 'elbow']
# A host is what names are unique on: with another prefix a process is on another one.
HERE, THERE = 'test_here', 'test_there'


@pytest.fixture
def claim_of(graph):
    from robot_identification.nodes.arm_claim import ArmClaim, HostNames

    claims = []

    def make(name, *, host=HERE, namespace='', topic='/joint_states', token=''):
        claims.append(ArmClaim(
            graph.add_node(name, namespace), topic, token, host=HostNames(host)
        ))
        return claims[-1]

    yield make
    for claim in claims:
        claim.release()


@contextmanager
def claimant(graph, host):
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name('claimant.py')), host, *JOINTS],
        env=graph.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    try:
        said = process.stdout.readline()
        assert said == 'claimed\n', process.communicate()[1]
        yield process
    finally:
        process.kill()
        process.communicate()


def refused(claim, joints=JOINTS):
    """Return why a claim is refused, empty where it is not."""
    try:
        claim.acquire(joints)
    except UnsafeMotionError as error:
        assert not claim.held
        return str(error)
    assert claim.held
    return ''


def wait_until_refused(claim, joints=JOINTS):
    def attempt():
        reason = refused(claim, joints)
        claim.release()
        return reason

    return wait_until(attempt, 'a refusal')


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
    # Once it was heard of, the node is named.
    wait_until(lambda: '/runner (' in refused(second), 'its name')
    assert not refused(second, ['left_shoulder', 'left_elbow'])
    assert not refused(claim_of('other'), ['wrist'])
    assert not refused(claim_of('third', topic='/arm/joint_states'))


def test_a_claim_is_for_the_node_that_has_it_and_ends_with_a_release(claim_of):
    """The same claim again is no conflict; other joints replace the ones claimed."""
    first, second = claim_of('first'), claim_of('second')
    assert not refused(first)
    assert not refused(first)
    first.release()
    assert not first.held
    assert not refused(second)
    second.acquire(['wrist'])
    assert not refused(first)


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
    with claimant(graph, HERE) as process:
        rival = claim_of('rival')
        assert refused(rival)
        wait_until(lambda: '/claimant (' in refused(rival), 'its name')
        process.kill()
        process.wait()
        assert not refused(rival)


def test_between_hosts_a_claim_is_heard_and_forgotten_when_it_falls_silent(
    graph, claim_of, monkeypatch
):
    """Without a common kernel; announcements come twice a second, so that 1.5 s are silence."""
    monkeypatch.setattr('robot_identification.nodes.arm_claim.SILENCE', 1.5)
    with claimant(graph, THERE) as process:
        rival = claim_of('rival')
        assert '/claimant (' in wait_until_refused(rival)
        process.kill()
        process.wait()
        wait_until(lambda: not refused(rival), 'the end of a crashed claim')


def at_one_instant(graph, calls):
    """Call functions one after the other, while nothing that is heard is served."""
    done = threading.Event()

    def call_all():
        timer.cancel()
        for call in calls:
            call()
        done.set()

    timer = graph.node.create_timer(0.0, call_all)
    assert done.wait(DEADLINE)
    graph.run(graph.node.destroy_timer, timer)


def test_of_two_hosts_at_one_instant_one_yields(graph, claim_of):
    """Neither has heard of the other when it claims; then one of them yields."""
    for number in range(5):
        pair = [claim_of(f'{host}_{number}', host=host, topic=f'/arm_{number}/joint_states')
                for host in (HERE, THERE)]
        at_one_instant(graph, [lambda claim=claim: claim.acquire(JOINTS) for claim in pair])
        assert [claim.held for claim in pair] == [True, True]

        def yielding(pair=pair):
            found = []
            for claim in pair:
                try:
                    claim.check()
                except UnsafeMotionError:
                    found.append(claim)
            return found

        (younger,) = wait_until(yielding, 'one that yields')
        (older,) = (claim for claim in pair if claim is not younger)
        younger.release()
        older.check()


def test_an_older_claim_wins_over_a_smaller_name(graph, claim_of):
    """Who moves goes on, and who arms without having heard of it yields."""
    claim = claim_of('runner')
    keys = []
    graph.node.create_subscription(
        String, '/robot_identification/arm_claims',
        lambda message: keys.extend(json.loads(message.data)['keys']), LATCHED,
    )
    claim.acquire(JOINTS)
    wait_until(lambda: keys, 'the claim')
    publisher = graph.publisher(String, '/robot_identification/arm_claims', LATCHED)

    def announce(name, node, age):
        publisher.publish(String(data=json.dumps({
            'id': name, 'node': node, 'scope': 'another', 'keys': keys[:1], 'age': age,
        })))

    for nonsense in ('{', '[]', '{"id": 1}', 'x' * 10_000):
        publisher.publish(String(data=nonsense))
    # Between claims of one age a name of hexadecimal digits wins over z; age wins over any name.
    announce('z', '/rival', 0.0)
    announce('zz', '/older', 100.0)

    def yields():
        try:
            claim.check()
        except UnsafeMotionError as error:
            return str(error)
        return ''

    reason = wait_until(yields, 'the older claim')
    assert '/older' in reason
    assert '/rival' not in reason
    claim.release()
    # Who has no claim yet yields to every other one.
    assert '/rival' in wait_until_refused(claim)
