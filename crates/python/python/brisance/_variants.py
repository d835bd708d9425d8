"""Scenes with changed values."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: Values of a scene by key, such as ``{"body.cube.restitution": 0.5}``.
Values = Mapping[str, Any]


def parsed(text: str) -> dict[str, Any]:
    """The tables of a TOML text; a ``ValueError`` names the position of a syntax error."""
    return tomllib.loads(text)


def place(scene: dict[str, Any], key: str) -> tuple[Any, Any]:
    """The table or list that contains the value of a key, and the name or index of the value in it.

    An entry of a list is addressed by its ``name``, as in ``body.cube.density``, or by its index from 0.
    """
    here: Any = scene
    parts = key.split(".")
    for depth, part in enumerate(parts):
        last = depth + 1 == len(parts)
        if isinstance(here, dict):
            if not last and part not in here:
                here[part] = {}
            step: Any = part
        elif isinstance(here, list):
            names = [entry.get("name") if isinstance(entry, dict) else None for entry in here]
            if part in names:
                step = names.index(part)
            elif part.isdecimal() and int(part) < len(here):
                step = int(part)
            else:
                known = ", ".join(str(name) for name in names if name) or f"0 to {len(here) - 1}"
                raise ValueError(f'key "{key}": there is no "{part}"; known: {known}')
        else:
            where = ".".join(parts[:depth])
            raise ValueError(f'key "{key}": "{where}" is {here!r}, which holds no keys')
        if last:
            return here, step
        here = here[step]
    raise ValueError("a key is empty")


def changed(text: str, values: Values) -> str:
    """The text of a scene with changed values."""
    import tomli_w

    scene = parsed(text)
    for key, value in values.items():
        table, name = place(scene, key)
        table[name] = value
    return tomli_w.dumps(scene)


def draws(ranges: Mapping[str, tuple[float, float]], count: int, seed: int) -> Iterator[dict[str, Any]]:
    """A Latin hypercube of ``count`` draws: each of ``count`` equal parts of each range has one uniform random value.

    (McKay, Beckman and Conover 1979.)
    """
    import numpy as np

    for key, (low, high) in ranges.items():
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f'the range of "{key}" must be two finite numbers, the lower one first, not {low}:{high}')
    random = np.random.default_rng(seed)
    places = {key: (random.permutation(count) + random.random(count)) / max(count, 1) for key in ranges}
    for n in range(count):
        yield {key: low + float(places[key][n]) * (high - low) for key, (low, high) in ranges.items()}


def combinations(grid: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """All combinations of the values of a grid; the last key changes fastest."""
    for row in itertools.product(*grid.values()):
        yield dict(zip(grid, row))
