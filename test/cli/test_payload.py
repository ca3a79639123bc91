# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`payload` from files: a bag with a known body and the model of the bare arm."""

from dataclasses import replace
import json

from builders import joint_states, refusal, succeed, write_bag
import numpy as np
import pytest
from robot_identification.files import parse_yaml
from robot_identification.model.model_file import dump_model
from studies.payload_cases import (
    bare_model, BODY, carrying, moving, NOISE, torque_of_simulator, true_arm,
)
from test_formats_docs import documented, paths


@pytest.fixture(scope='module')
def files(robots, tmp_path_factory):
    """Return paths of a bag with the body, and of models with true and with unknown gains."""
    folder = tmp_path_factory.mktemp('payload')
    robot = robots['ur5']
    truth = true_arm(robot)
    rng = np.random.default_rng(7)
    model = replace(
        bare_model(robot.with_drive_gains(truth.drive_gain), truth, rng), effort_unit='A',
        provenance={'bags': [], 'options': {}, 'versions': {}},
    )
    motion = moving(robot, 2)
    tau = torque_of_simulator(carrying(robot, BODY), truth, motion)
    tau = tau + NOISE * rng.normal(size=tau.shape)
    rest = np.tile(motion.q[-1], (400, 1))
    bag = write_bag(
        folder / 'bag',
        joint_states(
            robot.joint_names, 1.0 + 0.008 * np.arange(1900), np.vstack([motion.q, rest]),
            np.vstack([motion.dq, np.zeros_like(rest)]),
            np.vstack([tau, np.tile(tau[-1], (400, 1))]) / truth.drive_gain,
        ),
        {'robot': 'ur5', 'effort_unit': 'A'},
    )
    paths = {}
    for name, each in (
        ('absolute', model),
        ('relative', replace(
            model, robot=robot.with_drive_gains(np.ones(robot.n)), relative_scale=True,
            theta_base=model.theta_base / 13.0, covariance=model.covariance / 169.0,
        )),
    ):
        paths[name] = folder / f'{name}.yaml'
        paths[name].write_text(dump_model(each), encoding='utf-8')
    return bag, paths


@pytest.fixture(scope='module')
def absolute(files, tmp_path_factory):
    """Return the printed content and the folder of the results by the model with true gains."""
    bag, models = files
    out = tmp_path_factory.mktemp('absolute') / 'out'
    found = succeed('payload', models['absolute'], bag, '-o', out, '--json')
    return json.loads(found.out), out


def test_payload_in_json_and_files(files, absolute):
    """Keys of the design, SI units; what is written is what is printed."""
    bag, models = files
    content, out = absolute
    # Of twelve seconds with it; a chance of 1e-3 to be further off than 4 of its errors.
    assert abs(content['mass'] - BODY.mass) < 4.0 * content['standard_errors']['mass'] < 0.15
    np.testing.assert_allclose(content['center_of_mass'], BODY.center_of_mass, atol=0.003)
    assert np.shape(content['inertia']) == (3, 3)
    assert set(content['standard_errors']) == {'mass', 'center_of_mass', 'inertia'}
    assert content['frame'] == 'tool0'
    assert content['significance']['different'] is True
    set_payload = content['set_payload']
    assert set_payload['m'] == pytest.approx(content['mass'], abs=1e-4)
    inertia = np.array(content['inertia'])
    expected = [inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2],
                inertia[1, 2]]
    np.testing.assert_allclose(set_payload['inertia'], expected, rtol=1e-4)
    assert json.loads((out / 'payload.json').read_text()) == content
    assert paths(content) == set(documented('payload'))
    report = (out / 'report.html').read_text(encoding='utf-8')
    assert 'set_target_payload(2.' in report and '<svg' in report
    assert '--force' in refusal('payload', models['absolute'], bag, '-o', out)


def test_a_controller_gets_the_same_in_all_its_ways(absolute):
    """Script, service and teach pendant get the numbers of payload.json, each in its units."""
    content, out = absolute
    values = content['set_payload']
    lines = (out / 'results.txt').read_text().split('For a Universal Robot:')[1]
    script, cb3, *services, fields = (line.strip() for line in lines.strip().splitlines()[1::2])
    name, _, arguments = script.partition('(')
    assert name == 'set_target_payload'
    assert json.loads(f'[{arguments[:-1]}]') == [values['m'], values['cog'], values['inertia']]
    assert cb3 == f'set_payload({values["m"]:g}, {values["cog"]})'
    plain, flat, nested = (
        parse_yaml(service.split('"')[1], 'the request') for service in services
    )
    # The message of drivers up to Lyrical, before and after July 2026, and that of main; fields
    # of others are refused by `ros2 service call`.
    assert list(plain) == ['mass', 'center_of_gravity']
    assert list(flat) == [*plain, 'ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz']
    assert {**flat, **plain} == flat
    assert plain['mass'] == pytest.approx(values['m'])
    assert plain['center_of_gravity'] == dict(zip('xyz', values['cog'], strict=True))
    np.testing.assert_allclose(list(flat.values())[2:], values['inertia'], rtol=1e-5)
    assert list(nested) == ['payload']
    assert nested['payload'] == {
        'm': plain['mass'], 'com': plain['center_of_gravity'],
        **{name: value for name, value in flat.items() if name.startswith('i')},
    }
    shown = dict(field.rsplit(' ', 1)[0].split(' ')[:2] for field in fields.split(', '))
    assert float(shown['mass']) == values['m']
    # Three digits of a millimetre.
    np.testing.assert_allclose(
        [float(shown[f'C{axis}']) for axis in 'XYZ'], 1000.0 * np.array(values['cog']), rtol=0.006
    )
    np.testing.assert_allclose([float(shown[f'I{axes}']) for axes in (
        'XX', 'YY', 'ZZ', 'XY', 'XZ', 'YZ'
    )], values['inertia'], rtol=1e-5)
