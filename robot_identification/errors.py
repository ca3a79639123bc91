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
Errors a user can cause, each with the exit code of the command line.

Every message names the file, topic or joint, the value, the limit and what to do next.
"""


class IdentificationError(Exception):
    """
    Root of every error this package raises on purpose.

    Names from strangers' files and messages are in the texts, so what could steer a terminal is
    not shown, and a line after the first one begins with spaces: it cannot pass for a log line.
    """

    exit_code = 4

    def __str__(self) -> str:
        """Return the message for terminals and logs."""
        first, *others = super().__str__().split('\n')
        lines = [first, *(line if line.startswith('  ') else f'  {line}' for line in others)]
        return '\n'.join(
            ''.join(letter if letter.isprintable() else '?' for letter in line) for line in lines
        )


class UsageError(IdentificationError):
    """The call is wrong: unknown file, robot, unit or option."""

    exit_code = 2


class MissingDependencyError(UsageError):
    """A command needs a library that is not installed."""

    def __init__(self, module: str, purpose: str, command: str) -> None:
        super().__init__(f'{purpose} needs {module}, which is not installed: run `{command}`')


class NotIdentifiableError(IdentificationError):
    """The data do not determine the parameters asked for."""

    exit_code = 3


class RankDeficientError(NotIdentifiableError):
    """The observation matrix does not determine every base parameter."""


class DescriptionError(IdentificationError):
    """A robot description or a configuration file cannot be used."""


class DataError(IdentificationError):
    """A recording cannot be used."""


class BagError(DataError):
    """A bag cannot be read or written."""


class InconsistentModelError(IdentificationError):
    """Parameters that no rigid body can have."""


class UnsafeMotionError(IdentificationError):
    """A motion was refused because it is not proved safe."""

    exit_code = 5
