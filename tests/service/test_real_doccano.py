"""doccano's own pipeline of auto labeling against the real service; SPANWRIGHT_DOCCANO names its Python.

python -m venv doccano && doccano/bin/pip install doccano
SPANWRIGHT_DOCCANO=doccano/bin/python pytest tests/service/test_real_doccano.py
"""

from __future__ import annotations

import json
import os
import subprocess
from itertools import pairwise

import pytest
from serving import served

import tiny
from spanwright.predicting.tagger import Tagger

PYTHON = os.environ.get("SPANWRIGHT_DOCCANO")
TEXT = '😀  abase cell of  the <xvase> & "bcell".\nNext'
# What doccano does with the settings that our page about it tells to make.
SCRIPT = """
import json, sys
from auto_labeling_pipeline.labels import SequenceLabels
from auto_labeling_pipeline.mappings import MappingTemplate
from auto_labeling_pipeline.models import RequestModelFactory
from auto_labeling_pipeline.pipeline import pipeline
from auto_labeling_pipeline.postprocessing import PostProcessor

url, text = sys.argv[1:]
attributes = {"url": url, "method": "POST", "params": {}, "headers": {}, "body": {"text": "{{ text }}"}}
labels = pipeline(
    text=text,
    request_model=RequestModelFactory.create("Custom REST Request", attributes),
    mapping_template=MappingTemplate(SequenceLabels, "{{ input | tojson }}"),
    post_processing=PostProcessor({}),
)
print(json.dumps(labels.dict()))
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PYTHON is None, reason="there is no doccano; SPANWRIGHT_DOCCANO names its Python"),
]


def test_doccano_gets_labels_by_a_custom_request_and_the_template_of_our_page() -> None:
    tagger = Tagger(tiny.model())
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with served({"tiny": tagger}) as service:
        url = f"http://127.0.0.1:{service.port}/doccano"
        command = [str(PYTHON), "-c", SCRIPT, url, TEXT]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    expected = tagger.tag(TEXT).entities
    assert len(expected) > 2
    found = [(each["start_offset"], each["end_offset"], each["label"]) for each in json.loads(done.stdout)]
    # doccano itself leaves out all but the first of labels that overlap.
    assert len(found) > 2
    assert set(found) <= {(each.start, each.end, each.type) for each in expected}
    assert all(end <= start for (_, end, _), (start, _, _) in pairwise(sorted(found)))
