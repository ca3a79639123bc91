# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Identify one model from several recordings, on several processes.

You learn to give `identify` an executor: here that of a Dask cluster of two processes on this
computer; of a real cluster its address stands in the place of `cluster`.
"""

from pathlib import Path
import sys
from tempfile import mkdtemp

import numpy as np
import robot_identification as ri

try:
    from distributed import Client, LocalCluster
except ImportError:
    print('skipped: distributed is missing; pip install distributed')
    sys.exit()

DATA = Path(__file__).resolve().parent / 'data'


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)

    robot = ri.load_robot('ur5')
    # The cut-off [Hz] that was chosen for the first log; each choice takes time.
    options = ri.IdentifyOptions(friction='coulomb,viscous,offset', cutoff=14.0)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                     local_directory=folder) as cluster,
        Client(cluster) as client,
    ):
        logs = [DATA / 'log.csv', DATA / 'unseen.csv']
        found = ri.identify(robot, logs, options, executor=client.get_executor())
    print(found)

    one = ri.load_model(DATA / 'model.yaml')
    ratio = np.median(found.model.standard_errors / one.standard_errors)
    print(f'standard errors with two recordings over those with one, median: {ratio:.2f}')
    found.model.save(folder / 'model.yaml')
    print(f'model.yaml is in {folder}')


# Each process of the cluster imports this file.
if __name__ == '__main__':
    main()
