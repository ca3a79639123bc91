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

"""Start the experiment runner; nothing moves before ~/arm and ~/execute are called."""

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
            'trajectory_file', default_value='', description='Certified trajectory to execute.'
        ),
        DeclareLaunchArgument(
            'simulation_token',
            default_value='',
            description='Of the simulated robot that may be moved; empty: none.',
        ),
        DeclareLaunchArgument(
            'use_sim_time',
            default_value='false',
            choices=['true', 'false'],
            description='Take the time from /clock.',
        ),
        Node(
            package='robot_identification',
            executable='experiment_runner',
            output='screen',
            parameters=[{
                'robot': LaunchConfiguration('ur_type'),
                'trajectory_file': LaunchConfiguration('trajectory_file'),
                'simulation_token': LaunchConfiguration('simulation_token'),
                'use_sim_time': LaunchConfiguration('use_sim_time'),
            }],
        ),
    ])
