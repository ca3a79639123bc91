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

"""Start the identifier; ask it with its ~/identify service."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue


def generate_launch_description():
    """Return the node and its arguments."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'ur_type', default_value='ur5', description='Known robot, or path of a robot YAML.'
        ),
        DeclareLaunchArgument(
            'bags', default_value='[""]', description='Bags to identify from, as a YAML list.'
        ),
        DeclareLaunchArgument(
            'output',
            default_value='result',
            description='Folder for model, report and results.',
        ),
        DeclareLaunchArgument(
            'effort_unit',
            default_value='',
            choices=['', 'A', 'Nm'],
            description='Unit of the effort; empty: what the bag or the robot YAML says.',
        ),
        Node(
            package='robot_identification',
            executable='identifier',
            output='screen',
            parameters=[{
                'robot': LaunchConfiguration('ur_type'),
                'identify.bags': ParameterValue(LaunchConfiguration('bags'), value_type=list[str]),
                'identify.output': LaunchConfiguration('output'),
                'identify.effort_unit': LaunchConfiguration('effort_unit'),
            }],
        ),
    ])
