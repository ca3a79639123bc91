# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Masses that a description leaves out or makes up are found; those of real arms are kept."""


from builders import joint, link, robot_urdf
import pytest
from robot_identification.model import make_robot_model, parse_urdf
from robot_identification.model.masses import (
    describe_placeholders, find_placeholders, massless_joints,
)

UNIT = (1.0, 1.0, 1.0)


def chain(*links):
    """Return the description of a chain of links, each moved by a joint."""
    names = ['ground', *(f'part{k}' for k in range(len(links)))]
    return parse_urdf(robot_urdf(
        '<link name="ground"/>', *links,
        *(joint(f'joint{k}', names[k], names[k + 1], axis=(k % 2, 1, 0))
          for k in range(len(links))),
    ), 'chain')


def bodies(*properties):
    return [link(f'part{k}', mass, principal=moments)
            for k, (mass, moments) in enumerate(properties)]


@pytest.mark.parametrize(('massless', 'joints'), [
    ((), ()),
    # What comes behind a link without mass hangs on its joint as well.
    ((0,), ()),
    ((1, 2), ('joint1', 'joint2')),
    ((0, 1, 2), ('joint0', 'joint1', 'joint2')),
])
def test_joints_that_move_no_mass_are_named(massless, joints):
    links = [
        f'<link name="part{k}"/>' if k in massless else link(f'part{k}') for k in range(3)
    ]
    assert massless_joints(make_robot_model(chain(*links))) == joints


PLACEHOLDERS = {
    'one mass': (
        [(2.0, (0.1, 0.1, 0.1)), (2.0, (0.2, 0.2, 0.2)), (2.0, (0.3, 0.3, 0.3))],
        ('the same mass, 2 kg,',),
    ),
    'one inertia': (
        [(1.0, (0.1, 0.1, 0.1)), (2.0, (0.1, 0.1, 0.1)), (3.0, (0.1, 0.1, 0.1))],
        ('the same principal moments, 0.1, 0.1, 0.1 kg m^2,',),
    ),
    'both': ([(5.0, (0.1, 0.2, 0.2))] * 3, ('the same mass, 5 kg', 'the same principal')),
    'units everywhere': ([(1.0, UNIT)] * 3, ('1 kg with unit inertia at every moved link',)),
    'one unit': ([(1.0, UNIT), (2.0, (0.1, 0.1, 0.1))], ('1 kg with unit inertia at part0',)),
    'two alike': ([(2.0, (0.1, 0.1, 0.1))] * 2, ()),
    'all different': (
        [(2.0, (0.1, 0.1, 0.1)), (2.0, (0.2, 0.2, 0.2)), (2.001, (0.2, 0.2, 0.2))], (),
    ),
    'unit mass alone': ([(1.0, (0.1, 0.1, 0.1)), (2.0, (0.2, 0.2, 0.2))], ()),
}


@pytest.mark.parametrize(('properties', 'words'), PLACEHOLDERS.values(), ids=PLACEHOLDERS)
def test_made_up_masses_are_found(properties, words):
    urdf = chain(*bodies(*properties))
    found = find_placeholders(urdf)
    assert len(found) == len(words)
    assert all(one.startswith(word) for one, word in zip(found, words, strict=True))
    assert bool(describe_placeholders(make_robot_model(urdf))) == bool(words)
