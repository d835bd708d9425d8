from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import brisance


def ball() -> trimesh.Trimesh:
    mesh: trimesh.Trimesh = trimesh.creation.icosphere(subdivisions=3, radius=0.5)
    return mesh


def test_pieces_are_closed_and_fill_the_solid() -> None:
    mesh = ball()
    broken = brisance.fracture(mesh, pieces=15, seed=2)
    assert len(broken) == 15
    volume = 0.0
    for piece in broken.pieces:
        own = trimesh.Trimesh(piece.vertices, piece.triangles, process=False)
        assert own.is_watertight and own.is_winding_consistent
        assert own.volume == pytest.approx(piece.volume, rel=1e-9)
        assert own.center_mass == pytest.approx(piece.center, abs=1e-9)
        assert own.moment_inertia == pytest.approx(piece.inertia(), abs=1e-9)
        volume += piece.volume
    assert volume == pytest.approx(mesh.volume, rel=1e-9)
    outer = sum(
        trimesh.Trimesh(p.vertices, p.triangles[~p.is_cut], process=False).area for p in broken.pieces
    )
    assert outer == pytest.approx(mesh.area, rel=1e-6)
    inner = sum(
        trimesh.Trimesh(p.vertices, p.triangles[p.is_cut], process=False).area for p in broken.pieces
    )
    assert 2.0 * broken.bond_areas.sum() == pytest.approx(inner, rel=1e-6)
    again = brisance.fracture(mesh.vertices, mesh.faces, pieces=15, seed=2)
    assert all(a.vertices.tobytes() == b.vertices.tobytes() for a, b in zip(broken.pieces, again.pieces))


def test_normals_of_cuts_close_up_the_pieces() -> None:
    mesh = ball()
    # no splinter is merged with a neighbor, so every cut is planar
    broken = brisance.fracture(mesh, pieces=15, seed=2, min_share=0.0)
    # normals point from the first piece to the second, and area vectors add up to zero for a piece
    # without outer faces
    centers = np.array([piece.center for piece in broken.pieces])
    ways = centers[broken.bonds[:, 1]] - centers[broken.bonds[:, 0]]
    assert np.linalg.norm(broken.bond_normals, axis=1) == pytest.approx(1.0)
    assert (np.einsum("ij,ij->i", ways, broken.bond_normals) > 0).all()
    for n, piece in enumerate(broken.pieces):
        corners = piece.vertices[piece.triangles[piece.is_cut]]
        areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).sum(axis=0) / 2.0
        sides = np.where(broken.bonds[:, 0] == n, 1.0, np.where(broken.bonds[:, 1] == n, -1.0, 0.0))
        told = (sides * broken.bond_areas) @ broken.bond_normals
        assert told == pytest.approx(areas, abs=1e-6 * mesh.area)


def test_slices_are_closed_and_add_up() -> None:
    mesh = ball()
    back, front = brisance.slice(mesh, point=(0.0, 0.1, 0.0), normal=(0.0, 1.0, 0.0))
    h = 0.4
    assert front.volume == pytest.approx(np.pi * h * h * (0.5 - h / 3), rel=0.02)
    assert back.volume + front.volume == pytest.approx(mesh.volume, rel=1e-12)
    for half in (back, front):
        assert trimesh.Trimesh(half.vertices, half.triangles, process=False).is_watertight
        assert half.is_cut.any()


def test_level_sets_tell_the_distance() -> None:
    field = brisance.level_set(ball(), spacing=0.03)
    points = np.random.default_rng(1).uniform(-0.4, 0.4, (200, 3))
    expected = np.linalg.norm(points, axis=1) - 0.5
    assert field.sample(points) == pytest.approx(expected, abs=0.01)
    again = brisance.LevelSet.from_array(field.values, origin=field.origin, spacing=field.spacing)
    assert again.values.tobytes() == field.values.tobytes()
    surface = field.to_mesh()
    assert trimesh.Trimesh(surface.vertices, surface.triangles).is_watertight
    assert field.volume == pytest.approx(ball().volume, rel=0.01)


def test_a_bar_in_tension_is_as_hooke_says() -> None:
    bar = trimesh.creation.box((0.2, 1.0, 0.2))
    vertices, tets = brisance.tetrahedralize(bar, cell=0.05)
    bottom, top = vertices[:, 1] < -0.499, vertices[:, 1] > 0.499
    pull, young = 1e4, 1e9
    forces = np.tile([0.0, pull / top.sum(), 0.0], (top.sum(), 1))
    found = brisance.stress(
        vertices, tets, young=young, poisson=0.0, fixed=bottom, points=vertices[top], forces=forces
    )
    assert found.displacements[top, 1].mean() == pytest.approx(pull / 0.04 / young, rel=0.05)
    middle = np.abs(vertices[tets].mean(axis=1)[:, 1]) < 0.2
    assert found.stresses[middle, 1, 1].mean() == pytest.approx(pull / 0.04, rel=0.02)
    assert (found.principal[middle] > 0.8 * pull / 0.04).all()


def test_thin_parts_are_kept_or_refused() -> None:
    plate = trimesh.creation.box((1.0, 0.02, 1.0))
    vertices, tets = brisance.tetrahedralize(plate, cell=0.05)
    corners = vertices[tets]
    volume = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])).sum() / 6.0
    assert volume == pytest.approx(0.02, rel=0.1)
    with pytest.raises(brisance.BrisanceError, match="halvings|inside"):
        brisance.tetrahedralize(plate, cell=0.2, halvings=0)


def test_wrong_arguments_are_refused_by_name() -> None:
    mesh = ball()
    with pytest.raises(ValueError, match="vertices.*shape"):
        brisance.fracture(mesh.vertices[:, :2], mesh.faces)
    with pytest.raises(ValueError, match="triangles.*vertices"):
        brisance.fracture(mesh.vertices, mesh.faces + 1000)
    with pytest.raises(ValueError, match="vertices.*finite"):
        brisance.fracture(mesh.vertices * np.nan, mesh.faces)
    with pytest.raises(TypeError, match="vertices"):
        brisance.fracture("no mesh", mesh.faces)
    with pytest.raises(TypeError, match="trimesh"):
        brisance.fracture(3)
    with pytest.raises(ValueError, match="not both"):
        brisance.fracture(mesh, pattern="voronoi:3", pieces=3)
    with pytest.raises(brisance.BrisanceError, match="voronoi:PIECES"):
        brisance.fracture(mesh, pattern="hexagons:3")
    with pytest.raises(brisance.BrisanceError):
        brisance.slice(mesh.vertices, mesh.faces[1:], point=(0, 0, 0), normal=(0, 1, 0))
    with pytest.raises(ValueError, match="normal"):
        brisance.slice(mesh, point=(0, 0, 0), normal=(0, 0, 0))
    with pytest.raises(ValueError, match=r"`vertices` must be of shape \(n, 3\), not \(0,\)"):
        brisance.fracture([], [])
    for nodes in (0, 511):
        with pytest.raises(ValueError, match=f"`nodes` must be at least 512, not {nodes}"):
            brisance.level_set(mesh, nodes=nodes)
        with pytest.raises(ValueError, match="`nodes`"):
            brisance.fracture(mesh, nodes=nodes)
    for coarse in ({"nodes": 512}, {"spacing": 100.0}):
        with pytest.raises(brisance.BrisanceError, match="nothing is inside"):
            brisance.level_set(mesh, **coarse)
    assert brisance.level_set(mesh, nodes=1000).volume > 0.0
    vertices, tets = brisance.tetrahedralize(mesh, count=200)
    with pytest.raises(brisance.BrisanceError, match=r"points\[1\].*farther"):
        points = [vertices[0], vertices[0] + 3.0]
        brisance.stress(vertices, tets, young=1e9, poisson=0.3, points=points, forces=np.ones((2, 3)))


def test_directions_and_points_are_tuples_lists_or_arrays() -> None:
    mesh = ball()
    points: list[Any] = [(0.0, 0.5, 0.0), [0.0, 0.5, 0.0], np.array([0.0, 0.5, 0.0])]
    whole = [brisance.fracture(mesh, pieces=5, at=point, normal=point) for point in points]
    assert len({piece.pieces[0].vertices.tobytes() for piece in whole}) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="where processes can be forked")
def test_a_forked_process_raises_an_error_that_names_spawn() -> None:
    brisance.fracture(ball(), pieces=3)
    child = os.fork()
    if child == 0:
        try:
            brisance.fracture(ball(), pieces=3)
            os._exit(1)
        except RuntimeError as error:
            os._exit(0 if "spawn" in str(error) else 2)
        finally:
            os._exit(3)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.05)
    else:
        os.kill(child, signal.SIGKILL)
        pytest.fail("the forked process hangs")
    assert os.waitstatus_to_exitcode(status) == 0


NUMBERS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e30, 1e308]),
)
VERTICES = st.one_of(
    hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, max_dims=3, max_side=8), elements=NUMBERS),
    hnp.arrays(np.float64, st.tuples(st.integers(0, 8), st.just(3)), elements=st.floats(-1, 1)),
)
TRIANGLES = st.one_of(
    hnp.arrays(np.int64, hnp.array_shapes(min_dims=0, max_dims=3, max_side=8)),
    hnp.arrays(np.int64, st.tuples(st.integers(0, 12), st.just(3)), elements=st.integers(-1, 8)),
    hnp.arrays(np.float32, st.tuples(st.integers(0, 12), st.just(3)), elements=st.floats(0, 8, width=32)),
)


#: Number of pairs of random arrays for each function.
EXAMPLES = 720


@settings(max_examples=EXAMPLES, deadline=None)
@given(vertices=VERTICES, triangles=TRIANGLES)
def test_no_array_makes_anything_but_a_result_or_an_exception(
    vertices: npt.NDArray[Any], triangles: npt.NDArray[Any]
) -> None:
    calls: list[Callable[[], object]] = [
        lambda: brisance.fracture(vertices, triangles, pieces=3, nodes=500),
        lambda: brisance.slice(vertices, triangles, point=(0, 0, 0), normal=(0, 0, 1)),
        lambda: brisance.level_set(vertices, triangles, nodes=500),
        lambda: brisance.tetrahedralize(vertices, triangles, count=50),
        lambda: brisance.stress(vertices, triangles, young=1e9, poisson=0.3),
        lambda: brisance.LevelSet.from_array(vertices, origin=(0, 0, 0), spacing=0.1),
        lambda: WORLD.copy().add((vertices, triangles), sampling={"nodes": 500}),
    ]
    for call in calls:
        try:
            call()
        except (ValueError, TypeError):
            pass


WORLD = brisance.World(brisance.Scene.from_toml('version = 1\n[[body]]\nname = "a"\nmotion = "static"\nshape = { plane = {} }\n'))
