"""Rigid bodies at one time step per frame that break where they are hit.

Units are SI, y points up. Functions that take a mesh take arrays of vertices, m, of shape (n, 3) and of triangles of
shape (m, 3), or instead an object of trimesh, meshio or PyVista.
"""

from __future__ import annotations

from typing import Any as _Any
from typing import Union as _Union

from ._meshes import MeshLike, arrays_of
from ._native import (
    Break,
    BrisanceError,
    Fractured,
    Hit,
    Joint,
    Material,
    Mesh,
    Piece,
    Recording,
    Report,
    Scene,
    Stress,
    World,
    __version__,
    read_mesh,
    stress,
)
from ._native import LevelSet as _LevelSet
from ._native import fracture as _fracture
from ._native import scene_at as _scene
from ._native import slice as _slice
from ._native import tetrahedralize as _tetrahedralize
from ._native import world_at as _world

import numpy as _np
import numpy.typing as _npt

_Vector = _Union[tuple[float, float, float], list[float], "_npt.NDArray[_Any]"]

__all__ = [
    "Break",
    "BrisanceError",
    "Fractured",
    "Hit",
    "Joint",
    "LevelSet",
    "Material",
    "Mesh",
    "Piece",
    "Recording",
    "Report",
    "Scene",
    "Stress",
    "World",
    "__version__",
    "fracture",
    "level_set",
    "read_mesh",
    "slice",
    "stress",
    "tetrahedralize",
]

LevelSet = _LevelSet


def fracture(
    mesh: MeshLike | _npt.ArrayLike,
    triangles: _npt.ArrayLike | None = None,
    *,
    pattern: str | None = None,
    pieces: int | None = None,
    at: _Vector | None = None,
    normal: _Vector = (0.0, 1.0, 0.0),
    seed: int = 0,
    min_share: float | None = None,
    nodes: int | None = None,
) -> Fractured:
    """Breaks the solid of a mesh, like ``brisance fracture``.

    ``pattern`` is a text such as ``"voronoi:20,clustering=0.8"`` or ``"radial:9x4"``; ``pieces=20`` stands for
    ``"voronoi:20"``. The pattern is centered at ``at``, m, with its y axis along ``normal``; by default at the middle
    of the top. Pieces below the share ``min_share`` of the volume are merged with a neighbor. An open mesh is sampled with
    about ``nodes`` nodes.

    The volumes of the pieces add up to that of the mesh:

    >>> import brisance, numpy as np
    >>> corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    >>> faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
    ...          [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    >>> broken = brisance.fracture(corners, faces, pieces=8, seed=1)
    >>> len(broken), round(sum(piece.volume for piece in broken.pieces), 9)
    (8, 1.0)
    """
    vertices, faces = arrays_of(mesh, triangles)
    return _fracture(
        vertices,
        faces,
        pattern=pattern,
        pieces=pieces,
        at=at,
        normal=normal,
        seed=seed,
        min_share=min_share,
        nodes=nodes,
    )


def slice(
    mesh: MeshLike | _npt.ArrayLike,
    triangles: _npt.ArrayLike | None = None,
    *,
    point: _Vector,
    normal: _Vector,
) -> tuple[Mesh, Mesh]:
    """Cuts a closed mesh by a plane; returns the closed parts behind and in front of the plane."""
    vertices, faces = arrays_of(mesh, triangles)
    return _slice(vertices, faces, point=point, normal=normal)


def tetrahedralize(
    mesh: MeshLike | _npt.ArrayLike,
    triangles: _npt.ArrayLike | None = None,
    *,
    count: int | None = None,
    cell: float | None = None,
    halvings: int = 3,
) -> tuple[_npt.NDArray[_np.float64], _npt.NDArray[_np.uint32]]:
    """Fills the solid of a mesh with about ``count`` tetrahedra, or with cells of ``cell`` m.

    Cells are halved up to ``halvings`` times where the mesh is too thin; a mesh that would still lose parts is
    refused.

    Returns vertices, m, of shape (n, 3), and tetrahedra of shape (m, 4).
    """
    vertices, faces = arrays_of(mesh, triangles)
    return _tetrahedralize(vertices, faces, count=count, cell=cell, halvings=halvings)


def level_set(
    mesh: MeshLike | _npt.ArrayLike,
    triangles: _npt.ArrayLike | None = None,
    *,
    spacing: float | None = None,
    nodes: int | None = None,
) -> _LevelSet:
    """Signed distance to a mesh on nodes ``spacing`` m apart, or on about ``nodes`` nodes."""
    vertices, faces = arrays_of(mesh, triangles)
    return _LevelSet.from_mesh(vertices, faces, spacing=spacing, nodes=nodes)
