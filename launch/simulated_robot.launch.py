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

"""Start the simulated robot: it stands where ur_robot_driver stands."""

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
            'tf_prefix', default_value='', description='Put before every joint name.'
        ),
        DeclareLaunchArgument(
            'real_time_factor',
            default_value='1.0',
            description='Simulated over wall-clock time; other than 1 publishes /clock.',
        ),
        DeclareLaunchArgument(
            'simulation_token',
            default_value='',
            description='Shared with the experiment_runner that may move it; empty: nobody may.',
        ),
        DeclareLaunchArgument(
            'truth_seed', default_value='0', description='Which hidden robot is simulated.'
        ),
        DeclareLaunchArgument(
            'static_friction',
            default_value='false',
            choices=['true', 'false'],
            description='Joints that stick: break-away, Stribeck and load-dependent friction.',
        ),
        DeclareLaunchArgument(
            'stiffness',
            default_value='0.0',
            description='Of elastic joints, N m/rad, with rotor_states; 0: rigid joints.',
        ),
        DeclareLaunchArgument(
            'warm_up',
            default_value='0.0',
            description='How many times faster than real joints these warm up and lose viscous '
            'friction; 0: as real ones, with constant friction.',
        ),
        Node(
            package='robot_identification',
            executable='simulated_robot',
            output='screen',
            parameters=[{
                'robot': LaunchConfiguration('ur_type'),
                'tf_prefix': LaunchConfiguration('tf_prefix'),
                'real_time_factor': LaunchConfiguration('real_time_factor'),
                'simulation_token': LaunchConfiguration('simulation_token'),
                'truth_seed': LaunchConfiguration('truth_seed'),
                'static_friction': LaunchConfiguration('static_friction'),
                'stiffness': LaunchConfiguration('stiffness'),
                'warm_up': LaunchConfiguration('warm_up'),
            }],
        ),
    ])
