"""(8) A backfill of six scripted models over every mini suite."""

import sys
from pathlib import Path

from bench_assets.workspace.materialization.backfill import backfill
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from benchmarks.figures import Figure, expect, run_command

_MODELS = [f"scripted-{number:02d}" for number in range(6)]


def measure(folder: Path) -> list[Figure]:
    """Run the backfill in a process of its own and count the tables that it wrote."""
    home = folder / "home"
    home.mkdir()
    (home / "bench.toml").write_text(
        "".join(f'[models.{name}]\nkind = "scripted"\nsays = "A"\n' for name in _MODELS)
    )
    ran = expect(run_command(home, sys.executable, "-m", "benchmarks.many_models", str(home)))
    n_tables = len(list((home / "tables").rglob("scripted-*.parquet")))
    return [
        Figure(what="    materializations by 6 models on all mini suites", value=n_tables),
        Figure(
            what="(8) wall for each, questions built before",
            value=float(ran.output.splitlines()[-1]) / n_tables,
            most=1.5,
            unit="s",
        ),
        Figure(what="    CPU for each, building included", value=ran.cpu / n_tables, unit="s"),
        Figure(what="    processes for each", value=1 / n_tables),
    ]


def main(home: str) -> None:
    """Backfill; the last line of output is the sum of the seconds of its runs."""
    with Workbench(load_settings(Path(home))) as bench:
        done = list(backfill(bench, _MODELS))
    failed = [one.error for one in done if one.error]
    if failed:
        raise SystemExit(failed[0])
    sys.stdout.write(f"{sum(one.seconds for one in done)}\n")


if __name__ == "__main__":
    main(sys.argv[1])
