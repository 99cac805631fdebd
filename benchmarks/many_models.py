"""A backfill of six scripted models on all mini suites."""

import sys
from pathlib import Path

from bench_assets.workspace.materialization.backfill import backfill
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from benchmarks.figures import Figure, run_command

_MODELS = [f"scripted-{number:02d}" for number in range(6)]


def measure(folder: Path) -> list[Figure]:
    """Run the backfill in a new process, and count its tables."""
    home = folder / "home"
    home.mkdir()
    (home / "bench.toml").write_text(
        "".join(f'[models.{name}]\nkind = "scripted"\nsays = "A"\n' for name in _MODELS)
    )
    run = run_command(home, sys.executable, "-m", "benchmarks.many_models", str(home))
    n_tables = len(list((home / "tables").rglob("scripted-*.parquet")))
    wall_seconds = float(run.output.splitlines()[-1])
    return [
        Figure("materializations by 6 models on all mini suites", n_tables),
        Figure(
            "    seconds each, without building questions",
            wall_seconds / n_tables,
            at_most=1.5,
            unit="s",
        ),
        Figure("    CPU each, with building questions", run.cpu_seconds / n_tables, unit="s"),
        Figure("    processes each", 1 / n_tables),
    ]


def main(home: str) -> None:
    """Print the sum of the seconds of the backfill's runs on the last line."""
    with Workbench(load_settings(Path(home))) as bench:
        results = list(backfill(bench, _MODELS))
    errors = [result.error for result in results if result.error]
    if errors:
        raise SystemExit(errors[0])
    sys.stdout.write(f"{sum(result.seconds for result in results)}\n")


if __name__ == "__main__":
    main(sys.argv[1])
