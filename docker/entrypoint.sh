#!/usr/bin/env bash
# Runs a command in the workspace. A sourced file may read variables that nobody has set.
set -eo pipefail
source /workspace/install/setup.bash
exec "$@"
