import copy
import json
import os
import pickle
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

import brisance

SCENES = Path(__file__).parents[3] / "scenes"

DROP = """
version = 1
[simulation]
frames = 40
seed = 3
[pattern.shards.voronoi]
pieces = 8
[[body]]
name = "floor"
motion = "static"
shape = { plane = {} }
[[body]]
name = "cube"
shape = { box = { half_extents = [0.2, 0.2, 0.2] } }
position = [0.0, 3.0, 0.0]
rotation = { axis = [1.0, 0.0, 0.3], degrees = 30.0 }
fracture = { pattern = "shards", break_impulse = 1.0 }
"""


def world() -> brisance.World:
    return brisance.World(brisance.Scene.from_toml(DROP))


def test_free_fall_is_exact_and_shapes_are_as_documented() -> None:
    w = world()
    w.step(10)
    t = 10 * w.dt
    assert w.poses[1, 1] == pytest.approx(3.0 - 0.5 * 9.81 * t * t, abs=1e-12)
    assert w.velocities[1, 1] == pytest.approx(-9.81 * t, abs=1e-12)
    assert w.poses.shape == (2, 7) and w.velocities.shape == (2, 6)
    assert np.isinf(w.masses[0]) and w.masses[1] == pytest.approx(0.4**3 * 1000.0)
    assert np.linalg.norm(w.poses[:, 3:], axis=1) == pytest.approx(1.0)


def test_a_body_breaks_keeps_its_mass_and_gains_no_energy() -> None:
    w = world()
    mass = w.masses[1]
    reports = w.step(40)
    breaks = [b for report in reports for b in report.breaks]
    assert breaks and len(breaks[0].pieces) > 1
    assert w.masses[1:].sum() == pytest.approx(mass)
    assert max(report.energy_gain - report.work for report in reports) < 1e-9 * 500.0
    assert all(name.startswith("cube.") for name in w.names[1:])
    piece = w.mesh(int(w.ids[1]))
    assert piece.is_cut.any() and not piece.is_cut.all()
    assert json.loads(w.events()[0])["outcome"]


def test_the_same_scene_gives_the_same_bits_on_copies_pickles_and_threads() -> None:
    scene = brisance.Scene.from_toml(DROP)
    first, second = brisance.World(scene), brisance.World(pickle.loads(pickle.dumps(scene)))
    first.step(20)
    twin = copy.deepcopy(first)
    threads = [threading.Thread(target=w.step, args=(n,)) for w, n in ((first, 20), (twin, 20), (second, 40))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert first.poses.tobytes() == twin.poses.tobytes() == second.poses.tobytes()


def test_recordings_hold_every_frame_and_are_written(tmp_path: Path) -> None:
    w = world()
    recording = w.run()
    assert recording.frames == 41 and len(recording.energies) == 41
    bodies, poses = recording.poses(40)
    assert len(bodies) == len(w) and poses.tobytes() == w.poses.tobytes()
    recording.write(tmp_path / "a.glb")
    assert (tmp_path / "a.glb").read_bytes()[:4] == b"glTF"
    with pytest.raises(brisance.BrisanceError, match="unsupported output format"):
        recording.write(tmp_path / "a.mp5")
    with pytest.raises(IndexError):
        recording.poses(41)
    quiet = brisance.World(brisance.Scene.from_toml(DROP), record=False)
    quiet.step(40)
    assert quiet.poses.tobytes() == w.poses.tobytes()
    with pytest.raises(RuntimeError, match="record=True"):
        quiet.recording()


def test_a_game_acts_on_bodies() -> None:
    w = world()
    cube = int(w.ids[1])
    w.set_gravity((0.0, 0.0, 0.0))
    w.set_velocity(cube, (1.0, 0.0, 0.0))
    w.step(30)
    assert w.poses[1, 0] == pytest.approx(1.0)
    w.apply_force(cube, (w.masses[1] / w.dt, 0.0, 0.0))
    w.step()
    assert w.velocities[1, 0] == pytest.approx(2.0)
    w.push(cube, (0.0, w.masses[1], 0.0))
    assert w.velocities[1, 1] == pytest.approx(1.0)
    with pytest.raises(brisance.BrisanceError, match="not dynamic"):
        w.push(int(w.ids[0]), (1.0, 0.0, 0.0))
    w.set_pose(cube, [5.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    hit = w.cast_ray((5.0, 9.0, 0.0), (0.0, -1.0, 0.0))
    assert hit is not None and hit.body == cube and hit.distance == pytest.approx(7.8)
    assert hit.normal == pytest.approx([0.0, 1.0, 0.0])
    assert list(w.overlap_ball((5.0, 1.0, 0.0), 0.01)) == [cube]
    near = w.nearest((5.0, 1.5, 0.0))
    assert near is not None and near.distance == pytest.approx(0.3)
    halves = w.cut([[4.0, 1.0, -2.0], [4.0, 1.0, 2.0]], [[6.0, 1.0, -2.0], [6.0, 1.0, 2.0]])
    assert len(halves) == 1 and len(halves[0].pieces) == 2
    assert w.names[1:] == ["cube.0", "cube.1"]
    w.step()
    recording = w.recording()
    assert recording.names == ["floor", "cube", "cube.0", "cube.1"]
    assert recording.lives[2:, 0].tolist() == [w.frame, w.frame] and len(recording.poses(w.frame)[0]) == 3
    w.remove(halves[0].pieces[0])
    assert len(w) == 2
    with pytest.raises(KeyError):
        w.remove(cube)


@pytest.mark.skipif("BRISANCE" not in os.environ, reason="BRISANCE names no program to compare with")
def test_bodies_go_where_the_program_takes_them_bit_by_bit(tmp_path: Path) -> None:
    scene = SCENES / "vase.toml"
    out = tmp_path / "vase.jsonl"
    command = [os.environ["BRISANCE"], "run", str(scene), "--frames", "25", "--quiet", "-o", str(out)]
    subprocess.run(command, check=True)
    lines = out.read_text().splitlines()
    w = brisance.World(brisance.Scene.load(scene, frames=25))
    recording = w.run()
    assert max(len(report["bodies"]) for report in map(json.loads, lines[1:])) > 3
    for frame, line in enumerate(lines[1:]):
        truth = json.loads(line)
        bodies, poses = recording.poses(frame)
        assert bodies.tolist() == truth["bodies"] and poses.tolist() == truth["poses"]


def test_progress_is_called_and_its_exceptions_come_out() -> None:
    frames: list[int] = []
    w = world()
    w.step(5, progress=lambda frame, bodies: frames.append(frame))
    assert frames == [1, 2, 3, 4, 5]

    def stop(frame: int, bodies: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        w.step(5, progress=stop)
    assert w.frame == 6


def test_scenes_of_the_folder_load_and_bad_ones_say_where() -> None:
    scene = brisance.Scene.load(SCENES / "vase.toml", frames=3, fps=60.0, seed=9)
    assert (scene.frames, scene.fps, scene.seed) == (3, 60.0, 9)
    brisance.World(scene).step(3)
    with pytest.raises(FileNotFoundError):
        brisance.Scene.load("nowhere.toml")
    with pytest.raises(brisance.BrisanceError, match="versoin"):
        brisance.Scene.from_toml("versoin = 1")
    with pytest.raises(brisance.BrisanceError):
        brisance.Scene.from_toml(DROP, fps=-1.0)
