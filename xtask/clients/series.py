"""Opens a series for ParaView with VTK and meshio, and compares it with the JSON lines of the same run.

usage: series.py FILE.pvd FILE.jsonl
"""

import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import meshio
import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import VTK_VERSION
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

series, truth = sys.argv[1:]
head, *frames = (json.loads(line) for line in open(truth))
sets = ElementTree.parse(series).getroot().findall(".//DataSet")
assert len(sets) == head["frames"], f"{len(sets)} files for {head['frames']} frames"


def by_vtk(file):
    """Points, corners of cells and arrays of cells of a .vtu file."""
    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(file))
    reader.Update()
    assert reader.GetErrorCode() == 0, f"VTK cannot read {file}"
    grid = reader.GetOutput()
    data = grid.GetCellData()
    arrays = {data.GetArrayName(n): vtk_to_numpy(data.GetArray(n)) for n in range(data.GetNumberOfArrays())}
    corners = vtk_to_numpy(grid.GetCells().GetConnectivityArray())
    return vtk_to_numpy(grid.GetPoints().GetData()), corners, arrays


def by_meshio(file):
    """As `by_vtk`, by meshio."""
    mesh = meshio.read(file)
    corners = np.concatenate([block.data.ravel() for block in mesh.cells])
    return mesh.points, corners, {name: np.concatenate(data) for name, data in mesh.cell_data.items()}


known = {}
for frame, (entry, line) in enumerate(zip(sets, frames)):
    assert abs(float(entry.get("timestep")) - frame / head["fps"]) < 1e-9, f"time of frame {frame}"
    file = Path(series).parent / entry.get("file")
    if file not in known:
        (points, corners, arrays), others = by_vtk(file), by_meshio(file)
        assert np.array_equal(points, others[0]) and np.array_equal(corners, others[1]), file
        assert all(np.array_equal(arrays[name], others[2][name]) for name in arrays), file
        known[file] = {int(n) for n in np.unique(arrays["body"])}
        assert len(corners) == 3 * len(arrays["body"]), f"{file} has cells that are no triangles"
    # infinite planes are drawn as large squares
    assert known[file] == set(line["bodies"]), f"frame {frame}: {known[file] ^ set(line['bodies'])}"
print(f"VTK {VTK_VERSION}, meshio {meshio.__version__}: {len(sets)} frames in {len(known)} files, every body where it is alive")
