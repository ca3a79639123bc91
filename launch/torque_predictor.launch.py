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

"""Start the torque predictor beside a driver, or beside a bag being played."""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node


def generate_launch_description():
    """Return the node and its arguments."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'model_file',
            default_value='',
            description='identified_model.yaml; may also be set as a parameter later.',
        ),
        DeclareLaunchArgument(
            'use_sim_time',
            default_value='false',
            choices=['true', 'false'],
            description='Take the time from /clock.',
        ),
        Node(
            package='robot_identification',
            executable='torque_predictor',
            output='screen',
            parameters=[{
                'model_file': LaunchConfiguration('model_file'),
                'use_sim_time': LaunchConfiguration('use_sim_time'),
            }],
        ),
    ])
