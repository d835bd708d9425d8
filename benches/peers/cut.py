"""Intersects bodies with cells by manifold3d, and checks pieces by trimesh and manifold3d.

Reads what peers_cut wrote to the folder given and prints one JSON line a case: {"case", "peer_ms",
"peer_error", "bad"}, or "absent" with what cannot be imported. Times are processor time, ms.
"""

import json
import os
import sys
import time

FOLDER = sys.argv[1]
RUNS = 5


def meshes(np, path):
    data = open(path, "rb").read()
    at = 0
    while at < len(data):
        vertices, triangles = np.frombuffer(data, "<u4", 2, at)
        at += 8
        points = np.frombuffer(data, "<f8", 3 * vertices, at).reshape(-1, 3)
        at += points.nbytes
        faces = np.frombuffer(data, "<u4", 3 * triangles, at).reshape(-1, 3)
        at += faces.nbytes
        yield points.copy(), faces.copy()


def cases():
    n = 0
    while os.path.exists(f"{FOLDER}/{n}.body"):
        yield n, f"{FOLDER}/{n}"
        n += 1


def run(np, manifold3d, trimesh):
    def solid(points, faces):
        return manifold3d.Manifold(manifold3d.Mesh64(points, faces.astype(np.uint64)))

    for n, stem in cases():
        body = solid(*next(meshes(np, stem + ".body")))
        cells = [solid(*mesh) for mesh in meshes(np, stem + ".cells")]
        times = []
        for _ in range(RUNS):
            start = time.process_time()
            parts = [body ^ cell for cell in cells]
            # the library is lazy: access to the triangles starts the computation
            count = sum(part.num_tri() for part in parts)
            times.append(1e3 * (time.process_time() - start))
        volume = sum(part.volume() for part in parts)
        bad = 0
        for points, faces in meshes(np, stem + ".pieces"):
            # coincident edges may have several pairs of faces: the vertex number distinguishes them
            mesh = trimesh.Trimesh(points, faces, process=False)
            sound = solid(points, faces).status() == manifold3d.Error.NoError
            bad += not (mesh.is_watertight and mesh.is_winding_consistent and sound)
        print(json.dumps({
            "case": n, "peer": "manifold3d", "peer_ms": sorted(times)[RUNS // 2],
            "peer_error": abs(volume / body.volume() - 1), "bad": bad,
        }), flush=True)


try:
    import manifold3d
    import numpy
    import trimesh
except ImportError as error:
    print(json.dumps({"case": 0, "absent": str(error)}), flush=True)
else:
    run(numpy, manifold3d, trimesh)
