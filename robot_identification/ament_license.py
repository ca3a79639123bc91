# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The licence header of the files, registered for `ament_copyright` by an entry point."""

from typing import NamedTuple


class License(NamedTuple):
    """Licence texts for `ament_copyright`, with the field names it reads."""

    name: str
    file_headers: list[str]
    license_files: list[str]
    contributing_files: list[str]


apache2_spdx = License(
    'Apache License, Version 2.0', ['{copyright}\nSPDX-License-Identifier: Apache-2.0'], [], []
)
