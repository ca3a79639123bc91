# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What was identified goes into a user's MuJoCo scene, and nothing else changes there."""

import re

from export.exported_models import random_motion, rigid_torque
from export.menagerie_scene import ARM, scene_model, write_scene
from known_models import mujoco_torque
import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.export.formats import ExportOptions
from robot_identification.export.mjcf_into import make_mjcf

JOINTS = ['turn', 'lift', 'reach']
# Everything that may change: inertials of the arm's three bodies, three attributes of its joints.
MAY_CHANGE = (
    rb'<inertial[^>]*?/>',
    rb'\s(?:armature|damping|frictionloss)\s*=\s*(?:"[^"]*"|\'[^\']*\')',
)


@pytest.fixture(scope='module')
def model():
    return scene_model()


def exported(model, path, **options):
    return make_mjcf(model, path, ExportOptions(**options))


def write(found, output):
    for path, data in found.outputs(output).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return output


def torques(mujoco, path, motion, names=JOINTS):
    """Return the inverse dynamics (N, n) of the arm in a scene."""
    return mujoco_torque(mujoco, mujoco.MjModel.from_xml_path(str(path)), motion, names)


def assert_moves_like(mujoco, path, model, rng, names=JOINTS):
    """Check the torques of a scene: sums of some hundred products of doubles."""
    motion = random_motion(model, rng)
    expected = rigid_torque(model, motion, with_rotors=True)
    found = torques(mujoco, path, motion, names)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize('newline', [b'\n', b'\r\n'])
def test_the_scene_moves_as_the_model_says(mujoco, model, rng, tmp_path, newline):
    """In frames that are not the description's, at a place where the description is not."""
    before = write_scene(tmp_path / 'in', newline=newline)
    motion = random_motion(model, rng)
    expected = rigid_torque(model, motion, with_rotors=True)
    assert np.abs(torques(mujoco, before, motion) - expected).max() > 1.0
    path = write(exported(model, before), tmp_path / 'out' / 'cell.xml')
    assert_moves_like(mujoco, path, model, rng)
    scene = mujoco.MjModel.from_xml_path(str(path))
    names = model.parameters.names
    for k, joint in enumerate(JOINTS):
        dof = scene.joint(joint).dofadr[0]
        for symbol, value in (('Ia', scene.dof_armature), ('fv', scene.dof_damping),
                              ('fc', scene.dof_frictionloss)):
            index = names.index(f'{symbol}{k + 1}')
            assert value[dof] == pytest.approx(model.theta_consistent[index])


def test_nothing_else_changes_byte_by_byte(mujoco, model, tmp_path):
    before = write_scene(tmp_path)
    found = exported(model, before)
    assert [path.name for path in found.changed] == ['arm.xml']
    texts = [files[tmp_path / 'arm' / 'arm.xml'] for files in (found.before, found.after)]
    assert texts[0] != texts[1]
    kept = []
    for text in texts:
        for pattern in MAY_CHANGE:
            text = re.sub(pattern, b'', text)
        kept.append(text)
    assert kept[0] == kept[1]
    # What stands in the base, the hand and the class is not the arm's.
    for part in (b'mass="4.0" pos="0 0 0"', b'mass="0.3" diaginertia="1e-3 1e-3 1e-3"',
                 b'damping="4" armature="0.5"'):
        assert part in texts[1]
    assert texts[1].count(b'\r\n') == texts[0].count(b'\r\n') - 1, 'one inertial had two lines'


def test_a_changed_scene_does_not_change_again(mujoco, model, tmp_path):
    path = write(exported(model, write_scene(tmp_path / 'in')), tmp_path / 'out' / 'cell.xml')
    again = exported(model, path)
    assert again.changed == []
    assert again.links == ()


def test_a_body_that_holds_no_inertial_gets_one(mujoco, model, rng, tmp_path):
    """Its mass was that of its shapes."""
    bare = re.sub(rb'<inertial   pos="0 0 0.1"[^>]*/>', b'', ARM)
    path = write(
        exported(model, write_scene(tmp_path / 'in', arm=bare)), tmp_path / 'out' / 'cell.xml'
    )
    assert_moves_like(mujoco, path, model, rng)


def test_joints_with_other_names_are_told(mujoco, model, rng, tmp_path):
    other = ARM.replace(b'"turn"', b'"j1"').replace(b"'lift'", b"'j2'").replace(b'"lift"', b'"j2"')
    path = write_scene(tmp_path / 'in', arm=other)
    with pytest.raises(UsageError, match=r"has no joint 'turn' .* j1, j2, reach, drawer"):
        exported(model, path)
    found = exported(model, path, joint_names='j1=turn,j2=lift')
    written = write(found, tmp_path / 'out' / 'cell.xml')
    assert_moves_like(mujoco, written, model, rng, ['j1', 'j2', 'reach'])


@pytest.mark.parametrize(('old', 'new', 'words'), [
    (b"armature=\"0.1\"   damping='2'", b'springdamper="1 1"', "joint 'turn' has springdamper"),
    (b'<motor joint="turn"/>', b'<motor name="m" joint="turn" armature="0.2"/>',
     "actuator 'm' adds armature 0.2 to joint 'turn'"),
    (b"name='lift'  ref=\"0.0\"", b"name='lift' ref='0.4'",
     "the axis of joint 'reach' is 0 m and 0."),
    (b'type="slide" axis="1 0 0" frictionloss', b'axis="1 0 0" frictionloss',
     "joint 'reach' turns, in the model it slides"),
    (b'mass="0.3" diaginertia', b'mass="30" diaginertia',
     "no body is left for the link of 'reach' once hand are taken"),
])
def test_what_the_scene_cannot_hold_is_refused_by_name(mujoco, model, tmp_path, old, new, words):
    assert ARM.count(old) == 1
    path = write_scene(tmp_path, arm=ARM.replace(old, new))
    with pytest.raises(DescriptionError) as caught:
        exported(model, path)
    assert words in str(caught.value)
