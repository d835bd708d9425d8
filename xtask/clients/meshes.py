"""Opens a GLB file and folders of OBJ and PLY files with trimesh, and compares them with each other and with the
JSON lines of the same run.

usage: meshes.py FILE.glb FOLDER.obj FOLDER.ply FILE.jsonl
"""

import json
import sys
from pathlib import Path

import trimesh

glb, obj, ply, truth = sys.argv[1:]
head, *frames = (json.loads(line) for line in open(truth))
bodies = head["bodies"]


def turned(pose):
    """The matrix of a pose."""
    x, y, z, i, j, k, w = pose
    matrix = trimesh.transformations.quaternion_matrix((w, i, j, k))
    matrix[:3, 3] = x, y, z
    return matrix


def solid(meshes):
    """One mesh of the surface and the cuts of a body, with merged vertices."""
    mesh = trimesh.util.concatenate([trimesh.Trimesh(m.vertices, m.faces) for m in meshes])
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    return mesh


scene = trimesh.load_scene(glb)
parts = {}
for node in scene.graph.nodes_geometry:
    _, geometry = scene.graph[node]
    # trimesh creates a geometry for each material, below a node with the name of the body
    name = node if any(b["name"] == node for b in bodies) else scene.graph.transforms.parents[node]
    parts.setdefault(name, []).append(scene.geometry[geometry])
solids = {name: solid(meshes) for name, meshes in parts.items()}
names = {b["name"] for b in bodies}
assert set(solids) == names, f"other bodies: {set(solids) ^ names}"
whole = next(n for n, b in enumerate(bodies) if any(p["parent"] == n for p in bodies))
pieces = [b["name"] for b in bodies if b["parent"] == whole]
for name in [bodies[whole]["name"], *pieces]:
    assert solids[name].is_watertight, f"{name} is not closed"
volume = sum(solids[name].volume for name in pieces)
share = volume / solids[bodies[whole]["name"]].volume
assert abs(share - 1) < 1e-4, f"the pieces have {share} of the volume"

# the last frame of the folders is in world coordinates
last = head["frames"] - 1
drawn = frames[last]
ply_mesh = trimesh.load(Path(ply) / f"frame_{last:05}.ply", process=False)
of_body = ply_mesh.metadata["_ply_raw"]["vertex"]["data"]["body"]
assert sorted(set(of_body)) == sorted(drawn["bodies"]), "other bodies in the PLY file"
for number, pose in zip(drawn["bodies"], drawn["poses"]):
    box = trimesh.transform_points(solids[bodies[number]["name"]].vertices, turned(pose))
    points = ply_mesh.vertices[of_body == number]
    apart = max(abs(box.min(axis=0) - points.min(axis=0)).max(), abs(box.max(axis=0) - points.max(axis=0)).max())
    assert apart < 1e-4, f"{bodies[number]['name']} is {apart} m off in the PLY file"

obj_scene = trimesh.load_scene(Path(obj) / f"frame_{last:05}.obj", process=False)
found = sum(g.area for g in obj_scene.geometry.values())
assert abs(found / ply_mesh.area - 1) < 1e-5, f"the OBJ file has {found} m^2, the PLY file {ply_mesh.area}"
assert abs(obj_scene.bounds - ply_mesh.bounds).max() < 1e-4, "the boxes of the OBJ and the PLY file differ"
print(f"trimesh {trimesh.__version__}: {len(pieces)} closed pieces with {share:.6f} of the volume; GLB, OBJ and PLY agree")
