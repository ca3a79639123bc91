# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`predicted.mcap` opens in the readers that plotting tools are made of."""

from dataclasses import replace
import io

from export.exported_models import changed_prior, model_of
import numpy as np
import pytest
from robot_identification.cli.predict import comparison_signals, write_signals_mcap
from robot_identification.prediction.comparison import EffortComparison

JOINT_STATE = 'sensor_msgs/msg/JointState'
TOPICS = ('/measured', '/predicted', '/residual', '/std')


@pytest.fixture(scope='module')
def written(ur5, tmp_path_factory):
    """Return the file, the model and what was written; the last sample has no prediction."""
    rng = np.random.default_rng(5)
    stamps = np.arange(0.0, 2.0, 0.008)
    measured, predicted = rng.normal(size=(2, len(stamps), 6))
    predicted[-1] = np.nan
    model = replace(model_of(ur5, changed_prior(ur5)), effort_unit='A')
    path = tmp_path_factory.mktemp('predicted') / 'predicted.mcap'
    comparison = EffortComparison(
        stamps, measured, predicted, np.where(np.isfinite(predicted), 0.5, np.nan)
    )
    write_signals_mcap(path, model, stamps, comparison_signals(model, comparison))
    return path, model, comparison


def expected(comparison):
    return {
        '/measured': comparison.measured, '/predicted': comparison.predicted,
        '/residual': comparison.measured - comparison.predicted,
        '/std': comparison.deviation,
    }


def test_mcaps_ros2_decoder_reads_every_message(written):
    """By the schema in the file alone, as Foxglove does: names, stamps and values."""
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    path, model, comparison = written
    efforts = {topic: [] for topic in TOPICS}
    reader = make_reader(io.BytesIO(path.read_bytes()), decoder_factories=[DecoderFactory()])
    assert reader.get_header().profile == 'ros2'
    assert reader.get_summary().chunk_indexes, 'tools seek by them'
    for schema, channel, message, state in reader.iter_decoded_messages():
        assert (schema.name, schema.encoding) == (JOINT_STATE, 'ros2msg')
        assert list(state.name) == list(model.robot.joint_names)
        stamp = state.header.stamp
        assert message.log_time == stamp.sec * 10**9 + stamp.nanosec
        assert not len(state.position)
        assert not len(state.velocity)
        efforts[channel.topic].append(np.array(state.effort))
    for topic, values in expected(comparison).items():
        np.testing.assert_array_equal(efforts[topic], values)
