from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

pytest.importorskip("ray")

import brisance
from brisance.dataset import Spec, assembled, load, main, samples as samples_of

SPEC = """
version = 1
name = "solids"
samples = 12
seed = 5
shard = 3
split = [0.5, 0.25, 0.25]
density = 2000.0
[[object]]
name = "ball"
file = "ball.obj"
size = 0.4
licence = "CC0"
[[object]]
name = "block"
file = "block.stl"
[[pattern]]
text = "voronoi:12"
[[pattern]]
text = "radial:5x3"
"""


@pytest.fixture()
def spec(tmp_path: Path) -> Path:
    trimesh.creation.icosphere(subdivisions=2).export(tmp_path / "ball.obj")
    trimesh.creation.box((0.3, 0.5, 0.2)).export(tmp_path / "block.stl")
    path = tmp_path / "spec.toml"
    path.write_text(SPEC)
    return path


def samples(folder: Path) -> dict[int, tuple[dict[str, Any], dict[str, Any]]]:
    """All samples of a data set with their files."""
    found = {}
    for shard in sorted(folder.glob("*.tar")):
        with tarfile.open(shard) as tar:
            files = {member.name: tar.extractfile(member) for member in tar.getmembers()}
            for name, file in files.items():
                assert file is not None
                if name.endswith(".json"):
                    about = json.loads(file.read()) | {"shard": shard.name}
                    arrays = files[name.replace(".json", ".npz")]
                    assert arrays is not None
                    found[about["sample"]] = (about, load(arrays.read()))
    return found


def test_pieces_are_closed_and_go_together(spec: Path, tmp_path: Path) -> None:
    assert main([str(spec), "-o", str(tmp_path / "out")]) == 0
    found = samples(tmp_path / "out")
    assert sorted(found) == list(range(12))
    block = 0.3 * 0.5 * 0.2
    for about, arrays in found.values():
        assert about["pieces"] == len(arrays["pieces"]) > 1
        if about["object"] == "block":
            assert about["volume"] == pytest.approx(block, rel=1e-6)
        assert arrays["masses"] == pytest.approx(2000.0 * arrays["volumes"])
        corners = []
        for n, piece in enumerate(arrays["pieces"]):
            alone = trimesh.Trimesh(piece["vertices"], piece["triangles"], process=False)
            assert alone.is_watertight
            assert alone.volume == pytest.approx(arrays["volumes"][n], rel=1e-3)
            assert alone.center_mass == pytest.approx(np.zeros(3), abs=1e-4)
            corners.append(assembled(arrays, n))
        extents = np.concatenate(corners).max(axis=0) - np.concatenate(corners).min(axis=0)
        size = [0.3, 0.5, 0.2] if about["object"] == "block" else [0.4, 0.4, 0.4]
        assert extents == pytest.approx(size, rel=0.06)
        assert arrays["bonds"].max() < len(arrays["pieces"]) and (arrays["bond_areas"] > 0).all()
        ways = arrays["assembly"][arrays["bonds"][:, 1], :3] - arrays["assembly"][arrays["bonds"][:, 0], :3]
        assert arrays["bond_normals"].shape == ways.shape
        if about["pattern"].startswith("voronoi"):
            assert (np.einsum("ij,ij->i", ways, arrays["bond_normals"]) > 0).mean() > 0.9
        assert about["material"] is None and about["crack_energy"] is None
        # both pieces of a cut have its faces
        cut = [
            trimesh.Trimesh(piece["vertices"], piece["triangles"][piece["is_cut"]], process=False).area
            for piece in arrays["pieces"]
        ]
        assert about["cut_area"] == pytest.approx(sum(cut) / 2.0, rel=1e-4)
        if about["object"] == "block":
            assert about["surface_area"] == pytest.approx(2.0 * (0.3 * 0.5 + 0.5 * 0.2 + 0.2 * 0.3))
    splits = {about["object"]: set[str]() for about, _ in found.values()}
    for about, _ in found.values():
        splits[about["object"]].add(about["shard"].split("-")[0])
    assert all(len(split) == 1 for split in splits.values())
    assert "| ball | " in (tmp_path / "out" / "DATASHEET.md").read_text()
    statistics = json.loads((tmp_path / "out" / "statistics.json").read_text())
    assert statistics["samples"] == 12
    spread = statistics["cut_area_of_surface"]
    seams = [about["cut_area"] / about["surface_area"] for about, _ in found.values()]
    assert spread["mean"] == pytest.approx(np.mean(seams))
    assert min(seams) <= spread["p5"] < spread["median"] < spread["p95"] <= max(seams)


def test_a_material_gives_density_and_the_energy_of_cracks(spec: Path, tmp_path: Path) -> None:
    spec.write_text(SPEC.replace("density = 2000.0", 'material = "china"'))
    assert main([str(spec), "--samples", "4", "-o", str(tmp_path / "out")]) == 0
    found = [one for split in ("train", "validation", "test") for one in samples_of(tmp_path / "out", split)]
    assert sorted(about["sample"] for about, _ in found) == [0, 1, 2, 3]
    china = brisance.Material.named("porcelain")
    for about, arrays in found:
        assert arrays["masses"] == pytest.approx(2400.0 * arrays["volumes"])
        # K^2 (1 - v^2) / E
        assert about["crack_energy"] == pytest.approx(1e12 * (1 - 0.22**2) / 70e9 * about["cut_area"])
    assert china.name == "china"
    halves = [one for worker in range(2) for one in samples_of(tmp_path / "out", "train", worker=worker, workers=2)]
    assert len(halves) == len(list(samples_of(tmp_path / "out", "train")))
    with pytest.raises(ValueError, match="train"):
        next(samples_of(tmp_path / "out", "all"))


def test_a_data_set_is_the_same_again_and_goes_on_where_it_was_stopped(spec: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert main([str(spec), "--samples", "6", "-o", str(tmp_path / name)]) == 0
    shards = sorted((tmp_path / "one").glob("*.tar"))
    for shard in shards:
        assert shard.read_bytes() == (tmp_path / "two" / shard.name).read_bytes()
    last = tmp_path / "two" / shards[-1].name
    last.unlink()
    kept = shards[0].name
    time = (tmp_path / "two" / kept).stat().st_mtime_ns
    assert main([str(spec), "--samples", "6", "-o", str(tmp_path / "two")]) == 0
    assert last.read_bytes() == shards[-1].read_bytes()
    assert (tmp_path / "two" / kept).stat().st_mtime_ns == time
    # a data set does not overwrite a different one
    assert main([str(spec), "--samples", "7", "-o", str(tmp_path / "two")]) == 2


def test_wrong_files_are_refused_in_one_sentence(spec: Path, tmp_path: Path) -> None:
    folder = spec.parent
    for text, said in [
        (SPEC.replace("shard = 3", "shrad = 3"), 'unknown key "shrad"'),
        (SPEC.replace("[0.5, 0.25, 0.25]", "[0.5, 0.5, 0.5]"), "add up to 1"),
        (SPEC.replace('"block"', '"ball"'), "same name"),
        (SPEC.replace("samples = 12", "samples = -1"), '"samples"'),
        ("version = 1", "at least one"),
        ("version = ", "value"),
        (SPEC.replace("density = 2000.0", 'density = "x"'), '"density"'),
        (SPEC.replace("size = 0.4", "size = 0"), '"size"'),
        (SPEC.replace("density = 2000.0", 'material = "glas"'), "glas"),
        (SPEC.replace("density = 2000.0", 'density = 2000.0\nmaterial = "glass"'), "not both"),
        (SPEC.replace("ball.obj", "gone.obj"), "there is no file"),
        (SPEC.replace("[[pattern]]", "[pattern]", 1).replace('[[pattern]]\ntext = "radial:5x3"', ""), "write \\[\\[pattern"),
        (SPEC.replace("[0.5, 0.25, 0.25]", "5"), "three shares"),
    ]:
        spec.write_text(text)
        with pytest.raises(ValueError, match=said):
            Spec.read(spec)
        assert main([str(spec), "-o", str(tmp_path / "no")]) == 2
    assert not (tmp_path / "no").exists() and folder == spec.parent
