# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Check of ROS's log folder; without a writable one a node would not start at all.

A home that is read-only or missing is common in containers and for service accounts.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
import tempfile

# Logs then go to stderr and /rosout only.
WITHOUT_LOG_FILES = ('--ros-args', '--disable-external-lib-logs', '--')


def log_folder_problem(environment: Mapping[str, str]) -> str:
    """
    Return why ROS cannot write its log files, empty where it can.

    ROS_LOG_DIR, ROS_HOME and HOME are looked up in ROS's own order.
    """
    if environment.get('ROS_LOG_DIR'):
        text = environment['ROS_LOG_DIR']
    elif environment.get('ROS_HOME'):
        text = f'{environment["ROS_HOME"]}/log'
    else:
        text = '~/.ros/log'
    if text.startswith('~'):
        if not environment.get('HOME'):
            return 'HOME is not set, and neither is ROS_LOG_DIR'
        text = environment['HOME'] + text[1:]
    folder = Path(text)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return ''
    except OSError as error:
        return f'{folder} cannot be written ({error.strerror})'
