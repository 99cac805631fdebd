"""Export formats by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from bench_assets.core.schema.rows import LeaderboardRow
from bench_assets.export.experiment_trackers import write_mlflow, write_wandb
from bench_assets.export.lm_eval import write_lm_eval_results
from bench_assets.export.tables import FORMS, write_tables
from bench_assets.export.vlmeval import write_vlmeval_files
from bench_assets.workspace.inspect.table_collection import TableCollection


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportJob:
    """Inputs and target of an export."""

    collection: TableCollection
    standings: Callable[[], Sequence[LeaderboardRow]]
    out: Path
    to: str = ""  # tracking URI or mode of an experiment tracker


Write: TypeAlias = Callable[[ExportJob], Sequence[Path | str]]
"""Writes an export; returns its files or addresses."""


def _write_form(form: str, job: ExportJob) -> list[Path]:
    return write_tables(job.collection, job.standings(), job.out, form)


FORMATS: Mapping[str, Write] = {
    **{form: partial(_write_form, form) for form in FORMS},
    "lm-eval": lambda job: write_lm_eval_results(job.collection, job.out),
    "vlmeval": lambda job: write_vlmeval_files(job.collection, job.out),
    "mlflow": lambda job: write_mlflow(job.collection, job.out, job.to),
    "wandb": lambda job: write_wandb(job.collection, job.out, job.to or "offline"),
}
