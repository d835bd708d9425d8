"""Parallel tasks on Ray, and atomic writes of files."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

#: Number of retries of a task whose worker dies.
RETRIES = 3


def each(
    function: Callable[..., Any], jobs: Sequence[tuple[Any, ...]], address: str | None
) -> Iterator[Any]:
    """Calls a function with the arguments of each job, each on one processor; yields results in order of completion."""
    if not jobs:
        return
    try:
        import ray
    except ImportError:
        raise ImportError('this needs Ray: pip install "brisance[sweep]"') from None
    was_there = ray.is_initialized()
    if not was_there:
        ray.init(
            address=address, log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR
        )
    try:
        # each task uses one processor
        one = {"env_vars": {"RAYON_NUM_THREADS": "1"}}
        task = ray.remote(num_cpus=1, max_retries=RETRIES, runtime_env=one)(function)
        waiting = [task.remote(*job) for job in jobs]
        while waiting:
            done, waiting = ray.wait(waiting)
            yield from ray.get(done)
    finally:
        if not was_there:
            ray.shutdown()


def progress_of(what: str) -> Callable[[int, int], None]:
    """Prints the number of finished tasks on one line of standard error."""

    def progress(done: int, all: int) -> None:
        print(f"\r{done} of {all} {what}", end="", file=sys.stderr, flush=True)

    return progress


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file atomically."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
