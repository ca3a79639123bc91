# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
No changed file makes a reader fall over, hang, take all memory or write elsewhere.

An input follows from the name of its target and its index. What fails is shown with both, and
`test/fuzz/replay.py` reads it again.
"""

import os
from pathlib import Path
import signal
import time

from fuzz import runner
from fuzz.mutations import make_input
from fuzz.runner import fuzz, LARGEST
from fuzz.targets import Target, TARGETS
from long_tests import ASKED_FOR
import pytest
from robot_identification.errors import DataError

pytest.importorskip('rosbags', reason='rosbags, which writes bags, is not installed')
pytest.importorskip('mcap', reason='mcap, which writes bags, is not installed')

BY_DAY, BY_NIGHT = 50, 5000


@pytest.mark.timeout(7200)
@pytest.mark.parametrize('name', TARGETS)
def test_changed_files_are_read_or_refused(name, record_property):
    target = TARGETS[name]
    count = BY_NIGHT if os.environ.get(ASKED_FOR) else round(target.share * BY_DAY)
    outcome = fuzz(target, range(count))
    record_property('target', name)
    record_property('fuzz', outcome.describe())
    assert not outcome.failures, '\n'.join(
        f'.venv/bin/python test/fuzz/replay.py {name} {index}\n{failure}'
        for index, failure in outcome.failures
    )
    assert outcome.accepted + outcome.refused == count
    # Nothing is shown by inputs of which none is refused, or all are.
    assert outcome.refused > 0
    assert outcome.accepted > 0


@pytest.mark.parametrize('name', TARGETS)
def test_the_files_to_start_from_are_valid(name, tmp_path):
    """Changes of a file that is refused anyway would show nothing."""
    for number, (file, data) in enumerate(TARGETS[name].seeds()):
        path = tmp_path / str(number) / file
        path.parent.mkdir()
        path.write_bytes(data)
        TARGETS[name].read(path)
        assert [p.name for p in path.parent.iterdir()] == [file]


def test_an_input_follows_from_target_and_index():
    for name in ('sqlite', 'model', 'urdf'):
        again = [make_input(TARGETS[name], index) for index in (0, 7, 7)]
        assert again[1] == again[2] != again[0]


def misbehave(path):
    """Do what the file says."""
    kind = path.read_text()
    if kind == 'refused':
        raise DataError(kind)
    if kind == 'not ours':
        raise KeyError(kind)
    if kind == 'end':
        os.abort()
    if kind == 'memory':
        bytes(2 * LARGEST)
    if kind == 'left behind':
        path.with_name('other').write_text(kind)
    if kind == 'elsewhere':
        Path('/tmp', f'fuzz_elsewhere_{os.getpid()}').mkdir()
        Path('/tmp', f'fuzz_elsewhere_{os.getpid()}').rmdir()
    if kind == 'hang':
        time.sleep(60.0)
    if kind == 'deaf':
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        time.sleep(60.0)


KINDS = (
    'fine', 'refused', 'not ours', 'end', 'memory', 'left behind', 'elsewhere', 'hang', 'deaf',
)


def test_every_wrong_way_is_seen_and_what_comes_after_it_is_read(monkeypatch):
    monkeypatch.setattr(runner, 'LONGEST', 0.2)
    monkeypatch.setattr(runner, '_UNTIL_KILLED', 5.0)
    monkeypatch.setattr(runner, 'MOST_FAILURES', 100)
    # A name whose first inputs are one of each kind, the deaf one once: it takes longest.
    target = Target(
        'misbehaves_1140', lambda: [('file', b'')],
        lambda rng, data, others: rng.choice(KINDS).encode(), misbehave,
    )
    kinds = [make_input(target, index)[1].decode() for index in range(len(KINDS))]
    assert set(kinds) == set(KINDS)
    outcome = fuzz(target, range(len(KINDS)))
    assert outcome.accepted == kinds.count('fine')
    assert outcome.refused == kinds.count('refused')
    said = {
        'not ours': 'KeyError', 'end': 'hung or ended', 'memory': 'MemoryError',
        'left behind': 'inputs/other', 'elsewhere': 'fuzz_elsewhere_', 'hang': 'TooLong',
        'deaf': 'SIGKILL',
    }
    for index, failure in outcome.failures:
        assert said.pop(kinds[index], '') in failure
    assert said == {}
    wrong = [index for index, kind in enumerate(kinds) if kind not in ('fine', 'refused')]
    assert [index for index, _ in outcome.failures] == wrong
