# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
One commander of an arm: a claim that a node takes when it is armed, and others respect.

The topics of a graph do not say which node commands an arm: two nodes with one `simulation_token`,
or two that send to one action, look alike. Here a claim is a set of names, one for each joint of a
topic of joint states. On one host the kernel gives a name to one process at a time and takes it
back when that process ends, however it ends. Between hosts each claim is announced on one topic,
which has no namespace, and the younger one of two yields.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import errno
import hashlib
import json
import os
from pathlib import Path
import secrets
import socket
import sys
import time

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from robot_identification.errors import UnsafeMotionError
from robot_identification.nodes.common import LATCHED, STEADY_CLOCK
from robot_identification.nodes.instance import is_younger
from robot_identification.nodes.json_text import parse_json
from std_msgs.msg import String

TOPIC = '/robot_identification/arm_claims'
# Period of announcements [s]; chosen: twenty are missed before a claim ends.
ANNOUNCED_EVERY = 0.5
# A claim of another host that was not announced for so long is one of a crashed node [s]; chosen:
# proofs keep a node from announcing for a few seconds.
SILENCE = 10.0
LONGEST_ANNOUNCEMENT = 8192  # [characters]; chosen: room for about 200 joints
LONGEST_NAME = 300  # [characters]; chosen: room for the name of a node and of its host
# Number of nodes; chosen: more than command arms in one domain, and memory stays bounded.
MOST_CLAIMS = 256
DIGITS = 32  # hexadecimal digits of a SHA-256 that are used; chosen: 128 bits do not collide
BOOT_FILE = Path('/proc/sys/kernel/random/boot_id')
NETWORK_FILE = Path('/proc/self/ns/net')
# All claims are wanted: samples of several writers share one history.
_LISTENING = QoSProfile(
    depth=MOST_CLAIMS,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)


class HostNames:
    """
    Names, after a prefix, of which each belongs to one process of this host at a time.

    They are abstract sockets of Linux: taken in one step, given back by the kernel when a process
    ends, shared by all users, and without a file that could stay behind. Processes among which a
    name is unique have one `scope`; it is empty where there is no such thing.
    """

    def __init__(self, prefix: str = 'robot_identification') -> None:
        self._prefix = prefix
        self._taken: list[socket.socket] = []
        self.scope = ''
        if sys.platform == 'linux':
            try:
                boot, network = BOOT_FILE.read_text().strip(), NETWORK_FILE.readlink()
                self.scope = f'{prefix} {boot} {network}'
            except OSError:
                pass

    def take(self, names: Sequence[str]) -> bool:
        """
        Take all names, or none; return whether they are ours.

        Without abstract sockets, or where a sandbox forbids them, `scope` becomes empty, and
        nothing is taken.
        """
        if not self.scope:
            return True
        # Sorted: of two that want some of the same names, one gets the first of them.
        for name in sorted(names):
            taken = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._taken.append(taken)
            try:
                taken.bind(f'\0{self._prefix}/{name}')
            except OSError as error:
                self.give_back()
                if error.errno == errno.EADDRINUSE:
                    return False
                self.scope = ''
                return True
        return True

    def give_back(self) -> None:
        """Release the names."""
        for taken in self._taken:
            taken.close()
        self._taken = []


@dataclass(frozen=True)
class _Heard:
    """Announcement of another node, and its time of arrival by our clock [s]."""

    node: str
    scope: str
    keys: frozenset[str]
    age: float
    heard_at: float

    @property
    def silent_for(self) -> float:
        """Time since it was heard [s]."""
        return time.monotonic() - self.heard_at


class ArmClaim:
    """
    Lets one node at a time command an arm.

    An arm is a set of joints on a topic of joint states; the simulated one is also its token,
    empty for a real arm. Two claims exclude each other if they have a joint or the token in
    common, for any names and namespaces of the nodes. The node's executor announces the
    claim.
    """

    def __init__(
        self, node: Node, joint_states: str, token: str = '', *, host: HostNames | None = None
    ) -> None:
        self._node, self._token = node, token
        self._topic = node.resolve_topic_name(joint_states)
        self._host = host or HostNames()
        self._id = secrets.token_hex(8)
        self._keys: frozenset[str] = frozenset()
        self._since = 0.0
        self._heard: dict[str, _Heard] = {}
        self._publisher = node.create_publisher(String, TOPIC, LATCHED)
        node.create_subscription(String, TOPIC, self._on_claim, _LISTENING)
        node.create_timer(ANNOUNCED_EVERY, self._announce_held, clock=STEADY_CLOCK)

    @property
    def held(self) -> bool:
        """Return whether the arm is claimed by this node."""
        return bool(self._keys)

    def acquire(self, joints: Sequence[str]) -> None:
        """
        Claim the arm with these joints of the joint states; the same as `check` where it is ours.

        Raises UnsafeMotionError, with the name of the node that has it; this node then has no
        claim.
        """
        keys = self._keys_of(joints)
        if keys == self._keys:
            self.check()
            return
        self.release()
        if not self._host.take(sorted(keys)):
            raise self._refusal(self._find(keys, same_host=True))
        others = self._find(keys, same_host=False)
        if others:
            self._host.give_back()
            raise self._refusal(others)
        self._keys, self._since = keys, time.monotonic()
        self._announce()

    def check(self) -> None:
        """Raise UnsafeMotionError if the arm is not claimed, or another host claimed it before."""
        if not self._keys:
            raise UnsafeMotionError(
                f'{self._node.get_fully_qualified_name()} has no claim of the arm on '
                f'{self._topic}: arm again'
            )
        age = time.monotonic() - self._since
        older = {
            name: other for name, other in self._find(self._keys, same_host=False).items()
            if is_younger(age, self._id, other.age + other.silent_for, name)
        }
        if older:
            raise self._refusal(older)

    def release(self) -> None:
        """Release the arm; to be called when this node no longer moves it."""
        if self._keys:
            self._keys = frozenset()
            self._announce()
            self._host.give_back()

    def _keys_of(self, joints: Sequence[str]) -> frozenset[str]:
        """Return what the claim consists of; hashed, as tokens are private."""
        domain = self._node.context.get_domain_id()
        names = [f'{domain} joint {self._topic} {joint}' for joint in joints]
        names += [f'{domain} token {self._token}'] if self._token else []
        return frozenset(hashlib.sha256(name.encode()).hexdigest()[:DIGITS] for name in names)

    def _find(self, keys: frozenset[str], *, same_host: bool) -> dict[str, _Heard]:
        """Return the known claimants of some of these keys, on this host or on others."""
        scope = self._host.scope
        return {
            name: other for name, other in self._heard.items()
            if other.keys & keys and other.silent_for < SILENCE
            and (bool(scope) and other.scope == scope) == same_host
        }

    def _refusal(self, others: dict[str, _Heard]) -> UnsafeMotionError:
        # A claim may be too new to have been heard.
        owners = ', '.join(sorted(other.node for other in others.values()))
        return UnsafeMotionError(
            f'the arm on {self._topic} is claimed by {owners or "another process of this host"}: '
            'only one node may command an arm; abort or end that one first'
            + ''.join(
                f' (if it crashed, wait {SILENCE - other.silent_for:.0f} s)'
                for other in list(others.values())[:1] if other.silent_for > 2 * ANNOUNCED_EVERY
            )
        )

    def _announce_held(self) -> None:
        if self._keys:
            self._announce()

    def _announce(self) -> None:
        node = f'{self._node.get_fully_qualified_name()} ({socket.gethostname()}, {os.getpid()})'
        self._publisher.publish(String(data=json.dumps({
            'id': self._id, 'node': node, 'scope': self._host.scope, 'keys': sorted(self._keys),
            'age': round(time.monotonic() - self._since, 3),
        })))

    def _on_claim(self, message: String) -> None:
        if len(message.data) > LONGEST_ANNOUNCEMENT:
            return
        try:
            content = parse_json(message.data)
            name, age = str(content['id']), float(content['age'])
            heard = _Heard(
                str(content['node'])[:LONGEST_NAME], str(content['scope']),
                frozenset(map(str, content['keys'])), age, time.monotonic(),
            )
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            return
        known = {
            other: claim for other, claim in self._heard.items() if claim.silent_for < SILENCE
        }
        if name != self._id and len(known) < MOST_CLAIMS:
            known[name] = heard
        # In one step: `check` may be called in another thread.
        self._heard = known
