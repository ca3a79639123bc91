# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

from .bag import (
    find_joint_names as find_joint_names, LARGEST_DISORDER as LARGEST_DISORDER,
    read_recording as read_recording,
)
from .bag_files import data_hashes as data_hashes
from .bag_writer import (
    BagWriter as BagWriter, joint_state_maker as joint_state_maker, new_bag as new_bag,
    OfferedQos as OfferedQos, write_samples as write_samples,
)
from .cdr import Walker as Walker
from .driver_record import (
    DRIVER as DRIVER, read_driver_record as read_driver_record, driver_remarks as driver_remarks,
    DriverRecord as DriverRecord, hardware_record as hardware_record, NOT_KNOWN as NOT_KNOWN,
    with_states as with_states,
)
from .joint_names import (
    parse_joint_names as parse_joint_names, recommend_names as recommend_names,
)
from .joint_states import (
    DYNAMIC_JOINT_STATE as DYNAMIC_JOINT_STATE, JOINT_STATE as JOINT_STATE,
    VALUE_TOPICS as VALUE_TOPICS,
)
from .raw_bag import (
    Damage as Damage, METADATA_FILE as METADATA_FILE, read_metadata as read_metadata,
)
from .recording import (
    Channel as Channel, COMMAND_CHANNEL as COMMAND_CHANNEL, Recording as Recording,
    ROTOR_CHANNEL as ROTOR_CHANNEL, spread_parts as spread_parts,
)
from .rosbag2_file import rosbags_library as rosbags_library, uses_rosbag2 as uses_rosbag2
from .simulated_run import (
    simulate_repeats as simulate_repeats, SIMULATED_EPOCH as SIMULATED_EPOCH,
    write_simulated_bag as write_simulated_bag,
)
from .table import Table as Table
from .table_mapping import mapping_text as mapping_text
from .tables import (
    describe_table as describe_table, is_table as is_table, read_command as read_command,
    understand_table as understand_table,
)
