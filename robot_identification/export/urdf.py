# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Write a URDF with the identified inertials and friction.

Only the <inertial> of links and the <dynamics> of joints change; every other byte of the text
stays what it was, comments, blanks and the order of attributes with it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree
import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import check_argument, DescriptionError, UsageError
from robot_identification.export.arm import (
    check_consistent, links_of_joints, motion_of_joint, numbers_text, plain_friction, ROUNDING,
    shown_vector,
)
from robot_identification.export.changes import change_of_link, ChangedFiles, LinkChange
from robot_identification.export.xml_editor import comment_text, XmlEditor
from robot_identification.files import read_text
from robot_identification.model import (
    IdentifiedModel, make_robot_model, parse_urdf, pose_in, prior_inertial_parameters, RobotModel,
    smallest_eigenvalues, tensor_in, Urdf,
)

SIGNATURE = 'Identified by robot_identification.'
# By which joints of two descriptions of one arm may differ [m], [rad]: angles are written as
# 1.5708, too.
SAME_PLACE = 1.0e-5


@dataclass(frozen=True, eq=False)
class _Contents:
    """Contents to be written: parameters by link, friction by joint."""

    links: dict[str, FloatArray]
    joints: dict[str, tuple[float, float]]
    shrunk: dict[str, float]  # which part of its inertia a body keeps that moves with a link


def export_urdf(model: IdentifiedModel) -> str:
    """
    Return the model's own URDF with the identified inertials.

    Bodies that are fixed to a link, or stand on a locked joint, keep their own inertials; what is
    left of the identified one is the link's. If that would be no body, they keep a part of theirs,
    and a comment names them. Reflected inertia has no place in a URDF and stands in a comment.
    Friction is Coulomb and viscous; of other laws it is the nearest to them in steady sliding,
    over the speeds and at the mean load that the model was identified at.

    Raises
    ------
    InconsistentModelError
        If the model has no physically consistent parameters.

    """
    check_argument('model', model, IdentifiedModel)
    return make_urdf(model).text


def make_urdf(model: IdentifiedModel, into: Path | None = None) -> ChangedFiles:
    """
    Return a URDF with the identified inertials, and what changed.

    `into` is the arm's URDF with meshes and everything, by default the text that the model file
    holds. Its joints must be those of the model and stand where they stand there; see
    `export_urdf` for what becomes of the links. Raises UsageError if there is no such file, it is
    a xacro file or lacks joints of the model; DescriptionError, naming link or joint, if it cannot
    be used for dynamics or is another arm; InconsistentModelError as `export_urdf`.
    """
    theta = check_consistent(model)
    if into is None:
        urdf, into = model.robot.urdf, Path(f'{model.robot.name}.urdf')
        data = f'<?xml version="1.0"?>\n{urdf.text}\n'.encode()
        before = prior_inertial_parameters(model.robot)
    else:
        data, urdf = _read_into(into)
        before = prior_inertial_parameters(_check_same_arm(model.robot, urdf, str(into)))
    contents = _find_contents(model, theta, urdf, before.reshape(-1, 10))
    remark = _remark(model, theta, contents)
    changed, links = _write(data, str(into), urdf, contents, remark)
    return ChangedFiles(
        into, {into: data}, {into: changed}, links,
        float(before[::10].sum()), float(theta[: 10 * model.robot.n: 10].sum()),
    )


def _read_into(path: Path) -> tuple[bytes, Urdf]:
    """Return the bytes of a URDF file that is to be changed, and the checked description."""
    if path.suffix == '.xacro':
        raise UsageError(
            f'{path} is xacro, where one line can stand for many links: expand it first (`xacro '
            f'{path.name} > arm.urdf`) and name the URDF'
        )
    text = read_text(path).removeprefix('\ufeff')
    return path.read_bytes(), parse_urdf(text, str(path))


def _check_same_arm(robot: RobotModel, urdf: Urdf, source: str) -> RobotModel:
    """Return a description as the arm of a model, after checking that it is."""
    known = {joint.name for joint in robot.urdf.joints}
    new = [joint.name for joint in urdf.joints if joint.name not in known]
    if new:
        raise DescriptionError(
            f'{source}: joint {new[0]!r:.80} moves, and the model of {robot.name} does not know '
            'it: identify the arm with this description, or name the one it was identified with'
        )
    arm = make_robot_model(urdf, joints=robot.joint_names, locked=robot.locked)
    _check_joints(robot, arm, source)
    _check_bodies(robot, arm, source)
    return arm


def _check_joints(robot: RobotModel, arm: RobotModel, source: str) -> None:
    for name in robot.joint_names:
        (place, axis, before), (other_place, other_axis, other_before) = (
            _place_of_joint(model.pinocchio, name) for model in (robot, arm)
        )
        moved = float(np.linalg.norm(place.translation - other_place.translation))
        turned = float(np.linalg.norm(pin.log3(place.rotation.T @ other_place.rotation)))
        difference = ''
        if before != other_before:
            difference = f'follows {other_before!r:.80} and not {before!r:.80}'
        elif not max(moved, turned) <= SAME_PLACE:
            difference = f'stands {moved:.3g} m and {turned:.3g} rad from its place'
        elif not np.abs(axis - other_axis).max() <= SAME_PLACE:
            difference = (
                f'moves along {shown_vector(other_axis)} and not {shown_vector(axis)} '
                '(translation, rotation)'
            )
        if difference:
            raise DescriptionError(
                f'{source}: joint {name!r:.80} {difference}, as in the model of {robot.name} (at '
                f'most {SAME_PLACE:g} is rounding); name the description that the arm was '
                'identified with, or identify it with this one'
            )


def _place_of_joint(model: Any, name: str) -> tuple[pin.SE3, FloatArray, str]:
    """Return where a joint stands, its motion (6,), and the joint before it."""
    number = model.getJointId(name)
    before = str(model.names[model.parents[number]])
    return model.jointPlacements[number], motion_of_joint(model, number), before


def _check_bodies(robot: RobotModel, arm: RobotModel, source: str) -> None:
    """Refuse bodies that the identified ones need not have had; what lacks is made up for."""
    _, carried = links_of_joints(robot.urdf.text)
    known = {link.name for link in robot.urdf.links if link.moved and link.mass > 0.0}
    known.update(carried[name] for name in robot.joint_names)
    for link in arm.urdf.links:
        if link.moved and link.mass > 0.0 and link.name not in known:
            raise DescriptionError(
                f'{source}: link {link.name!r:.80} has mass, and the model of {robot.name} does '
                'not know it: identify the arm with this description, or take the link out'
            )


def _find_contents(
    model: IdentifiedModel, theta: FloatArray, urdf: Urdf, prior: FloatArray
) -> _Contents:
    """Return the inertials of links so that each moving body is the identified one."""
    root = etree.fromstring(urdf.text)
    stated = {link.get('name'): _own_parameters(link) for link in root.findall('link')}
    _, children = links_of_joints(urdf.text)
    moving = model.robot.joint_names
    contents = _Contents({}, {}, {})
    for index, name in enumerate(moving):
        link, whole = children[name], theta[10 * index: 10 * index + 10]
        others = prior[index] - stated[link]
        if not smallest_eigenvalues(whole - others)[0] > 0.0:
            part = _part_that_leaves_a_body(whole, others)
            for other in _links_moved_with(root, link, moving):
                if stated[other].any():
                    contents.links[other], contents.shrunk[other] = part * stated[other], part
            others = part * others
        contents.links[link] = whole - others
        contents.joints[name] = plain_friction(model, theta, index)
    return contents


def _part_that_leaves_a_body(whole: FloatArray, others: FloatArray) -> float:
    """
    Return the part of other bodies that a whole one (10,) can be without, in its frame.

    It is half of the largest power of two that leaves a body; they keep some mass, without which
    simulators do not move those on joints.
    """
    part = 0.5
    while not smallest_eigenvalues(whole - 2.0 * part * others)[0] > 0.0:
        part /= 2.0
    return part


def _links_moved_with(root: Any, link: str, moving: tuple[str, ...]) -> list[str]:
    """Return the links that are carried by one without a moving joint between, itself left out."""
    found, new = [], [link]
    while new:
        new = [
            joint.find('child').get('link') for joint in root.findall('joint')
            if joint.get('name') not in moving and joint.find('parent').get('link') in new
        ]
        found += new
    return found


def _own_parameters(link: Any) -> FloatArray:
    """Return the inertial parameters of a URDF link in its own frame, shape (10,)."""
    inertial = link.find('inertial')
    if inertial is None:
        return np.zeros(10)
    pose, mass = pose_in(inertial.find('origin')), float(inertial.find('mass').get('value'))
    centre = pose.translation
    # By hand: Pinocchio refuses moments that rounding made negative, as those of a mere mass.
    about_frame = pose.rotation @ tensor_in(inertial.find('inertia')) @ pose.rotation.T + mass * (
        centre @ centre * np.eye(3) - np.outer(centre, centre)
    )
    rows, columns = (0, 0, 1, 0, 1, 2), (0, 1, 1, 2, 2, 2)
    return np.concatenate([[mass], mass * centre, about_frame[rows, columns]])


def _write(
    data: bytes, source: str, urdf: Urdf, contents: _Contents, remark: str
) -> tuple[bytes, tuple[LinkChange, ...]]:
    """Return the text with other inertials and friction, and which links changed."""
    root = etree.fromstring(urdf.text)
    before = {link.get('name'): _own_parameters(link) for link in root.findall('link')}
    editor = XmlEditor(data, source, 'a URDF')
    changes = []
    for link in editor.root.findall('link'):
        name = link.get('name')
        if name not in contents.links:
            continue
        old, new = before[name], contents.links[name]
        # What was written by the same numbers is left as it was written.
        if np.any(np.abs(new - old) > ROUNDING * _sizes(old)):
            _write_inertial(editor, link, new)
            changes.append(change_of_link(name, old, new))
    for joint in editor.root.findall('joint'):
        if joint.get('name') in contents.joints:
            _write_dynamics(editor, joint, contents.joints[joint.get('name')])
    earlier = [
        comment for comment in editor.root.iterchildren(etree.Comment)
        if SIGNATURE in comment.text
    ]
    if earlier:
        editor.replace(earlier[0], etree.Comment(remark))
    else:
        editor.insert(editor.root, etree.Comment(remark))
    return editor.result(), tuple(changes)


def _sizes(parameters: FloatArray) -> FloatArray:
    """Return what inertial parameters (10,) are measured by: mass, moments, and between them."""
    mass, moment = float(parameters[0]), float(np.abs(parameters[4:]).max())
    return np.repeat([mass, np.sqrt(mass * moment), moment], [1, 3, 6])


def _as_written(old: Any, key: str, values: FloatArray, size: float) -> str:
    """Return numbers as an attribute has them, where they differ from those by rounding alone."""
    written = '' if old is None else old.get(key, '')
    try:
        before = np.array([float(number) for number in written.split()])
    except ValueError:  # of what is not checked, as <dynamics>
        return numbers_text(values)
    same = before.shape == values.shape and np.abs(before - values).max() <= ROUNDING * size
    return written if same else numbers_text(values)


def _write_inertial(editor: XmlEditor, link: Any, parameters: FloatArray) -> None:
    old = link.find('inertial')
    body = pin.Inertia.FromDynamicParameters(parameters)
    mass, tensor = float(body.mass), body.inertia
    moment = float(np.abs(tensor).max())
    origin, mass_before, inertia = (
        None if old is None else old.find(tag) for tag in ('origin', 'mass', 'inertia')
    )
    new = etree.Element('inertial')
    etree.SubElement(
        new, 'origin', xyz=_as_written(origin, 'xyz', body.lever, np.sqrt(moment / mass)),
        rpy='0 0 0',
    )
    etree.SubElement(
        new, 'mass', value=_as_written(mass_before, 'value', np.array([mass]), mass)
    )
    etree.SubElement(new, 'inertia', {
        f'i{a}{b}': _as_written(inertia, f'i{a}{b}', tensor[i, j: j + 1], moment)
        for i, a in enumerate('xyz') for j, b in enumerate('xyz') if i <= j
    })
    if old is None:
        editor.insert(link, new)
        return
    for part in new:
        before = old.find(part.tag)
        if before is None:
            editor.insert(old, part)
        else:
            editor.set_attributes(before, part.attrib)


def _write_dynamics(editor: XmlEditor, joint: Any, friction: tuple[float, float]) -> None:
    old = joint.find('dynamics')
    values = {
        key: _as_written(old, key, np.array([value]), value)
        for key, value in zip(('damping', 'friction'), friction[::-1], strict=True)
    }
    if old is None:
        editor.insert(joint, etree.Element('dynamics', values), last=True)
    else:
        editor.set_attributes(old, values)


def _remark(model: IdentifiedModel, theta: FloatArray, contents: _Contents) -> str:
    """Return the comment with what has no place in a URDF."""
    reflected = theta[model.parameters.reflected_inertia_slice]
    text = ', '.join(
        f'{name} {value:.6g}'
        for name, value in zip(model.robot.joint_names, reflected, strict=False)
    )
    parts = ', '.join(f'{name} {part:g}' for name, part in contents.shrunk.items())
    return comment_text(
        f'{SIGNATURE} Reflected rotor inertias, which URDF has no place for [kg m^2]: {text}'
        + (f' Bodies without a moving joint of their own, with the part of their inertia that was '
           f'found: {parts}' if parts else '')
    )
