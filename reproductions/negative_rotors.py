# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Whether least squares make rotor inertias negative: one rule for all papers that say so."""

from __future__ import annotations

from collections.abc import Sequence

from reproductions.reproduction import Claim, Control
from reproductions.seeds import compare_share


def rotor_claim(
    what: str, printed: str, small: Sequence[Sequence[float]], large: Sequence[Sequence[float]],
    why: str,
) -> Claim:
    """
    Return the claim that least squares make rotor inertias negative.

    Parameters
    ----------
    what : str
        The arm and the method.
    printed : str
        What the paper says.
    small, large : sequence of sequence of float
        Rotor inertias that were identified, with a row for each of several motions: of an arm
        with small rotors, and of one with large ones as the control [kg m^2].
    why : str
        What decides.

    """
    hits = [min(row) < 0.0 for row in small]
    controls = sum(min(row) < 0.0 for row in large)
    counts = ', '.join(str(sum(value < 0.0 for value in row)) for row in small)
    return compare_share(
        f'{what} makes rotor inertias negative', printed, hits,
        control=Control(
            f'large rotors: with {controls} of {len(large)} motions', 2 * controls < len(large)
        ),
        why=f'{why}. Small rotors; by motion {counts} of {len(small[0])} are negative',
    )
