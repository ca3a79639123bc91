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

"""Start the trajectory generator; ask it with its ~/generate service."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description():
    """Return the node and its arguments."""
    return LaunchDescription([
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
            default_value='trajectory.yaml',
            description='Trajectory file to write; it must not exist.',
        ),
        DeclareLaunchArgument(
            'seed', default_value='0', description='Same seed, same trajectory.'
        ),
        Node(
            package='robot_identification',
            executable='trajectory_generator',
            output='screen',
            parameters=[{
                'robot': LaunchConfiguration('ur_type'),
                'generate.experiment': LaunchConfiguration('experiment'),
                'generate.output': LaunchConfiguration('output'),
                'generate.seed': LaunchConfiguration('seed'),
            }],
        ),
    ])
