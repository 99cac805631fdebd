"""Measure the local engines on one GPU for at most eight minutes, and print a table at the end.

This needs the extra ``local`` and one GPU, and no network: checkpoints and images are generated.
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

from benchmarks.gpu.checkpoint import SIZES, TINY, save_checkpoint
from benchmarks.gpu.measuring import ENGINES, NO_TIME, NO_VLLM, Plan, Row, measure_engine

_MAX_SECONDS = 480.0
_HEADER = (
    *("model", "tokens a response", "engine", "samples/s", "memory, GiB", "of plain generate"),
)


def main() -> None:
    """Print each row and then the table; exit with 1 if an engine failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a tiny model on the CPU")
    parser.add_argument("--vllm", default="vllm", help="command of vLLM")
    parser.add_argument("--seconds", type=float, default=_MAX_SECONDS, help="time limit")
    arguments = parser.parse_args()
    if arguments.tiny:
        plan = Plan(
            sizes=[TINY], questions={2: 4, 4: 3}, batch_size=2, device="cpu", vllm=arguments.vllm
        )
    else:
        plan = Plan(
            sizes=SIZES,
            questions={8: 256, 256: 64},
            batch_size=32,
            device="cuda",
            vllm=arguments.vllm,
        )
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch

    if not (arguments.tiny or torch.cuda.is_available()):
        sys.stdout.write("Skipped: no CUDA device. --tiny tries everything on the CPU.\n")
        return
    rows: list[Row] = []
    try:
        for row in _measure_engines(plan, monotonic() + arguments.seconds):
            rows.append(row)
            sys.stdout.write(f"{' | '.join(_format_cells(row, rows)).strip(' |')}\n")
            sys.stdout.flush()
    finally:
        sys.stdout.write(f"\n{_describe_machine(plan)}\n\n")
        for cells in (_HEADER, ["---"] * len(_HEADER), *(_format_cells(row, rows) for row in rows)):
            sys.stdout.write(f"| {' | '.join(cells)} |\n")
    raise SystemExit(any(row.reason not in ("", NO_TIME, NO_VLLM) for row in rows))


def _measure_engines(plan: Plan, deadline: float) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="bench-gpu-") as parent:
        for size in plan.sizes:
            folder = Path(parent, size.name.replace(" ", "-"))
            if monotonic() < deadline:
                save_checkpoint(folder, size)
            for engine in ENGINES:
                yield from measure_engine(plan, size, engine, folder, deadline - monotonic())
            rmtree(folder, ignore_errors=True)  # gigabytes


def _format_cells(row: Row, rows: Sequence[Row]) -> Sequence[str]:
    """The cells of a row; the last one compares its speed with that of plain generate."""
    first_cells = (row.model, str(row.tokens), row.engine)
    if row.reason:
        return (*first_cells, f"not run: {row.reason}", "", "")
    plain_rows = [plain for plain in rows if plain.engine == "plain generate"]
    plain_speeds = {(plain.model, plain.tokens): plain.samples_per_second for plain in plain_rows}
    memory = "?" if row.memory_gib is None else f"{row.memory_gib:.1f}"
    speed, plain_speed = row.samples_per_second, plain_speeds[row.model, row.tokens]
    ratio = f"{speed / plain_speed:.2f}" if plain_speed else ""
    return (*first_cells, f"{speed:.2f}", memory, ratio)


def _describe_machine(plan: Plan) -> str:
    """Date, device and versions of packages."""
    import torch

    device = "CPU" if plan.device == "cpu" else torch.cuda.get_device_name()
    packages = ", ".join(f"{name} {version(name)}" for name in ("torch", "transformers"))
    return f"{datetime.now(UTC).date().isoformat()}, {device}, {packages}:"


if __name__ == "__main__":
    main()
