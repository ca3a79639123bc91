# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A recording whose effort is in another unit than the model's."""

from types import SimpleNamespace

import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.model import load_robot
from robot_identification.processing.loading import check_effort_unit


def model_in(unit, gains, relative_scale=False):
    return SimpleNamespace(
        effort_unit=unit, relative_scale=relative_scale,
        robot=load_robot('ur5').with_drive_gains(gains),
    )


@pytest.mark.parametrize(('unit', 'other', 'verb'), [
    ('A', 'Nm', 'divide'), ('Nm', 'A', 'multiply'),
])
def test_how_to_convert_is_said_where_gains_are_known(unit, other, verb):
    recording = SimpleNamespace(source='bag', metadata={'effort_unit': other})
    with pytest.raises(DataError, match=f'{verb} the recorded effort .* elbow_joint 3, ') as found:
        check_effort_unit(recording, model_in(unit, np.arange(1.0, 7.0)))
    assert all(words in str(found.value) for words in (f'effort in {unit}', f'effort in {other}'))
    check_effort_unit(recording, model_in(other, np.ones(6)))


def test_gains_of_one_that_stand_for_unknown_ones_convert_nothing():
    recording = SimpleNamespace(source='bag', metadata={'effort_unit': 'Nm'})
    with pytest.raises(DataError) as found:
        check_effort_unit(recording, model_in('A', np.ones(6), relative_scale=True))
    assert 'divide' not in str(found.value)
