# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Shared parts of the launch files: arguments declared once, and how nodes and files start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
import signal
import sys
import tempfile
from typing import Any

from launch import Action, Condition, LaunchContext, Substitution
from launch.actions import (
    DeclareLaunchArgument, GroupAction, IncludeLaunchDescription, LogInfo, OpaqueFunction,
    RegisterEventHandler, Shutdown, UnsetLaunchConfiguration,
)
from launch.event_handlers import OnProcessExit
from launch.launch_description_sources import get_launch_description_from_any_launch_file
from launch.logging import launch_config
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile
from launch_ros.substitutions import FindPackageShare
from robot_identification.errors import UsageError
from robot_identification.files import dump_yaml
from robot_identification.model import (
    find_urdf, find_xacro_arguments, load_robot, read_description, STATED_UNITS, with_prefix,
)
from robot_identification.nodes.foreign_arguments import DeclaredArguments, names_beyond
from robot_identification.options import options_of
from robot_identification.simulation import SimulatedArmOptions
import yaml


@dataclass(frozen=True)
class Argument:
    """
    One launch argument, typed as `name:=value`.

    `kind` is the type of the node's parameter; a bool takes true or false only. Without `choices`
    any value is taken.
    """

    name: str
    default: str
    description: str
    kind: Any = str
    choices: tuple[str, ...] = ()

    def declare(self) -> DeclareLaunchArgument:
        """Return the action that declares it."""
        choices = ('true', 'false') if self.kind is bool else self.choices
        return DeclareLaunchArgument(
            self.name, default_value=self.default, description=self.description,
            choices=list(choices) or None,
        )

    def value_of(self, text: str) -> Any:
        """
        Return the value of a parameter, None of one that is not set.

        In a list of numbers some may be whole. Raises RuntimeError, with an example, if the text
        is no value of the kind.
        """
        if self.kind is bool:
            return text == 'true'
        if self.kind is str:
            return text
        if not text and not self.default:
            return None
        try:
            return _converted(text, self.kind)
        except (ValueError, yaml.YAMLError) as error:
            wanted, example = EXPECTED[self.kind]
            raise RuntimeError(
                f'{self.name}:={text}: {wanted} is needed, such as '
                f'{self.name}:="{self.default or example}"'
            ) from error


def _converted(text: str, kind: Any) -> Any:
    """Return a text as a number or a list of a kind; raise ValueError if it is none."""
    if kind in (int, float):
        return kind(text)
    values = yaml.safe_load(text)
    if not isinstance(values, list):
        raise ValueError(text)
    if kind == list[float]:
        # Of a number without a decimal point, such as 2e-3, YAML makes a text.
        return [float(str(value)) for value in values]
    if not all(isinstance(value, str) for value in values):
        raise ValueError(text)
    return values


# What a value of a kind is, and an example where the default is empty.
EXPECTED: dict[Any, tuple[str, str]] = {
    int: ('a whole number', ''), float: ('a number', ''),
    list[float]: ('a YAML list of numbers', '[0.0, 1.5]'),
    list[str]: ('a YAML list of texts', '[one, two]'),
}
# Arguments that are no parameters of a node.
NO_PARAMETERS = ('namespace', 'params_file', 'joint_states')
# Of a process that SIGINT has ended: 128 + SIGINT, as our nodes and shells have it, or by default.
INTERRUPTED_CODES = (128 + signal.SIGINT, -signal.SIGINT)
UNIT_CHOICES = ('', *STATED_UNITS)  # of the effort; empty: not stated
SHARED = {argument.name: argument for argument in (
    Argument('use_sim', 'true', 'Start a simulated robot and run the experiment on it.', bool),
    Argument('ur_type', 'ur5', 'Known robot (a type of the UR driver is one), or the path of a '
             'robot YAML.'),
    Argument('namespace', '', 'Namespace of the nodes, so that several arms can run side by '
             'side.'),
    Argument('tf_prefix', '', 'Prefix of every joint and link name, as given to the driver.'),
    Argument('mounting', '[0.0, 0.0, 0.0]', 'Roll, pitch and yaw of the base in the world '
             '[rad], as a YAML list.', list[float]),
    Argument('joint_states', 'joint_states', 'Topic of the joint states.'),
    Argument('use_sim_time', 'false', 'Take the time from /clock.', bool),
    Argument('params_file', '', 'YAML file of node parameters, whose values win over the defaults '
             'of arguments; what is typed wins over the file.'),
    Argument('allowed_read_roots', '', 'Folders below which files may be read, as a YAML '
             'list; empty: ~/.ros/robot_identification and the working directory.', list[str]),
    Argument('allowed_write_roots', '', 'Folders below which files may be written, as a '
             'YAML list; empty: as for reading.', list[str]),
    Argument('experiment', 'demo', 'Experiment file, or the name of a shipped one.'),
    Argument('output', 'experiment', 'Folder for trajectories, bags and the result.'),
    Argument('trajectory_file', '', 'Certified trajectory; empty: the coordinator requests a new '
             'one.'),
    Argument('program', 'record', 'Sequence of services that the coordinator calls.',
             choices=('excitation', 'record', 'static_poses', 'payload', 'temperature')),
    Argument('launch_coordinator', 'false', 'Start the coordinator, which calls all services in '
             'order; with a driver all but ~/arm.', bool),
    Argument('maximum_runs', '30', 'Maximum number of runs of a temperature study.', int),
    Argument('maximum_minutes', '60.0', 'Maximum duration of a temperature study [min].', float),
    Argument('dry_run', 'true', 'Check and plan everything, send nothing to a real arm.', bool),
    Argument('commissioning', 'true', 'Require a recorded dry run and slow run before full '
             'speed; the simulated robot needs none.', bool),
    Argument('periods', '0', 'Number of periods of the motion; 0: as in the file.', int),
    Argument('speed', '1.0', 'Fraction of the planned speed, 0.02 to 1.', float),
    Argument('controller', '', 'Name of the trajectory controller; empty: the active one.'),
    Argument('interface', 'auto', 'How the motion is sent; auto: by the action where it is '
             'offered.', choices=('auto', 'action', 'topic')),
    Argument('watch_safety', 'true', 'Require the safety mode, robot mode and program state of a '
             'UR driver; false only for an arm whose driver has none.', bool),
    Argument('serial', '', 'Serial number of the arm; each arm is commissioned on its own.'),
    Argument('payload', '', 'Mass [kg] and centre of mass in the tool frame [m] of the '
             'payload, [0.0] for none; required for a real arm.', list[float]),
    Argument('effort_unit', '', 'Unit of the effort; empty: that of the bag or the robot YAML.',
             choices=UNIT_CHOICES),
    Argument('drive_gains', '', 'Joint torque per motor current [N m/A], as a YAML list in '
             'kinematic order; empty: those of the robot YAML.', list[float]),
    Argument('model_file', '', 'identified_model.yaml to predict with; empty: none yet, it can '
             'be set as a parameter later.'),
    Argument('real_time_factor', '1.0', 'Simulated over wall-clock time; other than 1 publishes '
             '/clock, and needs use_sim_time:=true.', float),
    Argument('truth_seed', '0', 'Seed of the true parameters of the simulated robot.', int),
    *(
        Argument(
            one.key, str(one.parameter_default).lower(),
            f'Of the simulated arm: {one.parameter_description}.', one.kind,
        )
        for one in options_of(SimulatedArmOptions)
    ),
    Argument('launch_rviz', 'false', 'Start RViz with the shipped layout.', bool),
    Argument('initial_joint_controller', '', 'Of the driver: the controller that is active at the '
             "start; empty: the driver's default."),
)}

# Of the simulated robot.
SIMULATED = (
    'real_time_factor', 'truth_seed', *(one.key for one in options_of(SimulatedArmOptions)),
)
# What nodes read and write.
FILES = ('params_file', 'allowed_read_roots', 'allowed_write_roots')
ARM = ('ur_type', 'mounting', 'tf_prefix')
# Arguments of an experiment with any driver.
BESIDE_DRIVER = (
    *ARM, 'joint_states', 'experiment', 'output', 'trajectory_file', 'program',
    'launch_coordinator', 'dry_run', 'commissioning', 'periods', 'speed', 'controller',
    'interface', 'model_file', 'launch_rviz', *FILES,
)


def arguments(*items: str | Argument, **defaults: str) -> tuple[Argument, ...]:
    """Return the arguments of a launch file: shared ones by name, its own, and other defaults."""
    shared = {name: replace(SHARED[name], default=default) for name, default in defaults.items()}
    return tuple(dict.fromkeys(
        item if isinstance(item, Argument) else shared.get(item, SHARED[item]) for item in items
    ))


def declare(declared: Iterable[Argument]) -> list[Action]:
    """
    Return the actions that declare arguments, and look at the names and values given.

    Before anything starts RuntimeError is raised for a value of another kind, and UsageError for
    an unknown robot, with the known names, or a params_file that does not exist.
    """
    declared = tuple(declared)

    def check_values(context: LaunchContext) -> None:
        for argument in declared:
            text = context.launch_configurations[argument.name]
            argument.value_of(text)
            if argument.name == 'ur_type':
                find_urdf(text)
            if argument.name == 'params_file' and text and not Path(text).is_file():
                raise UsageError(f'params_file:={text}: no such file in {Path.cwd()}')

    return [
        OpaqueFunction(function=check_names), *(argument.declare() for argument in declared),
        OpaqueFunction(function=check_values),
    ]


def check_names(context: LaunchContext) -> list[Action]:
    """Return what the log says of names that were given and are not declared."""
    path = Path(context.locals.current_launch_file_path)
    # Of a file that another one includes the command line says nothing.
    if path.name not in (Path(word).name for word in sys.argv):
        return []
    description = get_launch_description_from_any_launch_file(str(path))
    known = [argument.name for argument in description.get_launch_arguments()]
    given = [word.partition(':=')[0] for word in context.argv if ':=' in word]
    return [
        LogInfo(msg=f'{name} is handed on to the files of others that {path.name} includes.')
        for name in names_beyond(given, known, path.name)
    ]


def described(context: LaunchContext) -> tuple[str, str]:
    """Return the description of the arm with visual shapes, and its root link, both prefixed."""
    robot, prefix = (context.launch_configurations[name] for name in ('ur_type', 'tf_prefix'))
    text = read_description(find_urdf(robot), find_xacro_arguments(robot))
    return with_prefix(text, prefix), prefix + load_robot(robot).root_link


def passed_on(names: Iterable[str]) -> dict[str, LaunchConfiguration]:
    """Return arguments for an included file that declares them by the same names."""
    return {name: LaunchConfiguration(name) for name in names}


def names_of(declared: Iterable[Argument]) -> tuple[str, ...]:
    """Return the names of arguments."""
    return tuple(argument.name for argument in declared)


def start(
    executable: str, declared: Iterable[Argument], *, condition: Condition | None = None,
    values: Mapping[str, str | Substitution] | None = None, **parameters: str,
) -> Node:
    """
    Return one of our nodes, in the namespace, with a parameter for each argument.

    `parameters` are the names of the parameters that are not called as the argument; `values` take
    the place of those of arguments, or are those of parameters without one. The argument
    `joint_states` is the topic to which the one of this name is remapped.
    """
    declared = tuple(declared)
    return Node(
        package='robot_identification',
        executable=executable,
        namespace=LaunchConfiguration('namespace'),
        output='screen',
        condition=condition,
        remappings=[
            (name, LaunchConfiguration(name)) for name in names_of(declared)
            if name == 'joint_states'
        ],
        parameters=[ParameterFile(
            ParametersFile(executable, declared, {'ur_type': 'robot', **parameters}, values or {})
        )],
    )


class ParametersFile(Substitution):
    """
    Path of a file with the parameters of a node.

    They are those of arguments, then those of `params_file`, then those of arguments that were
    typed: what was typed wins over the file, and the file over defaults. An argument with an empty
    list is not set. `names` are the names of the parameters that are not called as the argument,
    `values` are those of `start`.
    """

    def __init__(
        self, node: str, declared: Iterable[Argument], names: Mapping[str, str],
        values: Mapping[str, str | Substitution],
    ) -> None:
        super().__init__()
        self._node = node
        self._given, self._namespace = map(LaunchConfiguration, ('params_file', 'namespace'))
        self._arguments = {one.name: one for one in declared if one.name not in NO_PARAMETERS}
        self.texts = {**{name: LaunchConfiguration(name) for name in self._arguments}, **values}
        self.names = {name: names.get(name, name) for name in self.texts}  # of parameters

    def perform(self, context: LaunchContext) -> str:
        """Write the file beside the log of the launch, and return its path."""
        given, namespace = self._given.perform(context), self._namespace.perform(context)
        typed = {word.partition(':=')[0] for word in context.argv if ':=' in word}
        values = {name: self._value(name, context) for name in self.texts}
        # ROS has no parameter that is an empty list.
        stated = {name: one for name, one in values.items() if one not in (None, [])}
        # Under the full name: of sections that fit a node the last one holds.
        full_name = '/'.join(('', *filter(None, (namespace.strip('/'), self._node))))
        parts = [
            self._section('/**', stated),
            Path(given).read_text(encoding='utf-8') if given else '',
            self._section(full_name, {name: stated[name] for name in stated if name in typed}),
        ]
        with tempfile.NamedTemporaryFile(
            'w', prefix=f'{self._node}_', suffix='.yaml', dir=launch_config.log_dir, delete=False,
        ) as file:
            file.write('\n'.join(parts))
        return file.name

    def _value(self, name: str, context: LaunchContext) -> Any:
        text = self.texts[name]
        text = text if isinstance(text, str) else text.perform(context)
        argument = self._arguments.get(name)
        return yaml.safe_load(text) if argument is None else argument.value_of(text)

    def _section(self, node: str, values: Mapping[str, Any]) -> str:
        """Return the section of a parameter file."""
        parameters = {self.names[name]: one for name, one in values.items()}
        return dump_yaml({node: {'ros__parameters': parameters}})


def include(name: str, condition: Condition | None = None, **given: Any) -> GroupAction:
    """Return a launch file of ours, with arguments that do not leak into other files."""
    return GroupAction(
        [IncludeLaunchDescription(
            PathJoinSubstitution([FindPackageShare('robot_identification'), 'launch', name]),
            launch_arguments=given.items(),
        )],
        scoped=True,
        condition=condition,
    )


def values_of(context: LaunchContext, *names: str) -> dict[str, str]:
    """Return the values of arguments."""
    return {name: LaunchConfiguration(name).perform(context) for name in names}


def declared_by(context: LaunchContext, package: str, name: str) -> DeclaredArguments:
    """Return what a launch file of a package declares."""
    path = PathJoinSubstitution([FindPackageShare(package), 'launch', name]).perform(context)
    description = get_launch_description_from_any_launch_file(path)
    return DeclaredArguments(package, name, {
        argument.name: tuple(argument.choices or ())
        for argument in description.get_launch_arguments()
    })


def include_declared(declared: DeclaredArguments, given: dict[str, str]) -> GroupAction:
    """Return a launch file of others, with its own defaults for arguments that are empty."""
    stated = {name: value for name, value in given.items() if value}
    path = PathJoinSubstitution([FindPackageShare(declared.package), 'launch', declared.name])
    return GroupAction(
        [
            # Launch hands a value down by its name alone, an empty one, too.
            *(UnsetLaunchConfiguration(name) for name in given if name not in stated),
            IncludeLaunchDescription(
                path, launch_arguments=declared.fitted(stated).items(),
            ),
        ],
        scoped=True,
    )


def unit_of_robot(robot: str) -> str:
    """Return the unit that a driver of a known robot or a robot YAML usually publishes."""
    return load_robot(robot).usual_effort_unit


def after(
    process: Action, *following: Action, condition: Condition | None = None,
) -> RegisterEventHandler:
    """
    Return what goes on when a process has done its work, and fails the launch when not.

    Ctrl-C of a terminal reaches the process as well as the launch, and either may be the first.
    """
    def go_on(event: Any, context: LaunchContext) -> list[Action]:
        if context.is_shutdown:
            return []
        if event.returncode in INTERRUPTED_CODES:
            return [Shutdown(reason=f'{event.process_name} was interrupted')]
        if event.returncode != 0:
            # Of what is raised here launch makes its own exit code.
            raise RuntimeError(
                f'{event.process_name} ended with exit code {event.returncode}; its own words '
                'are above'
            )
        return list(following)

    return RegisterEventHandler(
        OnProcessExit(target_action=process, on_exit=go_on), condition=condition,
    )


def if_killed(process: Action, message: str) -> RegisterEventHandler:
    """Return what the log says of a process that ended without its own last word."""
    def tell(event: Any, context: LaunchContext) -> list[Action]:
        # Of SIGTERM a node ends with its last word; where that is past, nothing is left to watch.
        killed = event.returncode < 0 and -event.returncode not in (signal.SIGINT, signal.SIGTERM)
        return [LogInfo(msg=message)] if killed else []

    return RegisterEventHandler(OnProcessExit(target_action=process, on_exit=tell))


def require_package(context: LaunchContext, package: str, remedy: str) -> None:
    """Raise RuntimeError, with a remedy, if a ROS package is not installed."""
    try:
        FindPackageShare(package).perform(context)
    except LookupError as error:
        raise RuntimeError(f'{package} is not installed: {remedy}') from error
