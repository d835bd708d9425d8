"""The code of README.md that is not in doctests."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

README = (Path(__file__).parent.parent / "README.md").read_text()


def block(language: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert len(found) >= 1
    return str(found[-1])


def test_the_cluster_file_is_one_for_ray() -> None:
    ray = pytest.importorskip("ray")
    yaml = pytest.importorskip("yaml")
    schema = json.loads((Path(ray.__file__).parent / "autoscaler" / "ray-schema.json").read_text())
    cluster = yaml.safe_load(block("yaml"))
    jsonschema.validate(cluster, schema)
    assert cluster["head_node_type"] in cluster["available_node_types"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**cluster, "max_wrokers": 3}, schema)
