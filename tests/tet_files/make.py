"""Writes the files of this folder: one mesh in all formats that tetrahedra are read from.

Needs meshio 5.3 (PyPI, MIT): python make.py
With `check FILE...` it reads files that brisance wrote instead, and says what is in them.
"""

import base64
import struct
import sys
from itertools import permutations
from pathlib import Path

import meshio
import numpy as np

HERE = Path(__file__).parent


def mesh(tetra=True):
    """Two cubes of six tetrahedra each, triangles on one side of their surface, and an unused vertex."""
    node = lambda i, j, k: (i * 2 + j) * 2 + k
    places = [[0.3 * i + 0.01 * j, 0.1 * j, 0.7 * k] for i in range(3) for j in range(2) for k in range(2)]
    tets = []
    for i in range(2):
        for order in permutations(range(3)):
            path = [np.array([i, 0, 0])]
            for axis in order:
                path.append(path[-1] + np.eye(3, dtype=int)[axis])
            tet = [node(*p) for p in path]
            a, b, c, d = (np.array(places[v]) for v in tet)
            if np.dot(b - a, np.cross(c - a, d - a)) < 0:
                tet[0], tet[1] = tet[1], tet[0]
            tets.append(tet)
    places.append([9.0, 9.0, 9.0])
    cells = [("tetra", np.array(tets))]
    if not tetra:
        cells.insert(0, ("triangle", np.array([[0, 1, 3], [0, 3, 2]])))
    return meshio.Mesh(np.array(places), cells)


def appended(path, whole, is_base64):
    """A VTU file in the style of ParaView, which meshio reads but does not write."""
    tets = whole.cells_dict["tetra"]
    lists = [
        whole.points.astype("<f8").tobytes(),
        tets.astype("<i4").tobytes(),
        (4 * np.arange(1, len(tets) + 1)).astype("<i8").tobytes(),
        bytes([10] * len(tets)),
    ]
    parts, offsets = b"", []
    for one in lists:
        offsets.append(len(parts))
        one = struct.pack("<Q", len(one)) + one
        parts += base64.b64encode(one) if is_base64 else one
    encoding = "base64" if is_base64 else "raw"
    head = f"""<?xml version="1.0"?>
<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">
<UnstructuredGrid><Piece NumberOfPoints="{len(whole.points)}" NumberOfCells="{len(tets)}">
<Points><DataArray type="Float64" NumberOfComponents="3" format="appended" offset="{offsets[0]}"/></Points>
<Cells>
<DataArray type="Int32" Name="connectivity" format="appended" offset="{offsets[1]}"/>
<DataArray type="Int64" Name="offsets" format="appended" offset="{offsets[2]}"/>
<DataArray type="UInt8" Name="types" format="appended" offset="{offsets[3]}"/>
</Cells></Piece></UnstructuredGrid>
<AppendedData encoding="{encoding}">_"""
    path.write_bytes(head.encode() + parts + b"</AppendedData></VTKFile>\n")


def check(names):
    for name in names:
        found = meshio.read(name)
        a, b, c, d = (found.points[found.cells_dict["tetra"][:, n]] for n in range(4))
        volume = np.einsum("ij,ij->i", b - a, np.cross(c - a, d - a)).sum() / 6
        fields = {**found.point_data, **{k: v[0] for k, v in found.cell_data.items()}}
        sums = {k: float(np.abs(v).sum()) for k, v in sorted(fields.items()) if v.dtype.kind == "f"}
        print(name, len(found.points), len(a), volume, sums)


def main():
    whole = mesh(tetra=False)
    for version, name in (("2.2", "gmsh22"), ("4.1", "gmsh")):
        for binary in (False, True):
            kind = "binary" if binary else "text"
            # in version 4.1 meshio writes only one kind of cells
            given = whole if version == "2.2" else mesh()
            meshio.write(HERE / f"gmsh_{version}_{kind}.msh", given, file_format=name, binary=binary)
    for name, version in (("vtk42", "4.2"), ("vtk", "5.1")):
        for binary in (False, True):
            kind = "binary" if binary else "text"
            meshio.write(HERE / f"vtk_{version}_{kind}.vtk", whole, file_format=name, binary=binary)
    meshio.write(HERE / "vtu_text.vtu", whole, binary=False)
    meshio.write(HERE / "vtu_plain.vtu", whole, compression=None)
    meshio.write(HERE / "vtu_zlib.vtu", whole)
    appended(HERE / "vtu_appended_raw.vtu", whole, False)
    appended(HERE / "vtu_appended_base64.vtu", whole, True)
    meshio.write(HERE / "tetgen.node", mesh())
    meshio.write(HERE / "netgen.vol", whole)


if sys.argv[1:2] == ["check"]:
    check(sys.argv[2:])
else:
    main()
