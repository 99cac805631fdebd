"""Measure the local engines on one GPU within eight minutes, and print one table last.

It needs torch and transformers beside what bench's engines import (aiohttp, orjson, pillow,
pyarrow, pydantic), one GPU, and no network: checkpoints and images are made on the spot.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from shutil import rmtree
from time import monotonic

from benchmarks.gpu.checkpoint import SIZES, TINY, save
from benchmarks.gpu.measuring import ENGINES, NO_TIME, NO_VLLM, Plan, Row, measured

_SECONDS = 480.0
_HEADER = (
    *("model", "tokens a response", "engine", "samples/s", "memory, GiB", "of plain generate"),
)


def main() -> None:
    """Measure and print; the exit code is 1 if an engine failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a tiny model on the CPU, to try it")
    parser.add_argument("--vllm", default="vllm", help="the command of vLLM; default: in PATH")
    parser.add_argument("--seconds", type=float, default=_SECONDS, help="time for everything")
    chosen = parser.parse_args()
    if chosen.tiny:
        plan = Plan(
            sizes=[TINY], questions={2: 4, 4: 3}, batch_size=2, device="cpu", vllm=chosen.vllm
        )
    else:
        plan = Plan(
            sizes=SIZES,
            questions={8: 256, 256: 64},
            batch_size=32,
            device="cuda",
            vllm=chosen.vllm,
        )
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch

    if not (chosen.tiny or torch.cuda.is_available()):
        sys.stdout.write("Skipped: no CUDA device. --tiny tries everything on the CPU.\n")
        return
    rows: list[Row] = []
    try:
        for row in _all_rows(plan, monotonic() + chosen.seconds):
            rows.append(row)
            sys.stdout.write(f"{' | '.join(_cells(row, rows)).strip(' |')}\n")
            sys.stdout.flush()
    finally:
        sys.stdout.write(f"\n{_machine(plan)}\n\n")
        for cells in (_HEADER, ["---"] * len(_HEADER), *(_cells(row, rows) for row in rows)):
            sys.stdout.write(f"| {' | '.join(cells)} |\n")
    raise SystemExit(any(row.reason not in ("", NO_TIME, NO_VLLM) for row in rows))


def _all_rows(plan: Plan, ends: float) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="bench-gpu-") as parent:
        for size in plan.sizes:
            folder = Path(parent, size.name.replace(" ", "-"))
            if monotonic() < ends:
                save(folder, size)
            for engine in ENGINES:
                yield from measured(plan, size, engine, folder, ends - monotonic())
            rmtree(folder, ignore_errors=True)  # gigabytes


def _cells(row: Row, rows: Sequence[Row]) -> Sequence[str]:
    """The cells of a row; the last compares it with a loop over ``generate``."""
    named = (row.model, str(row.tokens), row.engine)
    if row.reason:
        return (*named, f"not run: {row.reason}", "", "")
    same = (other for other in rows if (other.model, other.tokens) == (row.model, row.tokens))
    plain = next(other for other in same if other.engine == "plain generate")
    memory = "?" if row.memory is None else f"{row.memory:.1f}"
    speed = row.samples_per_second
    share = f"{speed / plain.samples_per_second:.2f}" if plain.samples_per_second else ""
    return (*named, f"{speed:.2f}", memory, share)


def _machine(plan: Plan) -> str:
    """When and on what it was measured."""
    import torch

    device = "CPU" if plan.device == "cpu" else torch.cuda.get_device_name()
    packages = ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers"))
    return f"{datetime.now(UTC).date().isoformat()}, {device}, {packages}:"


if __name__ == "__main__":
    main()
