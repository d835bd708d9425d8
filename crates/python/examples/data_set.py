"""A data set of broken objects, in ten lines."""

import sys
from pathlib import Path

import trimesh

from brisance.dataset import Spec, make, samples

folder = Path(sys.argv[1])
trimesh.creation.icosphere(subdivisions=3).export(folder / "ball.stl")
table = {"version": 1, "samples": 6, "shard": 2, "material": "china", "split": [1.0, 0.0, 0.0],
         "object": [{"name": "ball", "file": "ball.stl", "size": 0.1, "licence": "CC0"}],
         "pattern": [{"text": "voronoi:20"}]}
make(Spec(table, folder), folder / "balls")
for about, arrays in samples(folder / "balls", "train"):
    print(about["sample"], about["pieces"], f"{about['crack_energy']:.3f} J", arrays["bonds"].shape)
