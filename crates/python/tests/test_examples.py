"""The examples run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str, argument: Path) -> str:
    command = [sys.executable, str(EXAMPLES / name), str(argument)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_notebook_runs_and_shows_the_recording() -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(EXAMPLES / "mesh_to_film.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [
        output["data"]["text/html"]
        for cell in notebook.cells if cell.cell_type == "code"
        for output in cell.outputs if "text/html" in output.get("data", {})
    ]
    assert len(shown) == 1 and shown[0].startswith("<iframe")
    files = notebook.cells[-1].outputs[-1]["data"]["text/plain"]
    assert "egg.glb" in files and ("egg.gif" in files) == ("BRISANCE" in os.environ)


def test_the_parameter_study_draws_that_higher_falls_make_more_pieces(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    told = run("parameter_study.py", tmp_path / "pieces.png")
    counts = [float(line.split(":")[1].split()[0]) for line in told.splitlines()]
    assert len(counts) == 5 and counts[-1] > counts[0]
    assert (tmp_path / "pieces.png").read_bytes()[:4] == b"\x89PNG"


def test_the_data_set_is_made(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    told = run("data_set.py", tmp_path)
    assert len(told.splitlines()) == 6 and " J " in told
