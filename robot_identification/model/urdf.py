# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Robot descriptions: read with suspicion, stripped of what dynamics do not need.

Nothing in the XML of a file or topic makes the parser read, grow or recurse. Pinocchio's URDF
parser turns a mass of ``1,5`` or ``nan`` into zero with a line on stderr, and takes inertias that
no body has, so the numbers are checked here, before it sees them. What is wrong with a link or
joint is kept with it (`Urdf.faults`) and refused by the arm that has it. Meshes and textures are
never opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
import re
from typing import Any
from xml.etree.ElementTree import Element, ParseError, SubElement, tostring, TreeBuilder
from xml.parsers.expat import errors

from defusedxml import DefusedXmlException, DTDForbidden
import defusedxml.ElementTree
from robot_identification.errors import DescriptionError, IdentificationError, UsageError
from robot_identification.files import read_text
from robot_identification.model.urdf_elements import (
    attribute_of, describe_free_joints, drop_lone_links, read_joints, read_links, UrdfFault,
    UrdfJoint, UrdfLink,
)
from robot_identification.model.xacro import expand_xacro, holds_xacro, MAXIMUM_URDF_CHARACTERS
from robot_identification.texts import short_repr

MAXIMUM_DEPTH = 100  # levels of elements, chosen: far more than any URDF has


class _ShallowTreeBuilder(TreeBuilder):
    """Builds a tree that is not deep: what walks over trees later does so by recursion."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self._source = source
        self._depth = 0

    def start(self, tag: str, attributes: dict[str, str], /) -> Element:
        self._depth += 1
        if self._depth > MAXIMUM_DEPTH:
            raise DescriptionError(
                f'{self._source}: element <{tag:.80}> is nested more than the {MAXIMUM_DEPTH} '
                'levels allowed; links and joints stand side by side in a URDF'
            )
        return super().start(tag, attributes)

    def end(self, tag: str, /) -> Element:
        self._depth -= 1
        return super().end(tag)


def _parse(text: str, source: str) -> Element:
    parser: Any = defusedxml.ElementTree.DefusedXMLParser(
        target=_ShallowTreeBuilder(source), forbid_dtd=True
    )
    try:
        parser.feed(text)
        root: Element = parser.close()
    except ParseError as error:
        declared = _declare_prefixes(text)
        unbound = errors.codes[errors.XML_ERROR_UNBOUND_PREFIX]
        if error.code != unbound or declared == text:
            raise
        return _parse(declared, source)
    return root


def _declare_prefixes(text: str) -> str:
    """Return a text whose root declares every prefix of its elements, as URDF parsers assume."""
    used = re.findall(r'[<\s]([A-Za-z_][\w.-]*):[A-Za-z_]', text, re.ASCII)
    declared = re.findall(r'xmlns:([\w.-]+)\s*=', text, re.ASCII)
    prefixes = sorted({*used} - {*declared} - {'xml', 'xmlns'})
    names = ''.join(f' xmlns:{prefix}="urn:{prefix}"' for prefix in prefixes)
    return re.sub(r'<robot\b', lambda match: match[0] + names, text, count=1)


def _drop_default_namespace(root: Element) -> None:
    """Take the namespace of the root off all names, as URDF parsers know of none."""
    space, closing, name = root.tag.rpartition('}')
    if not closing or name != 'robot':
        return
    for element in root.iter():
        element.tag = element.tag.removeprefix(space + closing)


def parse_robot_xml(text: str, source: str) -> Element:
    """
    Return the <robot> of a URDF text.

    Raises DescriptionError if the text is too long or too deep, has entities, is no XML, or xacro
    not expanded.
    """
    if len(text) > MAXIMUM_URDF_CHARACTERS:
        raise DescriptionError(
            f'{source}: {len(text)} characters, more than the {MAXIMUM_URDF_CHARACTERS} allowed'
        )
    try:
        root = _parse(text, source)
    except DTDForbidden as error:
        raise DescriptionError(
            f'{source} is not a URDF that parses: it has a DOCTYPE {error.name!r:.80}, and '
            'entities are not read; remove it'
        ) from error
    except (ParseError, ValueError, DefusedXmlException) as error:
        raise DescriptionError(f'{source} is not a URDF that parses: {error}') from error
    _drop_default_namespace(root)
    if root.tag != 'robot':
        raise DescriptionError(
            f'{source}: the root element is <{root.tag:.80}>, a URDF starts with <robot>'
        )
    for element in root.iter():
        if element.tag.startswith('{') and 'xacro' in element.tag.partition('}')[0]:
            raise DescriptionError(
                f'{source}: <xacro:{element.tag.partition("}")[2]:.80}> is not expanded: '
                'files are, a topic must carry the URDF'
            )
    return root


def read_fingers(path: Path, robot: str) -> tuple[str, ...]:
    """
    Return the joints of the end effectors in the SRDFs of a robot; none where there is none.

    They lie beside the URDF at `path`, or in a folder srdf or config beside its own.
    """
    found: list[str] = []
    for folder in (path.parent, path.parent / 'srdf', path.parent.parent / 'srdf',
                   path.parent.parent / 'config'):
        for file in sorted(folder.glob('*.srdf')):
            try:
                root: Any = defusedxml.ElementTree.fromstring(read_text(file), forbid_dtd=True)
            except (IdentificationError, DefusedXmlException, SyntaxError, ValueError):
                # What is no SRDF says nothing of the arm.
                continue
            if robot == root.get('name') or file.stem == path.stem:
                wanted = {effector.get('group') for effector in root.findall('end_effector')}
                found += [
                    str(joint.get('name'))
                    for group in root.findall('group') if group.get('name') in wanted
                    for joint in group.findall('joint')
                ]
    return tuple(dict.fromkeys(found))


# Chosen: far above any robot, so that a hostile description ends before Pinocchio builds it.
MAXIMUM_LINKS = 1000
# Root of a description for Drake, which need not name it as a link.
_WORLD = 'world'


@dataclass(frozen=True)
class Urdf:
    """A checked robot description."""

    name: str  # the robot's name in the URDF
    text: str  # the XML without meshes, visuals and everything that is neither link nor joint
    joints: tuple[UrdfJoint, ...]  # moving joints in the order of the file
    links: tuple[UrdfLink, ...]  # all links in the order of the file
    # Links and joints that are not as the file has them: their inertia and shapes are left out of
    # the text, and such a joint is a fixed one there.
    faults: tuple[UrdfFault, ...] = field(default=(), compare=False)
    # What is odd and used all the same, in sentences.
    remarks: tuple[str, ...] = field(default=(), compare=False)
    source: str = field(default='', compare=False)  # what it was read from
    # Joints that an SRDF beside the file counts to an end effector.
    fingers: tuple[str, ...] = field(default=(), compare=False)
    # By joint: the joints from the root to it, itself included.
    chains: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    __repr__ = short_repr

    @property
    def mimic_joints(self) -> tuple[UrdfJoint, ...]:
        """Return the moving joints that follow another one, in the order of the file."""
        return tuple(joint for joint in self.joints if joint.mimic is not None)

    @property
    def links_without_inertial(self) -> tuple[str, ...]:
        """Links that a moving joint carries and that have no mass of their own."""
        moving = {joint.name for joint in self.joints}
        return tuple(
            link.name for link in self.links if link.joint in moving and link.mass == 0.0
        )

    @property
    def point_masses(self) -> tuple[str, ...]:
        """Links that have mass and no inertia about its centre."""
        return tuple(link.name for link in self.links if link.is_point_mass)


def read_urdf(path: Path, *, arguments: Mapping[str, str] | None = None) -> Urdf:
    """
    Read and check a URDF file, or a xacro file (``.xacro``), which is expanded first.

    `arguments` are values of the xacro's arguments by name. Raises UsageError if there is no such
    file, or arguments are given for a file that is not xacro; MissingDependencyError if the
    program that expands xacro is not installed; DescriptionError if the description cannot be used
    for dynamics, with the link or joint in the message.
    """
    urdf = parse_urdf(read_urdf_text(path, arguments), str(path))
    return replace(urdf, fingers=read_fingers(path, urdf.name))


def read_urdf_text(path: Path, arguments: Mapping[str, str] | None = None) -> str:
    """Return the text of a URDF file, or of a xacro file expanded, unchecked; see `read_urdf`."""
    text = read_text(path)
    if holds_xacro(path, text):
        return expand_xacro(path, arguments or {})
    if arguments:
        raise UsageError(
            f'{path} is not xacro and takes no arguments: leave out {", ".join(arguments)}'
        )
    return text


def parse_urdf(text: str, source: str) -> Urdf:
    """
    Check a URDF text, whose name in errors is `source`.

    What is wrong with single links and joints is kept in `faults`. Raises DescriptionError if the
    description is no tree of links and joints, or none of them moves.
    """
    root = parse_robot_xml(text, source)
    try:
        urdf = _read_robot(root)
    except DescriptionError as error:
        raise DescriptionError(f'{source}: {error}') from error
    faults = tuple(
        replace(fault, message=f'{source}: {fault.message}') for fault in urdf.faults
    )
    if not urdf.joints:
        raise DescriptionError(
            faults[0].message if faults else f'{source}: no moving joint, nothing to identify'
        )
    if not urdf.name:
        # Parsers of others refuse a robot without one.
        root.set('name', Path(source).stem)
    return replace(
        urdf, name=root.get('name', ''), text=tostring(root, encoding='unicode'), faults=faults,
        source=source,
    )


def _read_robot(root: Element) -> Urdf:
    """Return a description without its text, which is what is left of `root`."""
    links, joints = _named(root, 'link'), _named(root, 'joint')
    if not links:
        raise DescriptionError(
            'no moving joint, nor a link; a xacro that only defines macros is used by another '
            'file: name that one'
        )
    remarks = _add_world(root, links, joints)
    remarks += drop_lone_links(root, links, joints)
    for what, elements in (('links', links), ('joints', joints)):
        if len(elements) > MAXIMUM_LINKS:
            raise DescriptionError(
                f'{len(elements)} {what}, more than the {MAXIMUM_LINKS} supported'
            )
    parents = _read_parents(links, joints)
    chains = _read_chains(links, parents)
    _strip(root)
    moving, faults = read_joints(joints)
    turning = {name for name, joint in joints.items() if joint.get('type') != 'fixed'}
    moved = {link for link, (joint, _) in parents.items() if turning & set(chains[joint])}
    checked, more, repaired = read_links(links, joints, parents, moved)
    remarks += [*repaired, *describe_free_joints(faults)]
    return Urdf(
        root.get('name', ''), '', tuple(moving), tuple(checked), tuple(faults + more),
        tuple(remarks), chains=chains,
    )


def _named(root: Element, tag: str) -> dict[str, Element]:
    elements: dict[str, Element] = {}
    for element in root.findall(tag):
        name = element.get('name', '')
        if not name:
            raise DescriptionError(
                f'{tag} number {len(elements) + 1} has no name; give it one'
            )
        if not name.isprintable():
            raise DescriptionError(
                f'the {tag} {name!r:.80} has characters that cannot be printed; names go into '
                'logs and reports, so take letters, digits and signs'
            )
        if name in elements:
            raise DescriptionError(f'the {tag} {name!r:.80} is given twice; names must differ')
        elements[name] = element
    return elements


def _add_world(
    root: Element, links: dict[str, Element], joints: dict[str, Element]
) -> list[str]:
    """Add the link 'world' if a joint hangs on it and none has this name, and return a remark."""
    if _WORLD in links:
        return []
    for name, joint in joints.items():
        parent = joint.find('parent')
        if parent is not None and parent.get('link') == _WORLD:
            links[_WORLD] = SubElement(root, 'link', name=_WORLD)
            return [
                f'the link {_WORLD!r} is added: the joint {name!r:.80} hangs on it, and ROS needs '
                'it in the file'
            ]
    return []


def _read_parents(
    links: dict[str, Element], joints: dict[str, Element]
) -> dict[str, tuple[str, str]]:
    """Return joint and parent link of every link that hangs on a joint."""
    parents: dict[str, tuple[str, str]] = {}
    for name, joint in joints.items():
        parent, child = (attribute_of(joint, tag, 'link') for tag in ('parent', 'child'))
        for link_name in (parent, child):
            if link_name not in links:
                raise DescriptionError(
                    f'joint {name!r:.80} names the link {link_name!r:.80}, which does not exist; '
                    'correct the name, or add the link'
                )
        if child in parents:
            raise DescriptionError(
                f'link {child!r:.80} hangs on two joints, {parents[child][0]!r:.80} and '
                f'{name!r:.80}; it may hang on one'
            )
        parents[child] = (name, parent)
    return parents


def _read_chains(
    links: dict[str, Element], parents: dict[str, tuple[str, str]]
) -> dict[str, tuple[str, ...]]:
    """Return the `Urdf.chains`, after checking that links and joints are one tree."""
    chains: dict[str, tuple[str, ...]] = {}
    for link in parents:
        way: dict[str, str] = {}  # joint by link, towards the root
        while link in parents and parents[link][0] not in chains:
            joint, parent = parents[link]
            way[link] = joint
            if parent in way:
                raise DescriptionError(
                    f'the joints around link {parent!r:.80} form a ring, closed by joint '
                    f'{joint!r:.80}; an arm is a tree'
                )
            link = parent
        chain = chains[parents[link][0]] if link in parents else ()
        for joint in reversed(way.values()):
            chain = chains[joint] = (*chain, joint)
    roots = [link for link in links if link not in parents]
    if len(roots) != 1:
        raise DescriptionError(
            f'{len(roots)} links hang on no joint ({", ".join(roots[:5]):.400}); an arm has '
            'exactly one root link'
        )
    return chains


def _strip(root: Element) -> None:
    """Drop what dynamics and simple collision shapes do not need, in place."""
    root[:] = [element for element in root if element.tag in ('link', 'joint')]
    for link in root.findall('link'):
        link[:] = [
            child for child in link if child.tag == 'inertial'
            or (child.tag == 'collision' and child.find('geometry/mesh') is None)
        ]
    # Not <dynamics>: its meaning is ours (friction columns), and Pinocchio ignores it in rnea.
    kept = ('origin', 'parent', 'child', 'axis', 'limit', 'mimic')
    for joint in root.findall('joint'):
        joint[:] = [child for child in joint if child.tag in kept]
    _trim_numbers(root)


def _trim_numbers(root: Element) -> None:
    """Leave out blanks around numbers and endless limits, which URDF parsers do not read."""
    names = ('name', 'link', 'joint', 'type', 'filename')
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if element.tag == 'limit' and 'inf' in value.lower():
                del element.attrib[key]
            elif key not in names and (value != value.strip() or {*'\n\t'} & {*value}):
                element.set(key, ' '.join(value.split()))
