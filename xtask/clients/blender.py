"""Imports a GLB into Blender and compares it with the JSON lines of the same run.

usage: blender.py FILE.glb FILE.jsonl
"""

import json
import sys

import bpy
from mathutils import Quaternion, Vector

glb, truth = sys.argv[1:]
head, *frames = (json.loads(line) for line in open(truth))
bodies, last = head["bodies"], head["frames"] - 1

bpy.ops.wm.read_factory_settings(use_empty=True)
# keys fall on whole frames only at the frame rate of the recording
bpy.context.scene.render.fps = round(head["fps"])
bpy.ops.import_scene.gltf(filepath=glb)
scene = bpy.context.scene
objects = {o.name: o for o in scene.objects}
assert len(objects) == len(bodies), f"{len(objects)} objects for {len(bodies)} bodies"

# glTF has y up, Blender z
TO_BLENDER = Quaternion((0.5**0.5, 0.5**0.5, 0, 0))


def shown(frame):
    """Names of the bodies with a nonzero scale."""
    scene.frame_set(frame)
    return {name for name, o in objects.items() if o.matrix_world.to_scale().length > 0.5}


alive = [{bodies[i]["name"] for i in frame["bodies"]} for frame in frames]
for frame in range(head["frames"]):
    assert shown(frame) == alive[frame], f"frame {frame}: {shown(frame) ^ alive[frame]}"

scene.frame_set(last)
farthest = turned = 0.0
for number, pose in zip(frames[last]["bodies"], frames[last]["poses"]):
    matrix = objects[bodies[number]["name"]].matrix_world
    x, y, z, i, j, k, w = pose
    farthest = max(farthest, (matrix.to_translation() - TO_BLENDER @ Vector((x, y, z))).length)
    # the axes x and y of the body are x and z of the mesh in Blender
    for own, axis in ((Vector((1, 0, 0)), Vector((1, 0, 0))), (Vector((0, 0, 1)), Vector((0, 1, 0)))):
        there = TO_BLENDER @ (Quaternion((w, i, j, k)) @ axis)
        turned = max(turned, (matrix.to_quaternion() @ own - there).length)
assert farthest < 1e-5, f"a body is {farthest} m off"
assert turned < 1e-4, f"a body is turned by {turned} rad"
print(f"Blender {bpy.app.version_string}: {len(objects)} objects, born and gone in the right frames;"
      f" last frame within {farthest:.1e} m and {turned:.1e} rad")
