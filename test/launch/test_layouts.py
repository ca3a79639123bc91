# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The shipped layouts of RViz, PlotJuggler and Foxglove show what our nodes publish."""

import json
from pathlib import Path
import re
from xml.etree import ElementTree

from long_tests import long_test
import pytest
import yaml

CONFIG = Path(__file__).resolve().parents[2] / 'config'
RVIZ = CONFIG / 'rviz' / 'preview.rviz'
PLOTJUGGLER = CONFIG / 'plotjuggler' / 'torques.xml'
FOXGLOVE = CONFIG / 'foxglove' / 'experiment.json'
# The three of the file that `robot-identification predict` writes.
PREDICTED = {'/measured', '/predicted', '/residual'}
# By robot_state_publisher, which a driver brings along.
OF_OTHERS = {'/tf', '/tf_static'}
NODES = (
    'simulated_robot', 'trajectory_generator', 'experiment_runner', 'bag_recorder', 'identifier',
    'torque_predictor',
)


def curves():
    return [curve.get('name') for curve in ElementTree.parse(PLOTJUGGLER).iter('curve')]


def sums():
    """Return the curves that PlotJuggler adds up: what they are made of, by name."""
    return {
        snippet.get('name'): [snippet.findtext('linked_source'), *(
            source.text for source in snippet.find('additional_sources')
        )]
        for snippet in ElementTree.parse(PLOTJUGGLER).iter('snippet')
    }


def topics_of_rviz():
    """Return the topics in RViz's layout; TF has none there."""
    displays = yaml.safe_load(RVIZ.read_text())['Visualization Manager']['Displays']
    return {
        value['Value'] for display in displays for name, value in display.items()
        if name in ('Topic', 'Description Topic')
    }


def topics_of_plotjuggler():
    """Return the topics in PlotJuggler's layout: a curve is TOPIC/JOINT/FIELD."""
    sources = [name for name in curves() if name not in sums()]
    sources += [source for made_of in sums().values() for source in made_of]
    return {re.fullmatch(r'(/.*)/\w+/effort', source).group(1) for source in sources}


def topics_of_foxglove():
    """Return the topics in Foxglove's layout, message paths cut off behind the topic."""
    found = set()
    for panel in json.loads(FOXGLOVE.read_text())['configById'].values():
        found |= {path['value'].partition('.')[0] for path in panel.get('paths', [])}
        found |= set(panel.get('topics', {}))
        found |= {layer['topic'] for layer in panel.get('layers', {}).values() if 'topic' in layer}
        found |= {
            panel[name].partition('.')[0]
            for name in ('topicPath', 'topicToRender') if name in panel
        }
    return found


@long_test
def test_every_topic_is_published(tmp_path):
    """By one of our nodes on a graph, by a driver, or in the file that `predict` writes."""
    ros_helpers = pytest.importorskip('ros_helpers')
    with ros_helpers.own_graph(tmp_path) as graph:
        for node in NODES:
            graph.start(node)
        wanted = topics_of_rviz() | topics_of_plotjuggler() | topics_of_foxglove()
        expected = wanted - PREDICTED - OF_OTHERS
        assert len(expected) >= 8

        def missing():
            return {topic for topic in expected if not graph.node.count_publishers(topic)}

        ros_helpers.wait_until(
            lambda: not missing() or any(process.exit_code for process in graph.processes),
            'the topics of the layouts', 30.0,
        )
        assert not missing()
