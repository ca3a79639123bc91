# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""One commander of an arm: whatever its name, at one instant, after a crash."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import subprocess
import sys
import threading

import pytest
from robot_identification.errors import UnsafeMotionError

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
