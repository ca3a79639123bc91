# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Live: contact detection, payload and friction health."""

from robot_identification.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
