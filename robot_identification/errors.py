# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Errors a user can cause, each with the exit code of the command line.

Every message names the file, topic or joint, the value, the limit and what to do next.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from robot_identification.texts import shown


# What a user makes the arguments of the package's functions with, by their type.
GIVEN_BY = {
    'RobotModel': "load_robot('ur5')",
    'IdentifiedModel': "load_model('identified_model.yaml')",
    'Experiment': "load_experiment('demo')",
    'IdentifyOptions': 'IdentifyOptions(..)',
    'Motion': 'Motion(q, dq, ddq)',
}


class IdentificationError(Exception):
    """
    Root of every error this package raises on purpose.

    Names from foreign files and messages are in the texts, so what could steer a terminal is
    not shown, nor is the middle of an endless line, and a line after the first one begins with
    spaces: it cannot pass for a log line.
    """

    exit_code = 4

    def __str__(self) -> str:
        """Return the message for terminals and logs."""
        first, *others = super().__str__().split('\n')
        lines = [first, *(line if line.startswith('  ') else f'  {line}' for line in others)]
        return shown('\n'.join(lines))


class UsageError(IdentificationError):
    """The call is wrong: unknown file, robot, unit or option."""

    exit_code = 2


def check_argument(name: str, value: object, kind: type) -> None:
    """Raise TypeError, saying what gives the right one, if an argument is of another type."""
    if not isinstance(value, kind):
        raise TypeError(
            f'{name} is {value!r:.60}, it must be what {GIVEN_BY[kind.__name__]} returns'
        )


class MissingDependencyError(UsageError):
    """A command needs a library that is not installed."""

    def __init__(self, module: str, purpose: str, command: str) -> None:
        super().__init__(f'{purpose} needs {module}, which is not installed: run `{command}`')
        self._arguments = module, purpose, command

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what it was made of: errors of other processes are sent."""
        return type(self), self._arguments


@contextmanager
def needing(module: str, purpose: str, command: str = '') -> Iterator[None]:
    """Import what `purpose` needs, or raise MissingDependencyError with the command (of pip)."""
    try:
        yield
    except ModuleNotFoundError:
        raise MissingDependencyError(module, purpose, command or f'pip install {module}') from None
    except ImportError as error:
        # To install it again would change nothing, and it knows itself what does.
        raise UsageError(
            f'{purpose} needs {module}, which is installed and cannot be imported: {error}'
        ) from error


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
