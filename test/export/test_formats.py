# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Files for MuJoCo, Gazebo and ros2_control state what the arm is in their terms."""

from dataclasses import replace
from pathlib import Path
import re
import xml.etree.ElementTree as ElementTree

from builders import joint, link, robot_urdf
from export.exported_models import (
    changed_prior, exported_models, model_of, random_motion, rigid_torque,
)
from export.menagerie_scene import ARM, scene_model, write_scene
from known_models import mujoco_torque, pinocchio_torque
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import DescriptionError, InconsistentModelError
from robot_identification.export.controller import export_controller
from robot_identification.export.formats import ExportOptions
from robot_identification.export.mjcf import export_mjcf
from robot_identification.export.mjcf_into import make_mjcf
from robot_identification.export.ros2_control import export_ros2_control
from robot_identification.export.sdf import export_sdf
from robot_identification.export.urdf import make_urdf
from robot_identification.model import for_pinocchio, make_robot_model, Motion, parse_urdf
from robot_identification.prediction import FeedForward, FeedForwardOptions
import yaml


def test_friction_rotors_limits_and_motors_have_their_place(mujoco, model):
    read = mujoco.MjModel.from_xml_string(export_mjcf(model))
    names = model.parameters.names
    for k in range(3):
        damping, loss, rotor = (
            model.theta_consistent[names.index(f'{symbol}{k + 1}')]
            for symbol in ('fv', 'fc', 'Ia')
        )
        assert read.dof_damping[k] == pytest.approx(damping)
        assert read.dof_frictionloss[k] == pytest.approx(loss)
        assert read.dof_armature[k] == pytest.approx(rotor)
    assert read.jnt_limited.tolist() == [0, 1, 1]
    np.testing.assert_allclose(read.jnt_range[1:], [[-0.3, 0.4], [-2.0, 2.0]])
    assert [read.actuator(k).name for k in range(read.nu)] == list(model.robot.joint_names)
    np.testing.assert_allclose(read.actuator_ctrlrange, [[-80, 80], [-120, 120], [-60, 60]])
    np.testing.assert_allclose(read.opt.gravity, model.robot.gravity)
    assert (read.nmesh, read.ngeom) == (0, 0)


def test_motors_move_the_arm_as_the_model_says(mujoco, model):
    """The acceleration is that of the model's torque with its offset, dry friction apart."""
    # Gravity, rotors, viscous friction and offset as in the file; frictionloss is taken out, since
    # a soft constraint is not exact.
    read = mujoco.MjModel.from_xml_string(export_mjcf(model))
    read.dof_frictionloss[:] = 0.0
    data = mujoco.MjData(read)
    data.qpos[:], data.qvel[:] = [0.3, 0.1, -0.4], [0.5, 0.2, -0.3]
    data.ctrl[:] = [10.0, 20.0, -5.0]
    mujoco.mj_forward(read, data)
    theta = model.theta_consistent.copy()
    for number in (1, 2, 3):
        theta[model.parameters.names.index(f'fc{number}')] = 0.0
    motion = Motion(*(np.array(row)[None] for row in (data.qpos, data.qvel, data.qacc)))
    torque = replace(model, theta_base=model.reduction.K @ theta).torque(motion)[0]
    np.testing.assert_allclose(torque, data.ctrl, atol=1e-8)


@pytest.mark.parametrize(('index', 'value', 'words'), [
    (14, -1.0, r'everything is not exported: no body has the parameters of the link after slide'),
    (-1, -0.2, r'reflected inertia of tip is -0\.2 kg m\^2'),
])
def test_what_no_body_or_rotor_has_is_refused_by_name(model, index, value, words):
    theta = model.theta_consistent.copy()
    theta[index] = value
    with pytest.raises(InconsistentModelError, match=words):
        export_mjcf(replace(model, theta_consistent=theta))


def tree_of(model):
    root = ElementTree.fromstring(export_sdf(model))
    assert (root.tag, root.get('version')) == ('sdf', '1.9')
    return root.find('model')


def test_joints_have_limits_and_friction(model):
    found = {element.get('name'): element for element in tree_of(model).findall('joint')}
    assert list(found) == ['fixed_to_world', *model.robot.joint_names]
    assert [element.get('type') for element in found.values()] \
        == ['fixed', 'revolute', 'prismatic', 'revolute']
    assert found['turn'].find('axis/limit/lower') is None
    slide = found['slide'].find('axis')
    assert [float(slide.findtext(f'limit/{key}')) for key in
            ('lower', 'upper', 'effort', 'velocity')] == [-0.3, 0.4, 120.0, 1.0]
    names = model.parameters.names
    for k, joint_name in enumerate(model.robot.joint_names, start=1):
        for symbol, key in (('fv', 'damping'), ('fc', 'friction')):
            text = found[joint_name].findtext(f'axis/dynamics/{key}')
            value = model.theta_consistent[names.index(f'{symbol}{k}')]
            assert float(text) == pytest.approx(value)


@pytest.mark.parametrize('gravity', [
    [0.0, 0.0, -9.81], [0.0, 0.0, 9.81], [9.81, 0.0, 0.0], [1.0, -2.0, -9.0], [0.0, 0.0, 0.0],
])
def test_gravity_points_down_in_the_world(robots, gravity):
    robot = robots['mixed'].with_gravity(gravity)
    pose = tree_of(model_of(robot, changed_prior(robot))).find('pose')
    turn = pin.Quaternion(np.array([float(word) for word in pose.text.split()])[3:])
    np.testing.assert_allclose(
        turn.toRotationMatrix() @ gravity, [0.0, 0.0, -np.linalg.norm(gravity)], atol=1e-12
    )


def test_names_that_sdf_has_only_once_are_told_apart():
    """Links, joints and frames share their names there, and `world` is the world's."""
    text = robot_urdf(
        link('world', 0.0, principal=(0, 0, 0)), link('one'), link('two_link'), link('two'),
        '<link name="fixed_to_world"/>',
        joint('one', 'world', 'one', axis=(0, 1, 0)),
        joint('two', 'one', 'two', axis=(1, 0, 0)),
        joint('a', 'two', 'two_link', 'fixed', limit=''),
        joint('b', 'two', 'fixed_to_world', 'fixed', limit=''),
    )
    robot = make_robot_model(parse_urdf(text, 'cell'))
    root = tree_of(model_of(robot, changed_prior(robot)))
    names = [element.get('name') for element in root if element.get('name')]
    assert len(names) == len(set(names))
    assert [element.get('name') for element in root.findall('link')] \
        == ['world_link', 'one_link', 'two_link_']
    assert [element.get('name') for element in root.findall('joint')] \
        == ['fixed_to_world_', 'one', 'two']
    assert root.find('link').find('inertial') is None, 'without a body SDF has its default'
    parents = [element.findtext('parent') for element in root.findall('joint')]
    assert parents == ['world', 'world_link', 'one_link']


def parameters_of(model):
    return yaml.safe_load(export_ros2_control(model))['/**']['ros__parameters']


def torque_of_chain(text, root, tip, gravity, motion):
    """Return the torques (N, n) of the links between two of a URDF, as KDL takes them."""
    robot = ElementTree.fromstring(text)
    above = {one.find('child').get('link'): one for one in robot.findall('joint')}
    links, joints = {root}, []
    while tip != root:
        links.add(tip)
        joints.append(above[tip])
        tip = above[tip].find('parent').get('link')
    for one in [*robot.findall('link'), *robot.findall('joint')]:
        if one not in joints and one.get('name') not in links:
            robot.remove(one)
    arm = pin.buildModelFromXML(for_pinocchio(ElementTree.tostring(robot, encoding='unicode')))
    arm.gravity.linear = np.array(gravity)
    arm.armature = np.zeros(arm.nv)
    return pinocchio_torque(arm, motion)


@pytest.mark.parametrize(('name', 'root', 'tip', 'gravity', 'calls'), [
    ('ur5', 'base_link', 'tool0', [4.0, 0.0, -8.0], 2),
    # Services of the driver take six joints, and this arm has five.
    ('youbot', 'base_link', 'arm_link_5', [0.0, 0.0, -9.81], 0),
])
def test_root_tip_and_gravity_are_those_of_the_model(
    robots, rng, name, root, tip, gravity, calls
):
    model = exported_models(robots)[name]
    text = export_ros2_control(model)
    found = parameters_of(model)
    assert found == {'root': root, 'tip': tip, 'gravity': gravity}
    # Parameters of ROS are of one type: an integer among the doubles would be refused.
    assert all(type(value) is float for value in found['gravity'])
    assert text.count('# ros2 service call') == calls
    motion = random_motion(model, rng)
    np.testing.assert_allclose(
        torque_of_chain(make_urdf(model).text, **found, motion=motion),
        rigid_torque(model, motion), atol=1e-9,
    )


PAGE = Path(__file__).parents[2] / 'docs' / 'export.md'


@pytest.fixture(scope='module')
def controller_models(robots):
    """Return models of several arms, and one with friction of every kind, by name."""
    made = exported_models(robots)
    arm = made['everything'].robot
    dictionary = model_of(arm, changed_prior(arm), 'dictionary,offset')
    return {**made, 'dictionary': dictionary}


@pytest.fixture(scope='module')
def texts(controller_models):
    return {name: export_controller(model) for name, model in controller_models.items()}


@pytest.fixture(scope='module')
def example():
    """Return the program on the page that computes a controller's torque."""
    blocks = re.findall(r'```python\n(.*?)```', PAGE.read_text(), re.DOTALL)
    block, = (block for block in blocks if 'yaml.safe_load' in block)
    return compile(block, str(PAGE), 'exec')


@pytest.mark.parametrize('name', ['everything', 'dictionary'])
def test_the_page_computes_gravity_and_friction_from_the_file_alone(
    controller_models, texts, example, name, rng, tmp_path, monkeypatch
):
    """As `FeedForward` does of the model whose bodies are the consistent ones."""
    # Rows of the table that a straight line replaces cost 1e-7 of the largest friction; 1e-6 of
    # the largest torque is asked.
    model = controller_models[name]
    robot = model.robot
    monkeypatch.chdir(tmp_path)
    Path('ur5_feed_forward.yaml').write_text(texts[name])
    scope = {}
    exec(example, scope)
    consistent = model.with_consistent_parameters()
    feed_forward = FeedForward(consistent, FeedForwardOptions(friction='kinetic'))
    torque = []
    for number in range(20):
        q = rng.uniform(-1.0, 1.0, robot.n)
        wanted = rng.uniform(0.01, 2.0, robot.n) * rng.choice([-1.0, 1.0], robot.n)
        wanted *= number > 0
        # A motion that has gone on for longer than friction takes to come.
        for k in range(5):
            expected = feed_forward.step(0.02 * k, q, wanted, wanted)
        torque.append((scope['torque'](q, wanted), expected))
        feed_forward.step(np.nan, q, wanted, wanted)
    found, expected = map(np.array, zip(*torque, strict=True))
    assert np.abs(expected).max() > 1.0
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


JOINTS = ['turn', 'lift', 'reach']
# Everything that may change: inertials of the arm's three bodies, three attributes of its joints.
MAY_CHANGE = (
    rb'<inertial[^>]*?/>',
    rb'\s(?:armature|damping|frictionloss)\s*=\s*(?:"[^"]*"|\'[^\']*\')',
)


@pytest.fixture(scope='module')
def scene_arm():
    return scene_model()


def exported(scene_arm, path, **options):
    return make_mjcf(scene_arm, path, ExportOptions(**options))


def write(found, output):
    for path, data in found.outputs(output).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return output


def torques(mujoco, path, motion, names=JOINTS):
    """Return the inverse dynamics (N, n) of the arm in a scene."""
    return mujoco_torque(mujoco, mujoco.MjModel.from_xml_path(str(path)), motion, names)


def assert_moves_like(mujoco, path, scene_arm, rng, names=JOINTS):
    """Check the torques of a scene: sums of some hundred products of doubles."""
    motion = random_motion(scene_arm, rng)
    expected = rigid_torque(scene_arm, motion, with_rotors=True)
    found = torques(mujoco, path, motion, names)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize('newline', [b'\n', b'\r\n'])
def test_the_scene_moves_as_the_model_says(mujoco, scene_arm, rng, tmp_path, newline):
    """In frames that are not the description's, at a place where the description is not."""
    before = write_scene(tmp_path / 'in', newline=newline)
    motion = random_motion(scene_arm, rng)
    expected = rigid_torque(scene_arm, motion, with_rotors=True)
    assert np.abs(torques(mujoco, before, motion) - expected).max() > 1.0
    path = write(exported(scene_arm, before), tmp_path / 'out' / 'cell.xml')
    assert_moves_like(mujoco, path, scene_arm, rng)
    scene = mujoco.MjModel.from_xml_path(str(path))
    names = scene_arm.parameters.names
    for k, name in enumerate(JOINTS):
        dof = scene.joint(name).dofadr[0]
        for symbol, value in (('Ia', scene.dof_armature), ('fv', scene.dof_damping),
                              ('fc', scene.dof_frictionloss)):
            index = names.index(f'{symbol}{k + 1}')
            assert value[dof] == pytest.approx(scene_arm.theta_consistent[index])


def test_nothing_else_changes_byte_by_byte(mujoco, scene_arm, tmp_path):
    before = write_scene(tmp_path)
    found = exported(scene_arm, before)
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


def test_a_changed_scene_does_not_change_again(mujoco, scene_arm, tmp_path):
    path = write(exported(scene_arm, write_scene(tmp_path / 'in')), tmp_path / 'out' / 'cell.xml')
    again = exported(scene_arm, path)
    assert again.changed == []
    assert again.links == ()


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
def test_what_the_scene_cannot_hold_is_refused_by_name(
    mujoco, scene_arm, tmp_path, old, new, words
):
    assert ARM.count(old) == 1
    path = write_scene(tmp_path, arm=ARM.replace(old, new))
    with pytest.raises(DescriptionError) as caught:
        exported(scene_arm, path)
    assert words in str(caught.value)
