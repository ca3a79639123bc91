# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Start everything an experiment needs.

With use_sim:=true (the default) a simulated robot is started too, the experiment runs by itself
and the launch ends with it. With use_sim:=false the nodes come up beside a running driver and
wait for their services to be called; this version of the runner then refuses to arm.
"""

import secrets

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.actions import GroupAction
from launch.actions import IncludeLaunchDescription
from launch.actions import LogInfo
from launch.actions import RegisterEventHandler
from launch.actions import Shutdown
from launch.conditions import IfCondition
from launch.conditions import UnlessCondition
from launch.event_handlers import OnProcessExit
from launch.substitutions import LaunchConfiguration
from launch.substitutions import PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.substitutions import FindPackageShare


def include(name, condition=None, **arguments):
    """Return one of the launch files beside this one, with arguments that stay its own."""
    return GroupAction(
        [IncludeLaunchDescription(
            PathJoinSubstitution([FindPackageShare('robot_identification'), 'launch', name]),
            launch_arguments=arguments.items(),
        )],
        scoped=True,
        condition=condition,
    )


def generate_launch_description():
    """Return all nodes and their arguments."""
    use_sim = LaunchConfiguration('use_sim')
    ur_type = LaunchConfiguration('ur_type')
    use_sim_time = LaunchConfiguration('use_sim_time')
    output = LaunchConfiguration('output')
    # Drawn anew at every start: the runner moves the robot that was started with it, no other.
    token = secrets.token_hex(16)
    coordinator = Node(
        package='robot_identification',
        executable='experiment_coordinator',
        output='screen',
        condition=IfCondition(use_sim),
        parameters=[{
            'robot': ur_type,
            'output': output,
            'experiment': LaunchConfiguration('experiment'),
            'use_sim_time': use_sim_time,
        }],
    )
    return LaunchDescription([
        DeclareLaunchArgument(
            'use_sim',
            default_value='true',
            choices=['true', 'false'],
            description='Start a simulated robot and run the experiment on it.',
        ),
        DeclareLaunchArgument(
            'ur_type', default_value='ur5', description='Known robot, or path of a robot YAML.'
        ),
        DeclareLaunchArgument(
            'experiment',
            default_value='demo',
            description='Experiment file, or the name of a shipped one.',
        ),
        DeclareLaunchArgument(
            'output',
            default_value='experiment',
            description='Folder for trajectories, bags and the result.',
        ),
        DeclareLaunchArgument(
            'real_time_factor',
            default_value='1.0',
            description='Of the simulation; other than 1 needs use_sim_time:=true.',
        ),
        DeclareLaunchArgument(
            'use_sim_time',
            default_value='false',
            choices=['true', 'false'],
            description='Take the time from /clock.',
        ),
        include(
            'simulated_robot.launch.py',
            IfCondition(use_sim),
            ur_type=ur_type,
            simulation_token=token,
            real_time_factor=LaunchConfiguration('real_time_factor'),
        ),
        include(
            'trajectory_generator.launch.py',
            ur_type=ur_type,
            experiment=LaunchConfiguration('experiment'),
            output=PathJoinSubstitution([output, 'trajectory.yaml']),
        ),
        include(
            'experiment_runner.launch.py',
            ur_type=ur_type,
            simulation_token=token,
            use_sim_time=use_sim_time,
        ),
        include(
            'bag_recorder.launch.py',
            robot=ur_type,
            output=PathJoinSubstitution([output, 'bag']),
            use_sim_time=use_sim_time,
        ),
        include(
            'identifier.launch.py',
            ur_type=ur_type,
            output=PathJoinSubstitution([output, 'result']),
        ),
        include('torque_predictor.launch.py', use_sim_time=use_sim_time),
        coordinator,
        LogInfo(
            msg='Beside a real driver: call ~/generate, ~/start, ~/stop and ~/identify yourself.',
            condition=UnlessCondition(use_sim),
        ),
        RegisterEventHandler(
            OnProcessExit(
                target_action=coordinator,
                on_exit=[Shutdown(reason='the experiment has ended')],
            ),
            condition=IfCondition(use_sim),
        ),
    ])
