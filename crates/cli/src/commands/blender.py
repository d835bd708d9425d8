"""Makes a file of another program from a recording of brisance, by Blender.

usage: blender --background --python-exit-code 1 --python blender.py -- RECORDING.glb OUT
       python blender.py -- RECORDING.glb OUT          (where the module bpy is installed)

OUT ends in .blend, .abc, .fbx or .usdc. The scene gets the frame rate and the range of the recording, and
all that came of a body that broke is below an empty with the name of the body.
"""

import json
import struct
import sys

import bpy


def recording(path):
    """The JSON of a GLB."""
    with open(path, "rb") as file:
        magic, version, _, length, kind = struct.unpack("<4sIIII", file.read(20))
        if magic != b"glTF" or version != 2 or kind != 0x4E4F534A:
            raise SystemExit(f"{path} is no GLB: give a recording that `brisance run` wrote")
        return json.loads(file.read(length))


def set_rate(scene, fps):
    """Sets the rate of the recording before the import, which converts key times from seconds to frames."""
    scene.render.fps = max(1, round(fps))
    scene.render.fps_base = scene.render.fps / fps


def group(scene, nodes):
    """Makes an empty the parent of the pieces of each broken body."""
    root = list(range(len(nodes)))
    for n, node in enumerate(nodes):
        parent = node.get("extras", {}).get("parent")
        if parent is not None:
            root[n] = root[parent]
    broken = sorted({root[n] for n in range(len(nodes)) if root[n] != n})
    objects = {node["name"]: scene.objects.get(node["name"]) for node in nodes}
    for whole in broken:
        empty = bpy.data.objects.new(f"{nodes[whole]['name']} pieces", None)
        empty.empty_display_size = 0.1
        scene.collection.objects.link(empty)
        for n, node in enumerate(nodes):
            if root[n] == whole and objects[node["name"]] is not None:
                objects[node["name"]].parent = empty
    return len(broken)


def main(source, out):
    document = recording(source)
    extras = document.get("scenes", [{}])[0].get("extras", {})
    fps, frames = extras.get("fps"), extras.get("frames")
    if not fps or not frames:
        raise SystemExit(f"{source} has no frame rate: give a recording that `brisance run` wrote")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    set_rate(scene, fps)
    bpy.ops.import_scene.gltf(filepath=source, import_shading="NORMALS")
    scene.frame_start, scene.frame_end = 0, frames - 1
    scene.frame_set(0)
    groups = group(scene, document.get("nodes", []))
    if out.endswith(".blend"):
        bpy.ops.wm.save_as_mainfile(filepath=out, compress=True)
    elif out.endswith(".abc"):
        bpy.ops.wm.alembic_export(filepath=out, start=0, end=frames - 1, as_background_job=False)
    elif out.endswith(".fbx"):
        bpy.ops.export_scene.fbx(
            filepath=out, object_types={"EMPTY", "MESH"}, bake_anim_use_all_actions=False,
            bake_anim_use_nla_strips=False, bake_anim_simplify_factor=0.0, add_leaf_bones=False,
        )
    elif out.endswith(".usdc"):
        bpy.ops.wm.usd_export(filepath=out, export_animation=True)
    else:
        raise SystemExit(f"{out} ends in none of .blend, .abc, .fbx and .usdc")
    print(f"brisance: {len(scene.objects) - groups} bodies, {groups} of them broken, {frames} frames at {fps:g} a second")


main(*sys.argv[sys.argv.index("--") + 1 :])
