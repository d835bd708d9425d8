"""Times peers on the cases that peers_levelset wrote to the folder given.

Prints one JSON line a measurement: {"row", "peer", "ms", "error"}; a peer that cannot be imported
gives one line whose ms is null. ms is processor time, the median of several runs; error is the mean
absolute difference from the exact field in cells, or for bands the share of wrong signs.
"""

import glob
import importlib
import json
import sys
import time

import numpy as np

FOLDER = sys.argv[1]


def timed(run):
    times = []
    while True:
        start = time.process_time()
        result = run()
        times.append(1e3 * (time.process_time() - start))
        if len(times) >= 15 or (sum(times) > 2000 and len(times) >= 3) or sum(times) > 8000:
            return sorted(times)[len(times) // 2], result


def report(row, peer, ms, error=None):
    print(json.dumps({"row": row, "peer": peer, "ms": ms, "error": error}), flush=True)


def cases():
    for path in sorted(glob.glob(FOLDER + "/*.json")):
        about = json.load(open(path))
        stem = path[: -len("json")]
        phi = np.fromfile(stem + "phi", "<f4").reshape(about["dims"])
        mesh = None
        if about["mesh"]:
            vertices = np.fromfile(stem + "vertices", "<f8").reshape(-1, 3)
            mesh = vertices, np.fromfile(stem + "triangles", "<u4").reshape(-1, 3)
        yield about, phi, mesh


def scikit_fmm(skfmm, about, phi, mesh):
    name, h = about["name"], about["spacing"]
    for order in [1, 2]:
        ms, got = timed(lambda: skfmm.distance(phi.astype(float), dx=h, order=order))
        error = float(np.abs(got - phi).mean() / h)
        report("redistance " + name, f"scikit-fmm order {order}", ms, error)
        if order == 2:
            report("fast marching, second order " + name, "scikit-fmm order 2", ms, error)


def scikit_image(measure, about, phi, mesh):
    ms, _ = timed(lambda: measure.marching_cubes(phi, 0.0, spacing=[about["spacing"]] * 3))
    report("marching cubes " + about["name"], "scikit-image", ms)


def pymcubes(mcubes, about, phi, mesh):
    ms, _ = timed(lambda: mcubes.marching_cubes(phi, 0.0))
    report("marching cubes " + about["name"], "PyMCubes", ms)


def components(cc3d, about, phi, mesh):
    inside = (phi < 0).view(np.uint8)
    ms, _ = timed(lambda: cc3d.connected_components(inside, connectivity=6))
    report("components " + about["name"], "cc3d", ms)


def trimesh_moments(trimesh, about, phi, mesh):
    if mesh is None:
        return

    def run():
        made = trimesh.Trimesh(*mesh, process=False)
        return made.volume, made.center_mass, made.moment_inertia

    ms, _ = timed(run)
    report("moments " + about["name"], "trimesh (of the triangles)", ms)


def openvdb(vdb, about, phi, mesh):
    if mesh is None:
        return
    name, h = about["name"], about["spacing"]
    # nodes of the grid at whole index coordinates
    vertices = mesh[0] - np.array(about["origin"])
    transform = vdb.createLinearTransform(voxelSize=h)
    for row, half_width in [("mesh to band ", 3.0), ("mesh to dense ", 100.0)]:
        if half_width > 3.0 and np.prod(about["dims"]) > 1 << 22:
            continue

        def run():
            return vdb.FloatGrid.createLevelSetFromPolygons(
                vertices, mesh[1], transform=transform, halfWidth=half_width
            )

        ms, grid = timed(run)
        got = np.zeros(about["dims"], np.float32)
        grid.copyToArray(got)
        band = np.abs(phi) < 3 * h
        wrong = (got < 0) != (phi < 0)
        report(row + name, "OpenVDB", ms, float(wrong[band].mean()))


PEERS = [
    ("scikit-fmm", "skfmm", scikit_fmm),
    ("scikit-image", "skimage.measure", scikit_image),
    ("PyMCubes", "mcubes", pymcubes),
    ("cc3d", "cc3d", components),
    ("trimesh", "trimesh", trimesh_moments),
    ("OpenVDB", "pyopenvdb", openvdb),
]

for peer, module, run in PEERS:
    try:
        library = importlib.import_module(module)
    except ImportError:
        report(None, peer, None)
        continue
    for case in cases():
        run(library, *case)
