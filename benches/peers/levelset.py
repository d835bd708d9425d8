"""Times peers on the cases that peers_levelset wrote to the given folder.

`levelset.py FOLDER [LIBRARY]...`: libraries named are left out, being timed elsewhere. Prints one
JSON line a measurement: {"row", "peer", "library", "ms", "error"}; a library that cannot be used
gives one line with "reason" and how to "install" it. ms is processor time, the median of several
runs; what error is, the row says.
"""

import glob
import importlib
import json
import sys
import time

import numpy as np

FOLDER = sys.argv[1]
LEFT_OUT = sys.argv[2:]


def timed(run):
    times = []
    while True:
        start = time.process_time()
        result = run()
        times.append(1e3 * (time.process_time() - start))
        if len(times) >= 15 or (sum(times) > 2000 and len(times) >= 3) or sum(times) > 8000:
            return sorted(times)[len(times) // 2], result


def report(row, peer, ms, error=None):
    line = {"row": row, "peer": peer, "library": LIBRARY, "ms": ms, "error": error}
    print(json.dumps(line), flush=True)


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


def numpy_moments(np, about, phi, mesh):
    def run():
        inside = phi < 0
        at = np.argwhere(inside).astype(float)
        return len(at), at.sum(0), at.T @ at

    ms, _ = timed(run)
    report("moments of the samples " + about["name"], "NumPy", ms)


def trimesh_moments(trimesh, about, phi, mesh):
    if mesh is None:
        return

    def run():
        made = trimesh.Trimesh(*mesh, process=False)
        return made.volume, made.center_mass, made.moment_inertia

    ms, got = timed(run)
    error = abs(float(got[0]) / about["volume"] - 1)
    report("moments of the triangles " + about["name"], "trimesh", ms, error)


def tets(row, peer, ms, vertices, tets, about):
    a, b, c, d = (vertices[tets[:, n]] for n in range(4))
    volume = np.abs(np.einsum("ij,ij->i", b - a, np.cross(c - a, d - a))).sum() / 6
    error = abs(volume / about["volume"] - 1)
    report(row, f"{peer} ({len(tets)} tets)", ms / len(tets) * 1e3, float(error))


def gmsh_tets(gmsh, about, phi, mesh):
    if mesh is None or not about["name"].endswith("150"):
        return
    vertices, triangles = mesh

    def run():
        gmsh.initialize(interruptible=False)
        gmsh.option.setNumber("General.Verbosity", 0)
        gmsh.option.setNumber("General.NumThreads", 1)
        gmsh.model.add("mesh")
        surface = gmsh.model.addDiscreteEntity(2)
        numbers = np.arange(1, len(vertices) + 1)
        gmsh.model.mesh.addNodes(2, surface, numbers, vertices.ravel())
        gmsh.model.mesh.addElementsByType(surface, 2, [], triangles.ravel() + 1)
        loop = gmsh.model.geo.addSurfaceLoop([surface])
        gmsh.model.geo.addVolume([loop])
        gmsh.model.geo.synchronize()
        gmsh.option.setNumber("Mesh.MeshSizeMax", 0.05)
        gmsh.model.mesh.generate(3)
        tags, points, _ = gmsh.model.mesh.getNodes()
        _, corners = gmsh.model.mesh.getElementsByType(4)
        gmsh.finalize()
        place = np.zeros(int(tags.max()) + 1, int)
        place[tags] = np.arange(len(tags))
        return points.reshape(-1, 3), place[corners.reshape(-1, 4).astype(int)]

    ms, got = timed(run)
    tets("stuffing, ms for 1000 tets, spacing 0.05 " + about["name"], "gmsh", ms, *got, about)


def tetwild_tets(pytetwild, about, phi, mesh):
    if mesh is None or not about["name"].endswith("150"):
        return
    vertices, triangles = mesh[0], mesh[1].astype(np.int32)
    run = lambda: pytetwild.tetrahedralize(vertices, triangles, edge_length_fac=0.05, num_threads=1)
    ms, got = timed(run)
    tets("stuffing, ms for 1000 tets, spacing 0.05 " + about["name"], "fTetWild", ms, *got[:2], about)


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
        exact = np.fromfile(f"{FOLDER}/{name}.band", "<f4").reshape(about["dims"])
        band = np.abs(exact) < 2.9 * h
        error = np.abs(got - exact)[band].mean() / h
        wrong = ((got < 0) != (exact < 0))[band].sum()
        report(row + name, f"OpenVDB ({wrong} wrong signs)", ms, float(error))


PIP = "pip install "
PEERS = [
    ("scikit-fmm", "skfmm", scikit_fmm, PIP + "scikit-fmm"),
    ("scikit-image", "skimage.measure", scikit_image, PIP + "scikit-image"),
    ("PyMCubes", "mcubes", pymcubes, PIP + "PyMCubes"),
    ("cc3d", "cc3d", components, PIP + "connected-components-3d"),
    ("NumPy", "numpy", numpy_moments, PIP + "numpy"),
    ("trimesh", "trimesh", trimesh_moments, PIP + "trimesh"),
    ("gmsh", "gmsh", gmsh_tets, PIP + "gmsh"),
    ("fTetWild", "pytetwild", tetwild_tets, PIP + "pytetwild pyvista"),
    ("OpenVDB", "pyopenvdb", openvdb, "apt install python3-openvdb, run by /usr/bin/python3"),
]

for LIBRARY, module, run, install in PEERS:
    if LIBRARY in LEFT_OUT:
        continue
    try:
        library = importlib.import_module(module)
        for case in cases():
            run(library, *case)
    except Exception as problem:
        reason = f"{type(problem).__name__}: {problem}"
        line = {"library": LIBRARY, "ms": None, "reason": reason, "install": install}
        print(json.dumps(line), flush=True)
