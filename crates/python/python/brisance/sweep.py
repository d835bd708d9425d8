"""Many runs of a scene in parallel: ``python -m brisance.sweep SCENE --set KEY=A,B --seeds N -o FOLDER``.

Every run is a Ray task on one processor. Ray repeats a task whose worker dies. Finished runs are never repeated, so the
same command resumes a stopped sweep. The folder contains ``results.parquet`` with a row per run, and ``runs/`` with a
file per run.

Needs ``pip install "brisance[sweep]"``: Ray, pyarrow and tomli-w.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import Scene, World, __version__
from ._tasks import each, progress_of, write_whole
from ._variants import changed, combinations, draws, parsed

#: File name extensions of recordings.
RECORDINGS = (".glb", ".jsonl", ".usda", ".usdc", ".pvd")


@dataclass(frozen=True)
class Run:
    """One run of a sweep."""

    #: Name: a hash of all inputs of the run.
    name: str
    #: The scene.
    text: str
    #: Folder of the files of the scene.
    folder: str
    #: Values that differ from the scene.
    values: dict[str, Any]
    seed: int
    frames: int | None
    fps: float | None

    @staticmethod
    def of(
        text: str, path: Path, values: Mapping[str, Any], seed: int, frames: int | None, fps: float | None, digest: int
    ) -> Run:
        """A run of a scene with changed values; ``digest`` is the hash of all files of the scene."""
        folder = path.parent
        own = changed(text, values) if values else text
        decides = json.dumps([__version__, own, str(folder.resolve()), seed, frames, fps, digest])
        name = hashlib.sha256(decides.encode()).hexdigest()[:16]
        return Run(name, own, str(folder), dict(values), seed, frames, fps)


def simulate(run: Run, out: str, recording: str | None) -> dict[str, Any]:
    """Simulates a run; writes and returns its row. The row of a failed run has an ``error``."""
    start = time.perf_counter()
    row: dict[str, Any] = {"run": run.name, "seed": run.seed, **run.values}
    path = Path(out) / "runs" / f"{run.name}.json"
    try:
        row.update(outcome(run, path, recording))
        row["error"] = None
    except (ValueError, OSError) as error:
        row["error"] = str(error)
    row["seconds"] = time.perf_counter() - start
    row["version"] = __version__
    write_whole(path, json.dumps(row).encode())
    return row


def outcome(run: Run, path: Path, recording: str | None) -> dict[str, Any]:
    """The results of a run, in SI units."""
    scene = Scene.from_toml(run.text, folder=run.folder, seed=run.seed, frames=run.frames, fps=run.fps)
    world = World(scene, record=recording is not None)
    mass = float(sum(m for m in world.masses if m != float("inf")))
    reports = world.step(scene.frames)
    if recording is not None:
        world.recording().write(path.with_suffix(recording))
    masses = [float(m) for m in world.masses if m != float("inf")]
    return {
        "frames": len(reports),
        "bodies": len(world),
        "breaks": sum(len(report.breaks) for report in reports),
        "pieces": sum(len(one.pieces) for report in reports for one in report.breaks),
        "mass_at_start": mass,
        "mass": sum(masses),
        "largest_mass": max(masses, default=0.0),
        "kinetic_energy": world.kinetic_energy,
        "potential_energy": world.potential_energy,
        "work": sum(report.work for report in reports),
        "dissipated": sum(report.dissipated for report in reports),
        "largest_energy_gain": max((r.energy_gain - r.work for r in reports), default=0.0),
    }


def finished(out: Path, run: Run, recording: str | None) -> dict[str, Any] | None:
    """The row of a run that an earlier call finished, with a recording if requested."""
    path = out / "runs" / f"{run.name}.json"
    try:
        row = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    if not isinstance(row, dict) or row.get("run") != run.name or row.get("error"):
        return None
    return row if recording is None or path.with_suffix(recording).exists() else None


def sweep(
    scene: str | os.PathLike[str],
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    samples: int = 0,
    sample_seed: int = 0,
    seeds: int | Iterable[int] = 1,
    out: str | os.PathLike[str],
    frames: int | None = None,
    fps: float | None = None,
    recording: str | None = None,
    ray: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> list[dict[str, Any]]:
    """Runs a scene file with all combinations of the values of ``grid``, the draws of ``ranges`` and all ``seeds``.

    ``ranges`` maps keys of the scene to a lowest and a highest number. ``sample_seed`` seeds a Latin hypercube of
    ``samples`` draws from these ranges. ``grid`` maps keys of the scene to values, such as
    ``{"body.cube.restitution": [0.2, 0.5]}``. ``seeds`` is a list of numbers, or their count from 0 on. ``recording`` is
    the file name extension of recordings, such as ``".glb"``. ``ray`` is the address of a cluster; by default this
    machine. ``progress(done, all)`` is called after each run.

    Returns the rows of ``results.parquet``: the values, ``error``, and the results of the run. A failed
    run has an ``error`` and does not stop the others.
    """
    path, folder = Path(scene), Path(out)
    # invalid scenes are refused before any run
    digest = Scene.load(path).digest
    text = path.read_text()
    numbers = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    if not numbers:
        raise ValueError("give at least one seed")
    if recording is not None and recording not in RECORDINGS:
        raise ValueError(f'recording "{recording}" is none of {", ".join(RECORDINGS)}')
    if bool(ranges) != (samples > 0):
        raise ValueError("give ranges and how many samples to draw from them, or neither")
    both = set(grid or {}) & set(ranges or {})
    if both:
        raise ValueError(f'"{min(both)}" has values and a range; give one of them')
    drawn = list(draws(ranges, samples, sample_seed)) if ranges else [{}]
    runs = [
        Run.of(text, path, {**values, **draw}, seed, frames, fps, digest)
        for values in combinations(grid or {})
        for draw in drawn
        for seed in numbers
    ]
    if len({run.name for run in runs}) != len(runs):
        raise ValueError("two runs of the sweep are the same: give each value and each seed once")
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    rows = {run.name: row for run in runs if (row := finished(folder, run, recording))}
    left = [run for run in runs if run.name not in rows]
    jobs = [(run, str(folder.resolve()), recording) for run in left]
    for row in each(simulate, jobs, ray):
        rows[row["run"]] = row
        if progress:
            progress(len(rows), len(runs))
    table = [rows[run.name] for run in runs]
    write_table(table, folder / "results.parquet")
    return table


def write_table(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Writes rows as Parquet; columns that a row lacks are null."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise ImportError('sweeps need pyarrow: pip install "brisance[sweep]"') from None
    names = list(dict.fromkeys(name for row in rows for name in row))
    plain = {name: [plainly(row.get(name)) for row in rows] for name in names}
    sink = arrow.BufferOutputStream()
    parquet.write_table(arrow.table(plain), sink)
    write_whole(path, sink.getvalue().to_pybytes())


def plainly(value: Any) -> Any:
    """A value for a column; tables and lists become JSON."""
    return json.dumps(value) if isinstance(value, (dict, list)) else value


def grid_of(texts: Sequence[str]) -> dict[str, list[Any]]:
    """A grid from texts such as ``body.cube.restitution=0.2,0.5``; values are parsed as TOML, or else as text."""
    grid: dict[str, list[Any]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        if not (key and equals and values):
            raise ValueError(f'--set "{text}": give KEY=VALUE,VALUE, as in body.cube.restitution=0.2,0.5')
        if key in grid:
            raise ValueError(f'--set "{text}": "{key}" is given twice; give all its values at once')
        try:
            grid[key] = parsed(f"values = [{values}]")["values"]
        except ValueError:
            grid[key] = values.split(",")
    return grid


def ranges_of(texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Ranges from texts such as ``body.cube.restitution=0.1:0.9``."""
    ranges: dict[str, tuple[float, float]] = {}
    for text in texts:
        key, equals, ends = text.partition("=")
        low, colon, high = ends.partition(":")
        try:
            ends_of_range = float(low), float(high)
        except ValueError:
            colon = ""
        if not (key and equals and colon) or key in ranges:
            raise ValueError(f'--range "{text}": give KEY=LOW:HIGH once, as in body.cube.restitution=0.1:0.9')
        ranges[key] = ends_of_range
    return ranges


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``python -m brisance.sweep``."""
    parser = argparse.ArgumentParser(
        prog="python -m brisance.sweep", description="Run a scene with many values and seeds, side by side."
    )
    parser.add_argument("scene", help="scene file")
    parser.add_argument(
        "--set", dest="sets", action="append", default=[], metavar="KEY=A,B",
        help="values of a key of the scene, as body.cube.restitution=0.2,0.5; may be given again",
    )
    parser.add_argument(
        "--range", dest="ranges", action="append", default=[], metavar="KEY=LOW:HIGH",
        help="range of a key of the scene to draw samples from; may be given again",
    )
    parser.add_argument("--samples", type=int, default=0, metavar="N", help="draws from the ranges")
    parser.add_argument("--sample-seed", type=int, default=0, metavar="N", help="seed of the draws (0)")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="seeds from 0 on (1)")
    parser.add_argument("--frames", type=int, metavar="N", help="frames of each run")
    parser.add_argument("--fps", type=float, metavar="F", help="frames per second")
    parser.add_argument("--record", metavar="ENDING", help="keep a recording of each run, as .glb")
    parser.add_argument("--ray", metavar="ADDRESS", help="address of a Ray cluster; this machine unless given")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="folder for results")
    given = parser.parse_args(arguments)

    try:
        rows = sweep(
            given.scene, grid=grid_of(given.sets), ranges=ranges_of(given.ranges), samples=given.samples,
            sample_seed=given.sample_seed, seeds=given.seeds, out=given.output, frames=given.frames,
            fps=given.fps, recording=given.record, ray=given.ray, progress=progress_of("runs"),
        )
    except (ValueError, OSError, ImportError) as error:
        print(f"brisance.sweep: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nbrisance.sweep: stopped; the same command goes on from here", file=sys.stderr)
        return 130
    print(file=sys.stderr)
    failures = [row for row in rows if row["error"]]
    for row in failures:
        print(f"run {row['run']}: {row['error']}", file=sys.stderr)
    good = len(rows) - len(failures)
    print(f"{Path(given.output) / 'results.parquet'}: {good} of {len(rows)} runs")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
