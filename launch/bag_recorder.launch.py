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

"""Start the bag recorder; it records between ~/start and ~/stop."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description():
    """Return the node and its arguments."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'output', default_value='bag', description='Folder of the bag; it must not exist.'
        ),
        DeclareLaunchArgument(
            'robot', default_value='', description='Name of the robot, noted in the bag.'
        ),
        DeclareLaunchArgument(
            'effort_unit',
            default_value='',
            choices=['', 'A', 'Nm'],
            description='Unit of the effort, noted in the bag; empty: not known.',
        ),
        DeclareLaunchArgument(
            'use_sim_time',
            default_value='false',
            choices=['true', 'false'],
            description='Take the time from /clock.',
        ),
        Node(
            package='robot_identification',
            executable='bag_recorder',
            output='screen',
            parameters=[{
                'start.output': LaunchConfiguration('output'),
                'start.robot': LaunchConfiguration('robot'),
                'start.effort_unit': LaunchConfiguration('effort_unit'),
                'use_sim_time': LaunchConfiguration('use_sim_time'),
            }],
        ),
    ])
