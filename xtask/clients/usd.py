"""Opens a USD file, lets USD's own validators look at it, and compares it with the JSON lines of the
same run.

usage: usd.py FILE.usda FILE.jsonl
"""

import json
import sys

from pxr import Gf, Usd, UsdGeom, UsdValidation

usd, truth = sys.argv[1:]
head, *frames = (json.loads(line) for line in open(truth))
bodies, last = head["bodies"], head["frames"] - 1

stage = Usd.Stage.Open(usd)
validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
problems = UsdValidation.ValidationContext(validators).Validate(stage)
assert not problems, [p.GetMessage() for p in problems]

prims = [p for p in stage.GetPrimAtPath("/World").GetChildren() if p.IsA(UsdGeom.Xformable)]
named = {p.GetDisplayName() or p.GetName(): p for p in prims}
drawn = [b["name"] for b in bodies]
missing = [name for name in drawn if name not in named]
assert not missing, f"no prim for {missing}"

for frame in range(head["frames"]):
    alive = {bodies[i]["name"] for i in frames[frame]["bodies"]}
    seen = {n for n in drawn if UsdGeom.Imageable(named[n]).ComputeVisibility(frame) != "invisible"}
    assert seen == alive, f"frame {frame}: {seen ^ alive}"
    # programs that do not import visibility see a scale of zero
    scaled = {n for n in drawn if UsdGeom.Xformable(named[n]).GetLocalTransformation(frame).GetDeterminant() > 1e-9}
    assert scaled == alive, f"scales of frame {frame}: {scaled ^ alive}"

farthest = 0.0
cache = UsdGeom.XformCache(last)
for number, (x, y, z, *_) in zip(frames[last]["bodies"], frames[last]["poses"]):
    matrix = cache.GetLocalToWorldTransform(named[bodies[number]["name"]])
    farthest = max(farthest, (matrix.ExtractTranslation() - Gf.Vec3d(x, y, z)).GetLength())
assert farthest < 1e-5, f"a body is {farthest} m off"
print(f"USD {'.'.join(map(str, Usd.GetVersion()))}: {len(prims)} bodies, none of {len(validators)} validators objects;"
      f" last frame within {farthest:.1e} m")
