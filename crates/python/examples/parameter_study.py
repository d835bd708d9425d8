"""Plots the number of pieces of a china cup against the height of its fall, with finite elements."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot
import numpy as np

import brisance

SCENE = """
version = 1
[simulation]
frames = 6
[[body]]
name = "floor"
motion = "static"
material = "stone"
shape = { plane = {} }
"""
scene = brisance.Scene.from_toml(SCENE)
heights, seeds = np.array([0.25, 0.5, 1.0, 2.0, 4.0]), range(3)
pieces = np.zeros((len(heights), len(seeds)))
for row, height in enumerate(heights):
    for seed in seeds:
        tilt = np.random.default_rng(seed).uniform(20.0, 40.0)
        world = brisance.World(scene, record=False)
        # the body starts just above the floor, with the impact speed
        world.add(
            {"cylinder": {"radius": 0.04, "half_height": 0.05}},
            position=(0, 0.09, 0), velocity=(0, -float(np.sqrt(2 * 9.81 * height)), 0),
            rotation={"axis": [1, 0, 0.3], "degrees": float(tilt)}, material="china",
            fracture={"break_impulse": 0.2, "generations": 1,
                      "stress": {"spacing": 0.012, "strength": 3e6, "duration": 1e-4}},
        )
        world.step(scene.frames)
        pieces[row, seed] = max(len(world.pieces()), 1)
plot.errorbar(heights, pieces.mean(axis=1), yerr=pieces.std(axis=1), marker="o", capsize=3)
plot.xscale("log")
plot.xlabel("height of the fall, m")
plot.ylabel("pieces")
plot.title("A china cup on a stone floor, mean and deviation of three tilts")
plot.savefig(sys.argv[1])
for height, counts in zip(heights, pieces):
    print(f"{height:5.2f} m: {counts.mean():.1f} pieces")
