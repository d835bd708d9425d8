from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")
parquet = pytest.importorskip("pyarrow.parquet")

import brisance
from brisance._variants import changed, draws, parsed
from brisance.sweep import grid_of, main, sweep

SCENE = """
version = 1
[simulation]
frames = 30
[pattern.shards.voronoi]
pieces = 8
[[body]]
name = "floor"
motion = "static"
shape = { plane = {} }
[[body]]
name = "cube"
shape = { box = { half_extents = [0.2, 0.2, 0.2] } }
position = [0.0, 1.5, 0.0]
rotation = { axis = [1.0, 0.0, 0.3], degrees = 30.0 }
fracture = { pattern = "shards", break_impulse = 1.0 }
"""


@pytest.fixture()
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "drop.toml"
    path.write_text(SCENE)
    return path


def test_values_go_where_their_keys_say() -> None:
    text = changed(SCENE, {"body.cube.restitution": 0.5, "pattern.shards.voronoi.pieces": 3, "simulation.sleep": False})
    told = parsed(text)
    assert told["body"][1]["restitution"] == 0.5
    assert told["pattern"]["shards"]["voronoi"]["pieces"] == 3
    assert told["simulation"]["sleep"] is False
    brisance.Scene.from_toml(text)
    with pytest.raises(ValueError, match='no "ball"; known: floor, cube'):
        changed(SCENE, {"body.ball.restitution": 0.5})
    assert grid_of(["a.b=1,2", "c=x,y"]) == {"a.b": [1, 2], "c": ["x", "y"]}
    with pytest.raises(ValueError, match="KEY=VALUE"):
        grid_of(["a"])


def test_a_sweep_has_a_row_for_each_run_and_does_none_twice(scene: Path, tmp_path: Path) -> None:
    grid: dict[str, list[Any]] = {"body.cube.restitution": [0.1, 0.6], "pattern.shards.voronoi.pieces": [4, 12]}
    rows = sweep(scene, grid=grid, seeds=2, out=tmp_path / "out", recording=".glb")
    assert len(rows) == 8 and all(row["error"] is None for row in rows)
    assert len({row["run"] for row in rows}) == 8
    assert all(row["mass"] == pytest.approx(64.0) and row["largest_energy_gain"] < 1e-6 for row in rows)
    few = [row["pieces"] for row in rows if row["pattern.shards.voronoi.pieces"] == 4]
    many = [row["pieces"] for row in rows if row["pattern.shards.voronoi.pieces"] == 12]
    assert max(few) < min(many)
    files = sorted((tmp_path / "out" / "runs").iterdir())
    assert len(files) == 16
    times = [path.stat().st_mtime_ns for path in files]
    table = parquet.read_table(tmp_path / "out" / "results.parquet")
    assert table.num_rows == 8 and table.column("seed").to_pylist() == [0, 1] * 4
    again = sweep(scene, grid=grid, seeds=2, out=tmp_path / "out", recording=".glb")
    assert again == rows and times == [path.stat().st_mtime_ns for path in files]


def test_samples_cover_their_ranges_evenly(scene: Path, tmp_path: Path) -> None:
    ranges = {"body.cube.restitution": (0.1, 0.9), "body.cube.density": (500.0, 1500.0)}
    drawn = list(draws(ranges, 20, 3))
    for key, (low, high) in ranges.items():
        parts = [int(20 * (values[key] - low) / (high - low)) for values in drawn]
        assert sorted(parts) == list(range(20))
    assert drawn == list(draws(ranges, 20, 3)) != list(draws(ranges, 20, 4))
    rows = sweep(scene, ranges=ranges, samples=3, sample_seed=3, frames=2, out=tmp_path / "out")
    assert [row["mass"] for row in rows] == pytest.approx([0.064 * row["body.cube.density"] for row in rows])
    wrong: list[dict[str, Any]] = [
        {"ranges": ranges}, {"samples": 3}, {"ranges": {"body.cube.density": (2.0, 1.0)}, "samples": 2},
        {"ranges": ranges, "samples": 2, "grid": {"body.cube.density": [1.0]}},
    ]
    for arguments in wrong:
        with pytest.raises(ValueError):
            sweep(scene, frames=2, out=tmp_path / "no", **arguments)
    command = [str(scene), "--frames", "1", "--samples", "2", "-o", str(tmp_path / "more"), "--range"]
    assert main([*command, "body.cube.restitution=0.1:0.9"]) == 0
    assert main([*command, "body.cube.restitution=0.1"]) == 2


def test_without_ray_a_sentence_says_what_to_install(
    scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main([str(scene), "--frames", "1", "-o", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err == 'brisance.sweep: this needs Ray: pip install "brisance[sweep]"\n'


def test_a_run_that_fails_is_reported_and_ends_no_other(
    scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    command = [str(scene), "--set", "body.cube.restitution=0.5,7.0", "--frames", "2", "-o", out]
    assert main(command) == 1
    told = capsys.readouterr()
    assert "1 of 2 runs" in told.out and "restitution" in told.err
    assert main(["nowhere.toml", "-o", out]) == 2
    assert main([str(scene), "--seeds", "0", "-o", out]) == 2
    assert main([str(scene), "--record", "glb", "-o", out]) == 2
    assert main([str(scene), "--set", "simulation.fps=30", "--set", "simulation.fps=60", "-o", out]) == 2
    assert main([str(scene), "--set", "body.ball.restitution=1", "-o", out]) == 2


@pytest.mark.skipif(not hasattr(signal, "SIGKILL") or not Path("/proc").exists(), reason="kills by /proc")
def test_nothing_is_lost_when_a_worker_dies(scene: Path, tmp_path: Path) -> None:
    import ray

    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False, logging_level=40)
    rows: list[dict[str, Any]] = []
    try:
        job = threading.Thread(target=lambda: rows.extend(sweep(scene, seeds=12, frames=200, out=tmp_path / "out")))
        job.start()
        killed = False
        while job.is_alive() and not killed:
            killed = kill_a_worker()
            time.sleep(0.02)
        job.join()
    finally:
        ray.shutdown()
    assert killed
    assert [row["seed"] for row in rows] == list(range(12))
    assert all(row["error"] is None for row in rows)
    assert len(list((tmp_path / "out" / "runs").glob("*.json"))) == 12


def kill_a_worker() -> bool:
    """Kills a simulating Ray process."""
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdecimal() and (process / "cmdline").read_bytes().startswith(b"ray::simulate"):
                os.kill(int(process.name), signal.SIGKILL)
                return True
        except OSError:
            continue
    return False
