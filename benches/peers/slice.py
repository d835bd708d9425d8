"""Times peers on the meshes that peers_slice wrote to the given folder.

Prints one JSON line a measurement: {"row", "peer", "peer_ms", "peer_error", "peer_failures"}; a peer
that cannot be imported gives one line with "absent". Times are processor time for both halves, ms.
"""

import glob
import importlib
import json
import os
import sys
import time

FOLDER = sys.argv[1]
CUTS = 60


def timed(run):
    times = []
    result = run()
    while len(times) < 5 or len(times) < 300 and sum(times) < 300:
        start = time.process_time()
        result = run()
        times.append(1e3 * (time.process_time() - start))
    return sorted(times)[len(times) // 2], result


def report(row, peer, ms, error, failures=""):
    line = {"row": row, "peer": peer, "peer_ms": ms, "peer_error": error, "peer_failures": failures}
    print(json.dumps(line), flush=True)


def planes(np, vertices):
    for k in range(1, CUTS + 1):
        normal = np.array([k * s % 1 - 0.5 for s in (0.7548776662, 0.5698402909, 0.4385790214)])
        vertex = vertices[k * 7919 % len(vertices)]
        middle = (np.array([0.5, 0.4, 0.4]) + vertex) / 2
        yield normal / np.linalg.norm(normal), middle
        yield np.eye(3)[k % 3], vertex


def cases(np):
    for path in sorted(glob.glob(FOLDER + "/*.vertices"), key=os.path.getmtime):
        stem = path[: -len("vertices")]
        vertices = np.fromfile(path, "<f8").reshape(-1, 3)
        triangles = np.fromfile(stem + "triangles", "<u4").reshape(-1, 3)
        yield os.path.basename(stem[:-1]), vertices, triangles, float(open(stem + "offset").read())


def with_trimesh(np, trimesh):
    for row, vertices, triangles, offset in cases(np):
        mesh = trimesh.Trimesh(vertices, triangles, process=False)
        mesh.is_watertight

        def both(normal, origin):
            cut = lambda n: mesh.slice_plane(origin, n, cap=True, engine="earcut")
            return [part for part in (cut(normal), cut(-np.asarray(normal))) if part is not None]

        def failed(normal, origin):
            parts = [part for part in both(normal, origin) if len(part.faces)]
            wrong = abs(sum(part.volume for part in parts) / mesh.volume - 1) > 1e-6
            return not all(part.is_watertight for part in parts), wrong

        normal = np.array([0.3, 0.5, 0.81]) / np.linalg.norm([0.3, 0.5, 0.81])
        ms, parts = timed(lambda: both(normal, normal * offset))
        bad = np.zeros(2, int)
        if len(triangles) < 20000:
            for plane in planes(np, vertices):
                try:
                    bad += failed(*plane)
                except Exception:
                    bad[0] += 1
        error = abs(sum(part.volume for part in parts) / mesh.volume - 1)
        report(row, "trimesh", ms, error, f"{bad[0]}+{bad[1]}/{2 * CUTS}")


def with_manifold(np, manifold3d):
    for row, vertices, triangles, offset in cases(np):
        solid = manifold3d.Manifold(manifold3d.Mesh64(vertices, triangles.astype(np.uint64)))
        whole = solid.volume()
        normal = np.array([0.3, 0.5, 0.81]) / np.linalg.norm([0.3, 0.5, 0.81])

        def cut(normal, at):
            parts = solid.split_by_plane(tuple(normal), float(at))
            # the library is lazy: access to the triangles starts the computation
            return [part for part in parts if part.num_tri() >= 0]

        ms, parts = timed(lambda: cut(normal, offset))
        error = abs(sum(part.volume() for part in parts) / whole - 1)
        wrong = 0
        for n, p in planes(np, vertices):
            wrong += abs(sum(part.volume() for part in cut(n, n @ p)) / whole - 1) > 1e-6
        report(row, "manifold3d", ms, error, f"0+{wrong}/{2 * CUTS}")


for name, run in [("trimesh", with_trimesh), ("manifold3d", with_manifold)]:
    try:
        numpy, module = importlib.import_module("numpy"), importlib.import_module(name)
    except ImportError:
        print(json.dumps({"row": None, "peer": name, "absent": True}), flush=True)
        continue
    run(numpy, module)
