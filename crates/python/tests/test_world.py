import base64
import copy
import gc
import json
import os
import pickle
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

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
    with pytest.raises(ValueError, match="`radius` must be above 0 and at most 1e30"):
        w.overlap_ball((5.0, 1.0, 0.0), 1e300)
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


BARE = """
version = 1
[simulation]
frames = 30
[pattern.shards.voronoi]
pieces = 6
[material.oak]
density = 700.0
friction = 0.5
restitution = 0.3
[[body]]
name = "floor"
motion = "static"
shape = { plane = {} }
"""


def bare() -> brisance.World:
    return brisance.World(brisance.Scene.from_toml(BARE))


def test_bodies_are_added_as_scenes_have_them() -> None:
    w = bare()
    w.step(3)
    ball = w.add({"sphere": {"radius": 0.1}}, position=np.array([0.0, 5.0, 0.0]), density=np.float64(500.0))
    box = w.add(
        {"box": {"half_extents": [0.1, 0.2, 0.3]}}, name="box", position=(2, 5, 0), density=1000,
        fracture={"pattern": "shards", "break_impulse": 0.5},
    )
    mesh = trimesh.creation.box((0.2, 0.4, 0.6))
    other = w.add(mesh, name="mesh", position=(4, 5, 0), density=1000)
    arrays = w.add((mesh.vertices, mesh.faces), name="arrays", position=(6, 5, 0), density=1000)
    assert w.names == ["floor", "body 1", "box", "mesh", "arrays"]
    assert w.masses[1:] == pytest.approx([500 * 4 / 3 * np.pi * 1e-3, 48.0, 48.0, 48.0], rel=1e-6)
    t = 10 * w.dt
    w.step(10)
    assert w.poses[1:, 1] == pytest.approx(5.0 - 0.5 * 9.81 * t * t, abs=1e-9)
    # a body of a scene moves like an added body
    whole = brisance.World(
        brisance.Scene.from_toml(
            BARE + '[[body]]\nname = "a"\nshape = { sphere = { radius = 0.1 } }\nposition = [0, 5, 0]\ndensity = 500\n'
        )
    )
    whole.step(10)
    assert whole.poses[1].tobytes() == w.poses[1].tobytes()
    w.run()
    w.step(40)
    assert len(w.pieces()) > 1 and box not in w.ids and set(w.pieces()) < set(w.ids)
    recording = w.recording()
    assert recording.lives[1, 0] == 4 and recording.names[:5] == w.names[:3][:1] + ["body 1", "box", "mesh", "arrays"]
    assert {ball, other, arrays} <= set(w.ids)
    report = w.report
    assert report is not None and report.frame == w.frame


def test_bodies_that_cannot_be_are_refused_and_leave_the_world_as_it_was() -> None:
    w = bare()
    sphere = {"sphere": {"radius": 0.1}}
    w.add(sphere, name="a")
    wrong: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        (sphere, {"name": "a"}, ValueError, "already"),
        (sphere, {"densty": 3}, brisance.BrisanceError, "densty"),
        (sphere, {"density": -3}, brisance.BrisanceError, "density"),
        (sphere, {"position": (np.nan, 0, 0)}, ValueError, "finite"),
        (sphere, {"position": object()}, TypeError, "no number"),
        (sphere, {"fracture": {"pattern": "none", "break_impulse": 1}}, brisance.BrisanceError, "none"),
        (sphere, {"copies": {"count": [2, 1, 1], "spacing": [1, 1, 1]}}, ValueError, "copies"),
        ({"pieces": {"files": ["a.obj"]}}, {}, ValueError, "pieces"),
        ({"mesh": {"file": "gone.obj"}}, {}, FileNotFoundError, "gone.obj"),
        ({"sphere": {}}, {}, brisance.BrisanceError, "radius"),
        (3, {}, TypeError, "trimesh"),
        ("sphere", {}, TypeError, '"radius": 0.1'),
        ((np.zeros((3, 2)), [[0, 1, 2]]), {}, ValueError, "shape"),
        ((np.zeros((3, 3)), [[0, 1, 2]]), {}, brisance.BrisanceError, "mesh"),
    ]
    for shape, keys, kind, words in wrong:
        with pytest.raises(kind, match=words):
            w.add(shape, **keys)
        assert w.names == ["floor", "a"] and len(w.ids) == 2
    w.step(2)


def test_joints_and_anchors_hold_bodies() -> None:
    w = bare()
    post = w.add({"box": {"half_extents": [0.1, 1.0, 0.1]}}, name="post", position=(0, 1, 0), material="stone",
                 fracture={"pattern": "shards"})
    bob = w.add({"sphere": {"radius": 0.1}}, name="bob", position=(1, 2, 0), density=1000)
    w.anchor(post, [{"plane": {"normal": [0, 1, 0], "offset": 0.1}}])
    with pytest.raises(brisance.BrisanceError, match="anchored"):
        w.anchor(post)
    with pytest.raises(brisance.BrisanceError, match="`fracture`"):
        w.anchor(bob, [{"plane": {"normal": [0, 1, 0], "offset": 0.1}}])
    rod = w.join("distance", post, bob, anchor=(0, 2, 0), second_anchor=(1, 2, 0))
    low = 9.0
    for _ in range(40):
        w.step()
        place = w.poses[2, :3]
        assert np.linalg.norm(place - [0, 2, 0]) == pytest.approx(1.0, abs=2e-3)
        low = min(low, float(place[1]))
    assert low < 1.1
    assert w.poses[1, :3] == pytest.approx([0, 1, 0], abs=1e-12)
    w.unjoin(rod)
    w.step(20)
    assert np.linalg.norm(w.poses[2, :3] - [0, 2, 0]) > 1.05
    with pytest.raises(KeyError):
        w.unjoin(rod)
    with pytest.raises(KeyError):
        w.join("point", post, 99, anchor=(0, 0, 0))
    with pytest.raises(brisance.BrisanceError, match="glue"):
        w.join("glue", post, bob, anchor=(0, 0, 0))
    with pytest.raises(brisance.BrisanceError):
        w.join("point", post, bob, anchor=(0, 0, 0), motor={"speed": 1.0, "most": 1.0})
    with pytest.raises(ValueError, match="strength"):
        w.anchor(bob, strength=-1.0)


def test_pickled_worlds_go_on_with_the_same_bits() -> None:
    w = bare()
    cube = w.add({"box": {"half_extents": [0.2, 0.2, 0.2]}}, position=(0, 2, 0), density=800,
                 fracture={"pattern": "shards", "break_impulse": 1.0})
    mesh = trimesh.creation.icosphere(subdivisions=1, radius=0.2)
    ball = w.add(mesh, name="ball", position=(0.1, 3, 0), density=800)
    w.step(5)
    w.set_velocity(cube, (0.3, -1.0, 0.1), (1.0, 2.0, 3.0))
    w.push(ball, (0.0, -30.0, 0.0), (0.0, 3.1, 0.0))
    w.apply_force(ball, (0.0, 0.0, 50.0))
    w.step(20)
    w.set_gravity((0.0, -5.0, 0.0))
    w.set_pose(ball, [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 2.0])
    w.cut([[-2.0, 0.1, -2.0], [-2.0, 0.1, 2.0]], [[2.0, 0.1, -2.0], [2.0, 0.1, 2.0]])
    twin = pickle.loads(pickle.dumps(w))
    assert len(twin) == len(w) > 3 and twin.names == w.names and twin.frame == 25
    for one in (w, twin):
        one.step(15)
    assert w.poses.tobytes() == twin.poses.tobytes() and w.velocities.tobytes() == twin.velocities.tobytes()
    assert w.events() == twin.events()
    assert w.recording().energies.tobytes() == twin.recording().energies.tobytes()


def poses_in_page(page: str, frame: int) -> dict[int, list[float]]:
    """The poses of a frame as the scripts of an embedded page read them in Node."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node")
    modules = json.loads(page.split('<script type="importmap">')[1].split("</script>")[0])["imports"]
    data = page.split('id="embedded">')[1].split("</script>")[0]
    # Node has no import map: replace the name of the module by its address
    prefix = "data:text/javascript;base64,"
    playback = base64.b64decode(modules["playback.js"].removeprefix(prefix)).decode()
    playback = playback.replace('from "packed.js"', f'from "{modules["packed.js"]}"')
    address = prefix + base64.b64encode(playback.encode()).decode()
    script = f"""
    const {{ decode, lives }} = await import({json.dumps(address)});
    const recording = decode({json.dumps(data)});
    const pose = (body) => Array.from(body.poses.slice(7 * ({frame} - body.birth), 7 * ({frame} + 1 - body.birth)));
    const alive = recording.bodies.filter((body) => lives(body, {frame}));
    console.log(JSON.stringify(Object.fromEntries(alive.map((body) => [body.number, pose(body)]))));
    """
    run = subprocess.run([node, "--input-type=module", "-"], input=script, capture_output=True, text=True, check=True)
    return {int(body): pose for body, pose in json.loads(run.stdout).items()}


def test_a_recording_plays_in_a_page_of_its_own() -> None:
    recording = world().run()
    page = recording.to_html(name="</script><b>drop")
    assert page.count("</html>") == 1 and "</script><b>" not in page
    assert "importmap" in page and "http://" not in page.replace("http://www.w3.org", "")
    played = poses_in_page(page, 20)
    bodies, poses = recording.poses(20)
    assert sorted(played) == bodies.tolist()
    for body, pose in zip(bodies, poses):
        assert np.allclose(played[int(body)], pose, atol=1e-5)
    frame = recording._repr_html_()
    assert frame.startswith("<iframe") and frame.count("<") == 2 and len(frame) < 16_000_000
    with pytest.raises(brisance.BrisanceError, match="brisance view"):
        recording.to_html(max_bytes=1000)


@pytest.fixture
def no_collections() -> Iterator[None]:
    """Hypothesis hooks into garbage collection, and Python ignores exceptions in such a hook, including Ctrl-C."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.usefixtures("no_collections")
def test_ctrl_c_ends_long_calls() -> None:
    mesh = trimesh.creation.icosphere(subdivisions=6, radius=1.0)
    calls: list[Callable[[], object]] = [
        lambda: brisance.fracture(mesh, pieces=10_000),
        lambda: brisance.tetrahedralize(mesh, count=2_000_000),
        lambda: world().step(100_000),
    ]
    for call in calls:
        timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
        start = time.monotonic()
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            call()
        assert time.monotonic() - start < 5.0


def test_a_servo_turns_a_door_to_an_angle_and_holds_it() -> None:
    w = bare()
    post = w.add({"box": {"half_extents": [0.1, 1, 0.1]}}, name="post", motion="static", position=(0, 2, 0))
    door = w.add({"box": {"half_extents": [0.5, 0.9, 0.02]}}, name="door", density=600, position=(0.7, 2, 0))
    hinge = w.join("hinge", door, post, anchor=(0.15, 2, 0), axis=(0, 1, 0))
    assert w.joint(hinge).bodies == [door, post]
    assert w.joint(hinge).motor is None
    for _ in range(60):
        w.set_motor(hinge, 4 * (np.pi / 2 - w.joint(hinge).coordinate), 200)
        w.step()
    assert w.joint(hinge).coordinate == pytest.approx(np.pi / 2, abs=0.02)
    motor = w.joint(hinge).motor
    assert motor is not None and motor[1] == 200
    # a pickle repeats the motor
    twin = pickle.loads(pickle.dumps(w))
    assert twin.joint(hinge).coordinate == w.joint(hinge).coordinate
    w.set_motor(hinge, None)
    assert w.joint(hinge).motor is None
    with pytest.raises(brisance.BrisanceError, match="force not negative"):
        w.set_motor(hinge, 1, -1)
    with pytest.raises(KeyError):
        w.set_motor(99, 1, 1)
