"""Meshes of other libraries."""

from __future__ import annotations

from typing import Any, Protocol, Union

import numpy as np
import numpy.typing as npt

from ._native import Mesh


class _Faces(Protocol):
    """A mesh of trimesh."""

    @property
    def vertices(self) -> Any: ...
    @property
    def faces(self) -> Any: ...


class _Cells(Protocol):
    """A mesh of meshio."""

    @property
    def points(self) -> Any: ...
    @property
    def cells_dict(self) -> Any: ...


class _PolyData(Protocol):
    """A mesh of PyVista."""

    @property
    def points(self) -> Any: ...
    @property
    def faces(self) -> Any: ...


MeshLike = Union[Mesh, _Faces, _Cells, _PolyData]


def arrays_of(mesh: Any, triangles: Any) -> tuple[npt.ArrayLike, npt.ArrayLike]:
    """Vertices and triangles from arrays or from a mesh object of another library."""
    if triangles is not None:
        return mesh, triangles
    for names in (("vertices", "faces"), ("vertices", "triangles")):
        if all(hasattr(mesh, name) for name in names):
            return getattr(mesh, names[0]), getattr(mesh, names[1])
    if hasattr(mesh, "points") and hasattr(mesh, "cells_dict"):
        cells = mesh.cells_dict
        if "triangle" not in cells:
            raise ValueError("the mesh has no cells of kind \"triangle\": give the surface of the solid")
        return mesh.points, cells["triangle"]
    if hasattr(mesh, "points") and hasattr(mesh, "faces"):
        faces = np.asarray(mesh.faces)
        if faces.size % 4 != 0 or np.any(faces.reshape(-1, 4)[:, 0] != 3):
            raise ValueError("the mesh has faces that are no triangles: call its `triangulate()` first")
        return mesh.points, faces.reshape(-1, 4)[:, 1:]
    raise TypeError("give arrays of vertices and triangles, or a mesh of trimesh, meshio or PyVista")
