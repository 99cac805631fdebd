"""Every benchmark of bench.toml as a suite: it comes in by the same door as those in Python."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from bench_assets.plain.task import task_of
from bench_assets.suite import Suite
from resources.settings.bench_toml import Settings
from resources.settings.benchmarks import PlainBenchmark


def plain_suites(settings: Settings) -> list[tuple[str, Suite]]:
    """Make a suite of each ``[benchmarks.<name>]``, with where it stands for complaints.

    Raises:
        SettingsError: If a prompt is no template; names file and entry.
    """
    return [
        (
            section,
            Suite(
                name=name,
                tasks=(task_of(name, benchmark, section),),
                assets=partial(_assets, name, benchmark),
            ),
        )
        for name, benchmark in settings.benchmarks.items()
        for section in [settings.section(name)]
    ]


def _assets(name: str, benchmark: PlainBenchmark) -> Sequence[Any]:
    from bench_assets.plain.assets import assets_of

    return assets_of(name, benchmark)
