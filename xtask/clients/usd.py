"""Opens USD files, checks them with the validators of USD, and compares them with the JSON lines of the
same run: its recording as text and in binary, its bodies after the last frame for a physics engine, and its dust.

usage: usd.py FILE.usda FILE.usdc PHYSICS.usda DUST.usda FILE.jsonl
"""

import json
import sys

from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdValidation

usd, binary, physics, dust, truth = sys.argv[1:]
head, *frames = (json.loads(line) for line in open(truth))
bodies, last = head["bodies"], head["frames"] - 1

validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()


def opened(path):
    stage = Usd.Stage.Open(path)
    problems = UsdValidation.ValidationContext(validators).Validate(stage)
    assert not problems, [p.GetMessage() for p in problems]
    return stage


def named_prims(stage):
    prims = [p for p in stage.GetPrimAtPath("/World").GetChildren() if p.IsA(UsdGeom.Xformable)]
    return {p.GetDisplayName() or p.GetName(): p for p in prims}


stage = opened(usd)
opened(binary)
texts = [Sdf.Layer.FindOrOpen(path).ExportToString() for path in (usd, binary)]
assert texts[0] == texts[1], "text and binary differ"
mesh = next(p for p in stage.Traverse() if p.IsA(UsdGeom.Mesh))
assert UsdGeom.PrimvarsAPI(mesh).GetPrimvar("rest").GetInterpolation() == "vertex"

named = named_prims(stage)
drawn = [b["name"] for b in bodies]
missing = [name for name in drawn if name not in named]
assert not missing, f"no prim for {missing}"

for frame in range(head["frames"]):
    alive = {bodies[i]["name"] for i in frames[frame]["bodies"]}
    seen = {n for n in drawn if UsdGeom.Imageable(named[n]).ComputeVisibility(frame) != "invisible"}
    assert seen == alive, f"frame {frame}: {seen ^ alive}"
    # programs without support for visibility use a scale of zero
    scaled = {n for n in drawn if UsdGeom.Xformable(named[n]).GetLocalTransformation(frame).GetDeterminant() > 1e-9}
    assert scaled == alive, f"scales of frame {frame}: {scaled ^ alive}"


def farthest(named, time):
    """The position error of a body in the last frame, m."""
    off, cache = 0.0, UsdGeom.XformCache(time)
    for number, (x, y, z, *_) in zip(frames[last]["bodies"], frames[last]["poses"]):
        matrix = cache.GetLocalToWorldTransform(named[bodies[number]["name"]])
        off = max(off, (matrix.ExtractTranslation() - Gf.Vec3d(x, y, z)).GetLength())
    assert off < 1e-5, f"a body is {off} m off"
    return off


off = farthest(named, last)
scene = opened(physics)
rigid = named_prims(scene)
farthest(rigid, Usd.TimeCode.Default())
moving = [p for p in rigid.values() if p.HasAPI(UsdPhysics.RigidBodyAPI)]
assert all(UsdPhysics.MassAPI(p).GetMassAttr().Get() > 0 for p in moving)
colliders = [c for p in rigid.values() for c in p.GetChildren() if c.HasAPI(UsdPhysics.CollisionAPI)]
assert len(moving) > 30 and len(colliders) > len(moving), (len(moving), len(colliders))
specks_stage = opened(dust)
points = UsdGeom.Points(specks_stage.GetPrimAtPath("/World/Dust"))
positions, velocities, ids = points.GetPointsAttr(), points.GetVelocitiesAttr(), points.GetIdsAttr()
specks = 0
for frame in range(last):
    later = dict(zip(ids.Get(frame + 1), positions.Get(frame + 1)))
    step = 1 / head["fps"]
    for speck, at, velocity in zip(ids.Get(frame), positions.Get(frame), velocities.Get(frame)):
        specks += 1
        if speck in later:
            fallen = Gf.Vec3f(at) + velocity * step + Gf.Vec3f(0, -9.81, 0) * (step * step / 2)
            assert (later[speck] - fallen).GetLength() < 1e-5, f"speck {speck} in frame {frame}"
assert specks > 1000, specks
print(f"USD {'.'.join(map(str, Usd.GetVersion()))}: {len(named)} bodies, none of {len(validators)} validators objects;"
      f" last frame within {off:.1e} m; {len(moving)} rigid bodies, {len(colliders)} colliders; dust falls freely")
