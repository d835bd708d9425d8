"""Opens the output of `brisance blender` for a recording, and compares it with the JSON lines of the same run.

usage: blend.py FILE.blend|FILE.usdc FILE.jsonl
"""

import json
import sys

import bpy

made, truth = sys.argv[1:]
head, *frames = (json.loads(line) for line in open(truth))
bodies, last = head["bodies"], head["frames"] - 1

if made.endswith(".blend"):
    bpy.ops.wm.open_mainfile(filepath=made)
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    assert abs(rate - head["fps"]) < 1e-9, f"{rate} frames per second"
    assert (scene.frame_start, scene.frame_end) == (0, last), (scene.frame_start, scene.frame_end)
    groups = [o for o in scene.objects if o.type == "EMPTY"]
    broken = {b["parent"] for b in bodies if b.get("parent") is not None}
    assert bool(broken) == bool(groups), f"{len(groups)} empties"
    for group in groups:
        assert len(group.children) > 1, f"{group.name} holds {len(group.children)}"
else:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = round(head["fps"])
    bpy.ops.wm.usd_import(filepath=made)
scene = bpy.context.scene
meshes = [o for o in scene.objects if o.type == "MESH"]
for frame, line in enumerate(frames):
    scene.frame_set(frame)
    shown = sum(o.matrix_world.to_scale().length > 0.5 for o in meshes)
    assert shown == len(line["bodies"]), f"frame {frame}: {shown} of {len(line['bodies'])} bodies"
print(f"{made}: {len(meshes)} meshes, born and gone in the right frames")
