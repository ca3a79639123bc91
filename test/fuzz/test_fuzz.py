# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""No changed file makes a reader fall over, hang, take all memory or write elsewhere."""

import os

from fuzz.runner import fuzz
from fuzz.targets import TARGETS
from long_tests import ASKED_FOR
import pytest

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
