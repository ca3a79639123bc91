# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Provenance of a model: bags with their hashes, options and versions."""

from __future__ import annotations

from collections.abc import Sequence
import importlib.metadata
import platform
from typing import Any

from robot_identification.estimation.inputs import Inputs
from robot_identification.estimation.many_bags import BagSurvey
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.recording import data_hashes


def describe_provenance(
    inputs: Inputs, others: Sequence[BagSurvey], options: IdentifyOptions
) -> dict[str, Any]:
    """Return the entries `bags`, `options` and `versions` of a model file's provenance."""
    completeness = {
        **{
            found.source: found.completeness.describe() or 'complete'
            for found in inputs.recordings
        },
        **{survey.name: survey.completeness for survey in others},
    }
    return {
        'bags': [
            {
                'path': str(bag), 'sha256': digest, 'data_sha256': list(data_hashes(bag)),
                'completeness': completeness[str(bag)],
            }
            for bag, digest in inputs.hashes.items()
        ],
        'options': {
            'profile': options.profile,
            'estimator': options.method.estimator_name,
            'friction': options.method.friction_name,
            'start': options.start,
            'stop': options.stop,
        },
        'versions': versions(),
    }


def versions() -> dict[str, str]:
    """Return the versions of the packages that compute results."""
    found = {'python': platform.python_version()}
    for name in ('robot_identification', 'numpy', 'scipy', 'pin', 'rosbags'):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
