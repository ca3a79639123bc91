# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Write what was identified into a MuJoCo scene that is there.

Only `<inertial>` of bodies and `armature`, `damping` and `frictionloss` of joints change; every
other byte of the scene and of the files that it includes stays what it was. MuJoCo reads the
changed files before they are returned, and has to see the identified numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
import re
from typing import Any

from lxml import etree
import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.export.alignment import align_arms, Alignment, ArmAxes
from robot_identification.export.arm import (
    exported_arm, ExportedArm, numbers_text, ROUNDING, shown_vector,
)
from robot_identification.export.changes import change_of_link, ChangedFiles
from robot_identification.export.friction_forms import fit_all_frictions, LUGRE
from robot_identification.export.mjcf import inertial_attributes, joint_values
from robot_identification.export.options import ExportOptions
from robot_identification.export.xml_editor import read_scene, Scene
from robot_identification.files import read_text
from robot_identification.model import IdentifiedModel, smallest_eigenvalues
from robot_identification.recording import parse_joint_names
from robot_identification.simulation import import_mujoco

_FIRST_ELEMENT = re.compile(rb'<([A-Za-z_][^\s/>]*)')
ORIENTATIONS = ('quat', 'diaginertia', 'axisangle', 'xyaxes', 'zaxis', 'euler')
# Part of gravity by which that of a scene may differ without a word, chosen: 9.81 for 9.82, or a
# degree of mounting.
SAME_GRAVITY = 0.02


@dataclass(frozen=True, eq=False)
class _Target:
    """A scene as MuJoCo has read it: the bodies of the arm's joints, at position zero."""

    compiled: Any
    joints: list[int]  # MuJoCo's numbers of the arm's joints and bodies, in kinematic order
    bodies: list[int]
    poses: dict[int, pin.SE3]  # of every body in the world
    axes: ArmAxes


def is_scene(path: Path) -> bool:
    """Return whether a file is MJCF; a URDF, or what is no XML, is not."""
    read_text(path)
    first = _FIRST_ELEMENT.search(re.sub(rb'<!--.*?-->', b'', path.read_bytes(), flags=re.S))
    return first is not None and first[1] == b'mujoco'


def make_mjcf(model: IdentifiedModel, into: Path, options: ExportOptions) -> ChangedFiles:
    """
    Return a scene with the identified bodies, rotors and friction of the joints named alike.

    The arm may stand anywhere, and its bodies may have other frames than the description's links;
    the axes of its joints must be the description's within `alignment.SAME_AXIS` at position zero.
    Raises UsageError if there is no such file, a joint is missing, MuJoCo is not installed, or a
    class default would be overridden; DescriptionError, naming body or joint, if the scene is
    another arm or cannot hold what was identified; InconsistentModelError as `exported_arm`.
    """
    if options.friction_form == LUGRE:
        raise UsageError(
            f'{LUGRE} friction is an actuator, and {into} keeps those that it has: name another '
            f'form, or write a file of its own by --mjcf without --into'
        )
    mujoco = import_mujoco('export into an MJCF scene')
    arm = exported_arm(model)
    frictions = fit_all_frictions(model, options.friction_form)
    wanted = [joint_values(*pair) for pair in zip(arm.joints, frictions, strict=True)]
    scene = read_scene(into)
    own = {known: name for name, known in parse_joint_names(options.joint_names).items()}
    names = [own.get(joint.name, joint.name) for joint in arm.joints]
    elements = _find_joints(scene, names, into, arm)
    target = _understand(mujoco, _compile(mujoco, into, {}), names, model, into)
    aligned = align_arms(_described_axes(arm, names), target.axes, str(into))
    inertials = _own_inertials(model, arm, target, aligned.poses, options, into)
    _check_joints(elements, target, options, into)
    links = []
    for k, element in enumerate(elements):
        body = next(element.iterancestors('body'))
        before = _inertia_of(target.compiled, target.bodies[k]).toDynamicParameters()
        if _differ(before, inertials[k].toDynamicParameters()):
            _write_inertial(scene, body, inertials[k])
            links.append(change_of_link(
                body.get('name', names[k]), before, inertials[k].toDynamicParameters()
            ))
        _write_joint(scene, element, wanted[k], _joint_values(target, k))
    after = {path: editor.result() for path, editor in scene.editors.items()}
    _check_reading(
        _understand(mujoco, _compile(mujoco, into, after), names, model, into),
        wanted, inertials, names, into,
    )
    return ChangedFiles(
        into, {path: editor.data for path, editor in scene.editors.items()}, after, tuple(links),
        float(sum(target.compiled.body_mass[body] for body in target.bodies)),
        float(sum(inertia.mass for inertia in inertials)),
        tuple(filter(None, (aligned.misfit, _gravity_note(arm, target, aligned)))),
    )


def _find_joints(scene: Scene, names: list[str], into: Path, arm: ExportedArm) -> list[Any]:
    found = scene.joints()
    lacking = [name for name in names if name not in found]
    if lacking:
        raise UsageError(
            f'{into} has no joint {lacking[0]!r:.80} of the model of {arm.name}; its joints are '
            f'{", ".join(found)[:400] or "without names"}: where names differ, give '
            '--joint-names SCENE=MODEL,SCENE=MODEL,..'
        )
    return [found[name] for name in names]


def _compile(mujoco: Any, into: Path, changed: Mapping[Path, bytes]) -> Any:
    """Return what MuJoCo makes of a scene whose files have other contents."""
    try:
        # What a file includes is looked up among these by its name, without its folder.
        return mujoco.MjModel.from_xml_path(
            str(into), {path.name: data for path, data in changed.items()}
        )
    except ValueError as error:
        raise DescriptionError(f'{into}: MuJoCo does not read it: {error}') from error


def _understand(
    mujoco: Any, compiled: Any, names: list[str], model: IdentifiedModel, into: Path
) -> _Target:
    numbers = [
        mujoco.mj_name2id(compiled, mujoco.mjtObj.mjOBJ_JOINT, name) for name in names
    ]
    if min(numbers) < 0:
        name = names[numbers.index(-1)]
        raise DescriptionError(
            f'{into}: joint {name!r:.80} has another name once MuJoCo has read it: name the file '
            'in which it stands, without <attach> or <replicate> around it'
        )
    data = mujoco.MjData(compiled)
    for name, position in model.robot.locked.items():
        number = mujoco.mj_name2id(compiled, mujoco.mjtObj.mjOBJ_JOINT, name)
        if number >= 0:
            data.qpos[compiled.jnt_qposadr[number]] = position
    data.qpos[compiled.jnt_qposadr[numbers]] = 0.0
    mujoco.mj_kinematics(compiled, data)
    bodies = [int(compiled.jnt_bodyid[number]) for number in numbers]
    for name, body in zip(names, bodies, strict=True):
        if compiled.body_jntnum[body] != 1:
            raise DescriptionError(
                f'{into}: the body of joint {name!r:.80} has {compiled.body_jntnum[body]} joints, '
                'and the model knows bodies with one: give each joint a body of its own'
            )
    poses = {
        body: pin.SE3(data.xmat[body].reshape(3, 3).copy(), data.xpos[body].copy())
        for body in range(compiled.nbody)
    }
    slide, hinge = (int(kind) for kind in (
        mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
    ))
    kinds = [int(compiled.jnt_type[number]) for number in numbers]
    for name, kind in zip(names, kinds, strict=True):
        if kind not in (slide, hinge):
            raise DescriptionError(
                f'{into}: joint {name!r:.80} is neither hinge nor slide, as the model has it'
            )
    return _Target(compiled, numbers, bodies, poses, ArmAxes(
        tuple(names), tuple(_joint_before(compiled, body, bodies) for body in bodies),
        tuple(kind == slide for kind in kinds), tuple(poses[body] for body in bodies),
        data.xanchor[numbers].copy(), data.xaxis[numbers].copy(),
    ))


def _joint_before(compiled: Any, body: int, bodies: list[int]) -> int:
    """Return the index of the arm's body that carries one; -1 is what stands still."""
    above = int(compiled.body_parentid[body])
    while above and above not in bodies:
        above = int(compiled.body_parentid[above])
    return bodies.index(above) if above else -1


def _described_axes(arm: ExportedArm, names: list[str]) -> ArmAxes:
    """Return the arm of the description at position zero, in the frame of its root link."""
    poses: list[pin.SE3] = []
    for joint in arm.joints:
        before = pin.SE3.Identity() if joint.parent < 0 else poses[joint.parent]
        poses.append(before * joint.placement)
    return ArmAxes(
        tuple(names), tuple(joint.parent for joint in arm.joints),
        tuple(joint.is_prismatic for joint in arm.joints), tuple(poses),
        np.array([pose.translation for pose in poses]),
        np.array([
            pose.rotation @ joint.axis for pose, joint in zip(poses, arm.joints, strict=True)
        ]),
    )


def _gravity_note(arm: ExportedArm, target: _Target, aligned: Alignment) -> str:
    """Return what is to be said of a scene with another gravity, relative to the arm's base."""
    given, identified = np.asarray(target.compiled.opt.gravity), aligned.rotation @ arm.gravity
    if np.linalg.norm(given - identified) <= SAME_GRAVITY * np.linalg.norm(identified):
        return ''
    return (
        f'gravity is {shown_vector(given)} m/s^2 in the scene; as the arm stands there, it was '
        f'identified in {shown_vector(identified)} m/s^2'
    )


def _inertia_of(compiled: Any, body: int) -> pin.Inertia:
    """Return the inertia of a body in its own frame, as MuJoCo has it."""
    w, x, y, z = compiled.body_iquat[body]
    rotation = pin.Quaternion(w, x, y, z).toRotationMatrix()
    moments = rotation @ np.diag(compiled.body_inertia[body]) @ rotation.T
    return pin.Inertia(float(compiled.body_mass[body]), compiled.body_ipos[body], moments)


def _own_inertials(
    model: IdentifiedModel, arm: ExportedArm, target: _Target, poses: tuple[pin.SE3, ...],
    options: ExportOptions, into: Path,
) -> list[pin.Inertia]:
    """Return the inertials of the arm's bodies, without what is fixed to them."""
    compiled, known = target.compiled, {link.name for link in model.robot.urdf.links}
    found = []
    for k, body in enumerate(target.bodies):
        frame = target.poses[body].actInv(poses[k])
        left = arm.joints[k].body.se3Action(frame).toDynamicParameters()
        carried = []
        for other in _carried_bodies(compiled, body, target.bodies):
            name = compiled.body(other).name
            if compiled.body_mass[other] == 0.0 or name in options.extra_bodies:
                continue
            if name not in known:
                raise DescriptionError(
                    f'{into}: body {name!r:.80} ({compiled.body_mass[other]:.4g} kg) is on the '
                    f'arm, and the description of {arm.name} has no such link: name it by '
                    '--extra-bodies if it was not there when the arm was identified; else '
                    'identify the arm with a description that has it'
                )
            carried.append(name)
            place = target.poses[body].actInv(target.poses[other])
            left -= _inertia_of(compiled, other).se3Action(place).toDynamicParameters()
        if not smallest_eigenvalues(left)[0] > 0.0:
            raise DescriptionError(
                f'{into}: no body is left for the link of {arm.joints[k].name!r:.80} once '
                f'{", ".join(carried)[:200]} are taken from what was identified: give these less '
                'mass, or make them part of their link'
            )
        found.append(pin.Inertia.FromDynamicParameters(left))
    return found


def _carried_bodies(compiled: Any, body: int, bodies: list[int]) -> list[int]:
    """Return the bodies that move with one of the arm, without those of its next joints."""
    found: list[int] = []
    for other in range(body + 1, compiled.nbody):
        if int(compiled.body_parentid[other]) in (body, *found) and other not in bodies:
            found.append(other)
    return found


def _check_joints(
    elements: list[Any], target: _Target, options: ExportOptions, into: Path
) -> None:
    """Refuse joints whose numbers would come from elsewhere as well."""
    compiled = target.compiled
    for k, element in enumerate(elements):
        name = element.get('name')
        for actuator in range(compiled.nu):
            drives = compiled.actuator_trntype[actuator] in (0, 1) \
                and compiled.actuator_trnid[actuator][0] == target.joints[k]
            for attribute in ('armature', 'damping'):
                values = getattr(compiled, f'actuator_{attribute}', np.zeros(compiled.nu))
                if drives and values[actuator] != 0.0:
                    raise DescriptionError(
                        f'{into}: actuator {compiled.actuator(actuator).name!r:.80} adds '
                        f'{attribute} {values[actuator]:.4g} to joint {name!r:.80}, whose own was '
                        'identified as a whole: take it out of the actuator'
                    )
        if 'springdamper' in element.attrib:
            raise DescriptionError(
                f'{into}: joint {name!r:.80} has springdamper, which overrides its damping: say '
                'its stiffness instead'
            )
        for attribute, value in _joint_values(target, k).items():
            # MuJoCo's own defaults are zero.
            if value.any() and attribute not in element.attrib and not options.override_defaults:
                raise UsageError(
                    f'{into}: joint {name!r:.80} takes {attribute} {numbers_text(value[:1])} from '
                    'a class of defaults, and an attribute of its own would override that: add '
                    '--override-defaults to write it (the class stays as it is)'
                )


def _joint_values(target: _Target, index: int) -> dict[str, FloatArray]:
    """Return what MuJoCo has for the attributes of a joint, by attribute."""
    compiled = target.compiled
    dof = int(compiled.jnt_dofadr[target.joints[index]])
    polynomial = getattr(compiled, 'dof_dampingpoly', np.zeros((compiled.nv, 0)))
    return {
        'armature': np.array([compiled.dof_armature[dof]]),
        'damping': np.array([compiled.dof_damping[dof], *np.ravel(polynomial[dof])]),
        'frictionloss': np.array([compiled.dof_frictionloss[dof]]),
    }


def _differ(before: FloatArray, after: FloatArray) -> bool:
    largest = max(float(np.abs(before).max()), float(np.abs(after).max()))
    return bool(np.abs(before - after).max() > ROUNDING * largest)


def _write_inertial(scene: Scene, body: Any, inertia: pin.Inertia) -> None:
    values = inertial_attributes(inertia)
    old = body.find('inertial')
    if old is None:
        scene.editor_of(body).insert(body, etree.Element('inertial', values))
    else:
        scene.editor_of(old).set_attributes(old, values, ORIENTATIONS)


def _write_joint(
    scene: Scene, element: Any, wanted: Mapping[str, FloatArray],
    before: Mapping[str, FloatArray],
) -> None:
    values = {
        attribute: numbers_text(value) for attribute, value in wanted.items()
        if _differ(_of_length(value, before[attribute]), before[attribute])
    }
    if values:
        scene.editor_of(element).set_attributes(element, values)


def _of_length(values: FloatArray, like: FloatArray) -> FloatArray:
    """Return values with zeros after them, as MuJoCo takes what is not said."""
    return np.append(values, np.zeros(max(len(like) - len(values), 0)))


def _check_reading(
    target: _Target, joints: list[dict[str, FloatArray]], inertials: list[pin.Inertia],
    names: list[str], into: Path,
) -> None:
    """Refuse a scene in which MuJoCo would not see what was written."""
    remedy = (
        'an element <compiler> (inertiafromgeom, settotalmass, boundmass, boundinertia, '
        'balanceinertia), a scaled <frame> or a springdamper changes it: take that out'
    )
    for k, name in enumerate(names):
        found = _inertia_of(target.compiled, target.bodies[k]).toDynamicParameters()
        wanted = inertials[k].toDynamicParameters()
        if _differ(found, wanted):
            raise DescriptionError(
                f'{into}: of the body of joint {name!r:.80} MuJoCo reads a mass of {found[0]:.6g} '
                f'kg and {np.linalg.norm(found - wanted):.3g} of other inertial parameters, and '
                f'{wanted[0]:.6g} kg were written: {remedy}'
            )
        for attribute, values in _joint_values(target, k).items():
            value = _of_length(joints[k][attribute], values)
            if len(value) != len(values) or _differ(values, value):
                raise DescriptionError(
                    f'{into}: joint {name!r:.80} has {attribute} {numbers_text(values)} once '
                    f'MuJoCo has read it, and {numbers_text(value)} was written: {remedy}'
                )
