"""Keys of scenes from Python's own values and NumPy's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ._meshes import arrays_of

#: Placeholder file name of a mesh in memory.
MESH = "mesh.obj"


def as_json(keys: Any) -> str:
    """Keys as JSON; arrays and scalars of NumPy become lists and numbers, and None values are omitted."""
    try:
        return json.dumps(without_none(keys), default=plainly, allow_nan=False)
    except ValueError as error:
        raise ValueError(f"a key has a number that is not finite ({error})") from None


def without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): without_none(entry) for key, entry in value.items() if entry is not None}
    if isinstance(value, (list, tuple)):
        return [without_none(entry) for entry in value]
    return value


def plainly(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a key has {value!r}, which is no number, text, list or table")


def body(shape: Any, keys: dict[str, Any]) -> tuple[str, Any]:
    """The keys of a body with its shape, and the vertices and triangles if the shape is a mesh."""
    if isinstance(shape, Mapping):
        return as_json({**keys, "shape": shape}), None
    sampling = keys.pop("sampling", None) or {}
    try:
        surface = arrays_of(*shape) if isinstance(shape, tuple) else arrays_of(shape, None)
    except TypeError:
        raise TypeError(
            'give a shape as {"sphere": {"radius": 0.1}}, a tuple of vertices and triangles, '
            "or a mesh of trimesh, meshio or PyVista"
        ) from None
    return as_json({**keys, "shape": {"mesh": {**sampling, "file": MESH}}}), surface
