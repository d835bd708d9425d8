"""An independent validator accepts the report of the program by its schema."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

jsonschema = pytest.importorskip("jsonschema")

pytestmark = pytest.mark.skipif("BRISANCE" not in os.environ, reason="BRISANCE names no program")

SCENE = """
version = 1
[simulation]
frames = 8
[pattern.shards.voronoi]
pieces = 15
[[body]]
name = "floor"
motion = "static"
shape = { plane = {} }
[[body]]
name = "cube"
material = "china"
shape = { box = { half_extents = [0.2, 0.2, 0.2] } }
position = [0.0, 0.5, 0.0]
velocity = [0.0, -8.0, 0.0]
rotation = { axis = [1.0, 0.0, 0.3], degrees = 30.0 }
fracture = { pattern = "shards", break_impulse = 1.0, generations = 1 }
"""


def test_a_comparison_fits_its_schema(tmp_path: Path) -> None:
    program = os.environ["BRISANCE"]
    (tmp_path / "cube.toml").write_text(SCENE)
    command = [program, "compare", "cube.toml", "--size", "32x32", "--tets", "400", "--resolutions", "1.3",
               "--rates", "2", "-o", "report", "--quiet"]
    subprocess.run(command, cwd=tmp_path, check=True)
    schema = json.loads(subprocess.run([program, "schema", "--comparison"], check=True, capture_output=True).stdout)
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(report, schema)
    assert report["models"][0]["power_law"]["count"] >= 10
    # the validator rejects a wrong report
    report["models"][0]["run"]["measured"]["pieces"] = -1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(report, schema)
