"""Data sets of broken objects: ``python -m brisance.dataset SPEC.toml -o FOLDER``.

``SPEC.toml`` names objects and patterns::

    version = 1
    name = "crockery"
    samples = 1000
    seed = 0
    shard = 100               # samples per tar file
    material = "china"        # of the scenes; or density = 2400.0, kg/m^3
    split = [0.8, 0.1, 0.1]   # shares of training, validation and test; by object

    [[object]]
    name = "bunny"
    file = "bunny.obj"        # relative to the file
    size = 0.3                # longest edge of its bounding box, m; default: as in the file
    licence = "Stanford 3D Scanning Repository"

    [[pattern]]
    text = "voronoi:20,clustering=0.5"

Sample ``n`` uses the object ``n`` modulo the number of objects, a random pattern, and a random point of impact on the
surface. The folder contains WebDataset shards (``train-00000.tar`` ...), ``index.json``, ``statistics.json`` and a
``DATASHEET.md``. A sample is ``KEY.npz``, which :func:`load` reads, and ``KEY.json``. Finished shards are
never repeated.

Needs ``pip install "brisance[sweep]"``.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import Material, __version__, fracture, read_mesh
from ._tasks import each, progress_of, write_whole
from ._variants import parsed

SPLITS = ("train", "validation", "test")
KEYS = {"version", "name", "samples", "seed", "shard", "material", "density", "split", "object", "pattern"}
OBJECT_KEYS = {"name", "file", "size", "licence"}


class Spec:
    """Specification of a data set."""

    def __init__(self, table: Mapping[str, Any], folder: Path) -> None:
        refuse(table, KEYS, "the file")
        self.table = dict(table)
        if table.get("version") != 1:
            raise ValueError('missing key "version = 1"')
        self.name = str(table.get("name", "fractures"))
        self.samples = whole(table, "samples", 100)
        self.seed = whole(table, "seed", 0)
        self.shard = whole(table, "shard", 100)
        self.material = material_of(table)
        self.density = self.material.density if self.material else number(table, "density", 1000.0)
        split = table.get("split", [0.8, 0.1, 0.1])
        is_split = isinstance(split, list) and len(split) == 3 and all(
            isinstance(share, (int, float)) and share >= 0.0 for share in split
        )
        if not is_split or abs(sum(split) - 1.0) > 1e-9:
            raise ValueError('"split" must be three shares of 0 or more that add up to 1')
        self.split = [float(share) for share in split]
        if self.shard == 0:
            raise ValueError('"shard" must be above 0')
        self.objects = tables(table, "object")
        patterns = tables(table, "pattern")
        for entry in patterns:
            refuse(entry, {"text"}, "a pattern")
            text(entry, "text", "a pattern")
        self.patterns = [entry["text"] for entry in patterns]
        if not self.objects or not self.patterns:
            raise ValueError("there must be at least one [[object]] and one [[pattern]]")
        for entry in self.objects:
            refuse(entry, OBJECT_KEYS, "an object")
            for key in ("name", "file"):
                text(entry, key, "an object")
            if "size" in entry:
                number(entry, "size", 1.0)
            file = (folder / entry["file"]).resolve()
            if not file.is_file():
                raise ValueError(f'object "{entry["name"]}": there is no file {file}')
            entry["file"] = str(file)
        names = [entry["name"] for entry in self.objects]
        if len(set(names)) != len(names):
            raise ValueError("two objects have the same name")

    @staticmethod
    def read(path: Path) -> Spec:
        """Reads a file."""
        return Spec(parsed(path.read_text()), path.parent)

    def split_of(self, name: str) -> str:
        """The split of an object, independent of other objects."""
        place = int.from_bytes(hashlib.sha256(f"{self.seed} {name}".encode()).digest()[:8], "big") / 2**64
        train, validation, _ = self.split
        return SPLITS[0 if place < train else 1 if place < train + validation else 2]

    def shards(self) -> Iterator[tuple[str, list[int]]]:
        """Name and samples of each shard."""
        for split in SPLITS:
            own = [
                n for n in range(self.samples)
                if self.split_of(self.objects[n % len(self.objects)]["name"]) == split
            ]
            for first in range(0, len(own), self.shard):
                yield f"{split}-{first // self.shard:05}", own[first : first + self.shard]


def refuse(table: Mapping[str, Any], known: set[str], what: str) -> None:
    """Refuses unknown keys."""
    for key in table:
        if key not in known:
            raise ValueError(f'unknown key "{key}" of {what}; known: {", ".join(sorted(known))}')


def tables(table: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """The tables of an array of tables."""
    found = table.get(key, [])
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise ValueError(f'"{key}" must be tables: write [[{key}]]')
    return [dict(entry) for entry in found]


def material_of(table: Mapping[str, Any]) -> Material | None:
    """The material, if the file names one."""
    if "material" not in table:
        return None
    text(table, "material", "the file")
    if "density" in table:
        raise ValueError('give "material" or "density", not both')
    try:
        return Material.named(table["material"])
    except KeyError as error:
        raise ValueError(f'"material": {error.args[0]}') from None


def text(table: Mapping[str, Any], key: str, what: str) -> None:
    """Refuses values other than text."""
    if not isinstance(table.get(key), str):
        raise ValueError(f'{what} must have a text "{key}"')


def number(table: Mapping[str, Any], key: str, default: float) -> float:
    """A finite number above 0."""
    value = table.get(key, default)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0.0 < value < 1e30:
        raise ValueError(f'"{key}" must be a number above 0, not {value!r}')
    return float(value)


def whole(table: Mapping[str, Any], key: str, default: int) -> int:
    """A whole number of 0 or more."""
    value = table.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f'"{key}" must be a whole number of 0 or more, not {value!r}')
    return value


def sample(
    spec: Spec, number: int, meshes: Mapping[str, tuple[npt.NDArray[Any], npt.NDArray[Any]]]
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Makes a sample: its description and its arrays."""
    entry = spec.objects[number % len(spec.objects)]
    vertices, triangles = meshes[entry["name"]]
    random = np.random.default_rng([spec.seed, number])
    pattern = spec.patterns[random.integers(len(spec.patterns))]
    seed = int(random.integers(2**31))
    at, normal = surface_point(vertices, triangles, random)
    broken = fracture(vertices, triangles, pattern=pattern, at=at, normal=normal, seed=seed)
    pieces = broken.pieces
    centers = np.array([piece.center for piece in pieces])
    turns = random.normal(size=(len(pieces), 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    # each piece is rotated with its center at the origin; `assembly` restores its pose in the whole
    alone = [
        rotated((piece.vertices - center), conjugate(turn))
        for piece, center, turn in zip(pieces, centers, turns)
    ]
    arrays = {
        "vertices": np.concatenate(alone).astype(np.float32),
        "triangles": np.concatenate([piece.triangles for piece in pieces]),
        "is_cut": np.concatenate([piece.is_cut for piece in pieces]),
        "vertex_counts": np.array([len(piece.vertices) for piece in pieces]),
        "triangle_counts": np.array([len(piece.triangles) for piece in pieces]),
        "assembly": np.concatenate([centers, turns], axis=1),
        "volumes": np.array([piece.volume for piece in pieces]),
        "masses": np.array([piece.mass(spec.density) for piece in pieces]),
        "inertias": np.array([piece.inertia(spec.density) for piece in pieces]),
        "bonds": broken.bonds,
        "bond_areas": broken.bond_areas,
        "bond_centers": broken.bond_centers,
        "bond_normals": broken.bond_normals,
    }
    area = float(broken.bond_areas.sum())
    surface = float(np.linalg.norm(doubled_areas(vertices, triangles), axis=1).sum() / 2.0)
    material = spec.material
    said = {
        "sample": number, "object": entry["name"], "licence": entry.get("licence", ""), "pattern": pattern,
        "seed": seed, "at": list(at), "normal": list(normal), "density": spec.density, "pieces": len(pieces),
        "material": material.name if material else None, "volume": float(sum(arrays["volumes"])), "surface_area": surface, "cut_area": area,
        # lower bound of the crack energy
        "crack_energy": area * material.fracture_energy if material else None, "version": __version__,
    }
    return said, arrays


def doubled_areas(vertices: npt.NDArray[Any], triangles: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Normals of triangles, of shape (n, 3), with twice the area as length."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return np.asarray(np.cross(b - a, c - a))


def surface_point(
    vertices: npt.NDArray[Any], triangles: npt.NDArray[Any], random: np.random.Generator
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """A uniform random point of a surface, and the normal there."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    normals = doubled_areas(vertices, triangles)
    areas = np.linalg.norm(normals, axis=1)
    face = random.choice(len(triangles), p=areas / areas.sum())
    u, v = random.random(2)
    if u + v > 1.0:
        u, v = 1.0 - u, 1.0 - v
    point = a[face] + u * (b[face] - a[face]) + v * (c[face] - a[face])
    x, y, z = (float(t) for t in point)
    i, j, k = (float(t) for t in normals[face] / areas[face])
    return (x, y, z), (i, j, k)


def conjugate(q: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The inverse of a unit quaternion qx, qy, qz, qw."""
    turned: npt.NDArray[Any] = q * np.array([-1.0, -1.0, -1.0, 1.0])
    return turned


def rotated(points: npt.NDArray[Any], q: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Points rotated by a unit quaternion qx, qy, qz, qw."""
    axis, w = q[:3], q[3]
    t = 2.0 * np.cross(axis, points)
    turned: npt.NDArray[Any] = points + w * t + np.cross(axis, t)
    return turned


def load(data: bytes | str | os.PathLike[str]) -> dict[str, Any]:
    """Reads the ``.npz`` of a sample, from bytes or a file.

    Returns its arrays, and ``pieces``: the vertices, m, triangles and labels of cuts of each piece in its own frame.
    ``assembly`` restores the pose of a piece in the whole: rotate it by the quaternion qx, qy, qz, qw of its last
    four numbers, then translate it by the first three.
    """
    source: Any = io.BytesIO(data) if isinstance(data, bytes) else data
    with np.load(source) as file:
        arrays: dict[str, Any] = {name: file[name] for name in file.files}
    vertices = np.split(arrays["vertices"], np.cumsum(arrays["vertex_counts"])[:-1])
    ends = np.cumsum(arrays["triangle_counts"])[:-1]
    triangles, is_cut = np.split(arrays["triangles"], ends), np.split(arrays["is_cut"], ends)
    arrays["pieces"] = [
        {"vertices": v, "triangles": t, "is_cut": c} for v, t, c in zip(vertices, triangles, is_cut)
    ]
    return arrays


def assembled(arrays: Mapping[str, Any], piece: int) -> npt.NDArray[Any]:
    """The vertices of a piece at its position in the whole, m."""
    pose = arrays["assembly"][piece]
    place: npt.NDArray[Any] = rotated(arrays["pieces"][piece]["vertices"], pose[3:]) + pose[:3]
    return place


def samples(
    folder: str | os.PathLike[str], split: str, *, worker: int = 0, workers: int = 1
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The descriptions of the samples of a split and the results of :func:`load`, in order.

    Each of several ``workers`` reads its own shards.
    """
    if split not in SPLITS:
        raise ValueError(f'there is no split "{split}"; known: {", ".join(SPLITS)}')
    shards = sorted(Path(folder).glob(f"{split}-*.tar"))
    for shard in shards[worker::workers]:
        with tarfile.open(shard) as tar:
            about: dict[str, Any] = {}
            for member in tar:
                file = tar.extractfile(member)
                if file is None:
                    continue
                if member.name.endswith(".json"):
                    about = json.loads(file.read())
                else:
                    yield about, load(file.read())


def make_shard(out: str, name: str, numbers: Sequence[int], table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Writes a shard; returns the descriptions of its samples. Failed samples have an ``error``."""
    # the specification is created here, since a material cannot be pickled
    spec = Spec(table, Path())
    meshes = {entry["name"]: mesh_of(entry) for entry in spec.objects}
    said = []
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for number in numbers:
            try:
                about, arrays = sample(spec, number, meshes)
            except ValueError as error:
                entry = spec.objects[number % len(spec.objects)]
                said.append({"sample": number, "object": entry["name"], "error": str(error)})
                continue
            packed = io.BytesIO()
            np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]
            add(tar, f"{number:07}.json", json.dumps(about).encode())
            add(tar, f"{number:07}.npz", packed.getvalue())
            sizes = sorted(arrays["volumes"] / arrays["volumes"].sum(), reverse=True)
            said.append({**about, "shares": [round(float(share), 6) for share in sizes]})
    write_whole(Path(out) / f"{name}.tar", data.getvalue())
    write_whole(Path(out) / f"{name}.index.json", json.dumps(said).encode())
    return said


def mesh_of(entry: Mapping[str, Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The mesh of an object, scaled."""
    mesh = read_mesh(entry["file"])
    vertices = mesh.vertices
    if "size" in entry:
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        vertices = (vertices - (low + high) / 2) * (float(entry["size"]) / (high - low).max())
    return vertices, mesh.triangles


def add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    """Adds a file; the bytes of the archive do not depend on the time."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


def make(
    spec: Spec,
    out: str | os.PathLike[str],
    *,
    ray: str | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any]:
    """Makes a data set; returns its statistics."""
    folder = Path(out)
    own = json.dumps([__version__, spec.table, spec.samples], sort_keys=True, default=str)
    settings = folder / "settings.json"
    if settings.exists() and settings.read_text() != own:
        raise ValueError(f"{folder} holds another data set: remove it, or choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(settings, own.encode())
    index: dict[str, list[dict[str, Any]]] = {}
    left = []
    shards = list(spec.shards())
    for name, numbers in shards:
        index_file = folder / f"{name}.index.json"
        if index_file.exists() and (folder / f"{name}.tar").exists():
            index[name] = json.loads(index_file.read_text())
        else:
            left.append((str(folder.resolve()), name, numbers, {**spec.table, "object": spec.objects}))
    done = sum(len(said) for said in index.values())
    for said in each(make_shard, left, ray):
        first = said[0]["sample"]
        name = next(name for name, numbers in shards if numbers[0] == first)
        index[name] = said
        done += len(said)
        if progress:
            progress(done, spec.samples)
    ordered = {name: index[name] for name, _ in shards}
    write_whole(folder / "index.json", json.dumps(ordered, indent=1).encode())
    found = statistics([said for all in ordered.values() for said in all])
    write_whole(folder / "statistics.json", json.dumps(found, indent=1).encode())
    write_whole(folder / "DATASHEET.md", datasheet(spec, found, ordered).encode())
    return found


def statistics(said: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Statistics of piece counts, volume fractions of pieces, and cut area over the surface area of the object."""
    good = [one for one in said if "error" not in one]
    counts = np.array([one["pieces"] for one in good] or [0])
    shares = np.array([share for one in good for share in one["shares"]] or [0.0])
    seams = np.array([one["cut_area"] / one["surface_area"] for one in good] or [0.0])

    def spread(values: npt.NDArray[Any]) -> dict[str, float]:
        p5, median, p95 = (float(q) for q in np.quantile(values, [0.05, 0.5, 0.95]))
        return {"mean": float(values.mean()), "median": median, "p5": p5, "p95": p95}

    return {
        "samples": len(good),
        "failed": len(said) - len(good),
        "pieces": int(counts.sum()),
        "pieces_per_sample": {
            "mean": float(counts.mean()), "median": float(np.median(counts)),
            "least": int(counts.min()), "most": int(counts.max()),
        },
        "share_of_volume": spread(shares),
        "cut_area_of_surface": spread(seams),
        "objects": sorted({str(one["object"]) for one in good}),
    }


def datasheet(spec: Spec, found: Mapping[str, Any], index: Mapping[str, Sequence[Any]]) -> str:
    """The datasheet of the data set."""
    lines = [
        f"# {spec.name}",
        "",
        f"{found['samples']} broken objects, {found['pieces']} pieces, made by brisance {__version__} with seed "
        f"{spec.seed}. {found['failed']} samples could not be made; `index.json` says why.",
        "",
        "| object | split | licence |",
        "|---|---|---|",
    ]
    lines += [
        f"| {entry['name']} | {spec.split_of(entry['name'])} | {entry.get('licence', 'not given')} |"
        for entry in spec.objects
    ]
    lines += ["", "Patterns: " + ", ".join(f"`{text}`" for text in spec.patterns) + ".", ""]
    lines += [
        "Pieces are closed 2-manifolds where the object is one; their volumes add up to that of the object. Faces are "
        "labelled as cuts or as surface of the object. Each piece is stored with its center of mass at the origin and "
        "turned at random; `assembly` puts it back. Bonds are the cuts between pieces with their areas. Splits are by "
        "object: no object is in two of them.",
        "",
        "The pieces follow a geometric pattern placed at the blow, not a measured fracture: use them to learn about "
        "shapes and how they fit, not about materials.",
        "",
        "| shard | samples |",
        "|---|---|",
    ]
    lines += [f"| {name}.tar | {len(said)} |" for name, said in index.items()]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``python -m brisance.dataset``."""
    parser = argparse.ArgumentParser(
        prog="python -m brisance.dataset", description="Make a data set of broken objects."
    )
    parser.add_argument("spec", help="file that names objects and patterns")
    parser.add_argument("--samples", type=int, metavar="N", help="number of samples")
    parser.add_argument("--ray", metavar="ADDRESS", help="address of a Ray cluster; this machine unless given")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="folder of the data set")
    given = parser.parse_args(arguments)

    try:
        spec = Spec.read(Path(given.spec))
        if given.samples is not None:
            spec.samples = max(given.samples, 0)
        found = make(spec, given.output, ray=given.ray, progress=progress_of("samples"))
    except (ValueError, OSError, ImportError) as error:
        print(f"brisance.dataset: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nbrisance.dataset: stopped; the same command goes on from here", file=sys.stderr)
        return 130
    print(file=sys.stderr)
    print(f"{given.output}: {found['samples']} samples, {found['pieces']} pieces, {found['failed']} failed")
    return 1 if found["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
