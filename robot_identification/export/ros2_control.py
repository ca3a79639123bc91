# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write what plugins and controllers of ros2_control need beside the exported URDF, as YAML."""

from dataclasses import dataclass
import textwrap

from lxml import etree
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.export.arm import links_of_joints
from robot_identification.export.urdf import export_urdf
from robot_identification.model import IdentifiedModel, parse_urdf, tool_frame
import yaml

# Joints of every Universal Robot, which the driver's services take one value for each of.
UR_JOINTS = 6
SOLVER = (
    'Parameters of an inverse-dynamics plugin (kdl_inverse_dynamics_solver or alike), in its '
    'namespace, beside robot_description from `export --urdf`. Neither rotors nor friction are in '
    'a URDF, and so not in its torques. Its vectors have this order:'
)
DRIVER = (
    'A Universal Robot in direct torque control (PolyScope 5.25.1, 10.12.1 and later) adds '
    'gravity and its own friction itself. What it has to know of this arm:'
)
SCALES = (
    'Scales of its own friction, for a controller that feeds the identified friction forward. '
    'Without one leave them as they are:'
)


@dataclass(frozen=True, eq=False)
class _Chain:
    """The links that a plugin takes its bodies from."""

    # Names of the first and of the last link.
    root: str
    tip: str
    gravity: FloatArray  # (3,): in the frame of the root [m/s^2]
    left_out: dict[str, float]  # masses [kg] that the joints move and no link of the chain has


def export_ros2_control(model: IdentifiedModel) -> str:
    """
    Return root, tip and gravity for an inverse-dynamics plugin, as YAML.

    Calls of the services of ur_robot_driver are in comments, for arms of six joints. Raises as
    `check_consistent`, and UsageError if the model's joints are not all those of one chain.
    """
    robot, chain = model.robot, _find_chain(model)
    gravity = [float(value) + 0.0 for value in chain.gravity]
    parameters = {'root': chain.root, 'tip': chain.tip, 'gravity': gravity}
    text = _comment(
        f'{robot.name}, identified by robot_identification. {SOLVER} '
        f'{", ".join(robot.joint_names)}.'
    ) + _comment(_describe(chain))
    text += yaml.safe_dump(
        {'/**': {'ros__parameters': parameters}}, sort_keys=False, default_flow_style=None
    )
    if robot.n != UR_JOINTS:
        return text
    x, y, z = (repr(value) for value in gravity)
    header = f'header: {{frame_id: {chain.root}}}'
    none = repr([0.0] * UR_JOINTS)
    return text + _comment(DRIVER) + (
        '# ros2 service call /gravity_update_controller/set_gravity ur_msgs/srv/SetGravity '
        f'"{{gravity: {{{header}, vector: {{x: {x}, y: {y}, z: {z}}}}}}}"'
        '\n'
    ) + _comment(SCALES) + (
        '# ros2 service call /friction_model_controller/set_friction_model_parameters '
        'ur_msgs/srv/SetFrictionModelParameters '
        f'"{{parameters: {{viscous_scale: {none}, coulomb_scale: {none}}}}}"\n'
    )


def describe_left_out(model: IdentifiedModel) -> str:
    """Return the masses that inverse-dynamics plugins miss in the exported URDF, or nothing."""
    return _describe(_find_chain(model))


def _describe(chain: _Chain) -> str:
    if not chain.left_out:
        return ''
    masses = ', '.join(f'{name} {mass:.3g} kg' for name, mass in chain.left_out.items())
    return (
        f'Inverse-dynamics plugins miss what is on no link from {chain.root} to {chain.tip}: '
        f'{masses}; unless the URDF comes by --into from a file without their <inertial>, so that '
        'the links that carry them have their mass.'
    )


def _find_chain(model: IdentifiedModel) -> _Chain:
    """Return the chain with all moving joints and no other, and with the most of their mass."""
    robot = model.robot
    urdf = parse_urdf(export_urdf(model), robot.name)
    tree = etree.fromstring(urdf.text)
    base, carried = links_of_joints(urdf.text)
    # By link: the link before it, and the joint between them, None where it is fixed.
    before: dict[str, tuple[str, str | None]] = {}
    for joint in tree.findall('joint'):
        before[carried[joint.get('name')]] = (
            joint.find('parent').get('link'),
            None if joint.get('type') == 'fixed' else joint.get('name'),
        )

    def stiff(link: str) -> list[str]:
        """Return a link and those before it up to a joint that is not fixed."""
        links = [link]
        while links[-1] in before and before[links[-1]][1] is None:
            links.append(before[links[-1]][0])
        return links

    masses = {link.name: link.mass for link in urdf.links}
    last, usual = carried[robot.joint_names[-1]], tool_frame(robot)
    tip = max(
        (link for link in masses if stiff(link)[-1] == last),
        key=lambda link: (sum(masses[other] for other in stiff(link)), link == usual),
    )
    root = stiff(before[carried[robot.joint_names[0]]][0])[-1]
    links = [tip]
    while links[-1] not in (root, base):
        links.append(before[links[-1]][0])
    moving = [name for link in links[-2::-1] if (name := before[link][1]) is not None]
    if links[-1] != root or moving != list(robot.joint_names):
        raise UsageError(
            f'no parameters of inverse-dynamics plugins for {robot.name}: its URDF moves {tip} by '
            f'{", ".join(moving)}, the model by {", ".join(robot.joint_names)}; identify a single '
            'chain, with a URDF whose other joints on the way are of type fixed'
        )
    gravity = robot.mounting_gravity
    if root != base:
        number = robot.pinocchio.getFrameId(root, pin.FrameType.BODY)
        gravity = robot.pinocchio.frames[number].placement.rotation.T @ gravity
    left_out = (robot.carried_links & masses.keys()).difference(links)
    return _Chain(root, tip, gravity, {
        name: mass for name, mass in masses.items() if name in left_out and mass > 0.0
    })


def _comment(text: str) -> str:
    return ''.join(f'# {line}\n' for line in textwrap.wrap(text, 95))
