"""Export formats by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import UnknownNameError
from bench_assets.core.schema.rows import LeaderboardRow
from bench_assets.export.experiment_trackers import write_mlflow, write_wandb
from bench_assets.export.inspect_logs import write_inspect_logs
from bench_assets.export.lm_eval import write_lm_eval_results
from bench_assets.export.model_index import write_model_indices
from bench_assets.export.tables import FORMS, write_tables
from bench_assets.export.vlmeval import write_vlmeval_files
from bench_assets.workspace.inspect.table_collection import TableCollection
from bench_resources.images.store import ImageStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportJob:
    """Inputs and target of an export."""

    gathered: TableCollection
    catalog: Catalog
    image_store: ImageStore
    standings: Callable[[], Sequence[LeaderboardRow]]
    out: Path
    images: bool = False  # embed images, even if the format can refer to files
    to: str = ""  # tracking URI or mode of an experiment tracker


Write: TypeAlias = Callable[[ExportJob], Sequence[Path | str]]
"""Writes an export; returns its files or addresses."""


class ExportFormat(NamedTuple):
    """An export format with its defaults; (): all."""

    write: Write
    conditions: tuple[str, ...] = ()
    editions: tuple[str, ...] = ()


def _inspect(job: ExportJob) -> list[Path]:
    embed = job.images or bool(job.image_store.objects)  # viewers cannot read object stores
    return write_inspect_logs(job.gathered, job.image_store, job.out, embed=embed)


def _tables(form: str, job: ExportJob) -> list[Path]:
    return write_tables(job.gathered, job.standings(), job.out, form)


FORMATS: Mapping[str, ExportFormat] = {
    **{form: ExportFormat(partial(_tables, form)) for form in FORMS},
    "model-index": ExportFormat(
        lambda job: write_model_indices(job.gathered, job.catalog, job.out),
        conditions=("main",),
        editions=("published",),
    ),
    "inspect": ExportFormat(_inspect),
    "lm-eval": ExportFormat(lambda job: write_lm_eval_results(job.gathered, job.out)),
    "vlmeval": ExportFormat(lambda job: write_vlmeval_files(job.gathered, job.out)),
    "mlflow": ExportFormat(lambda job: write_mlflow(job.gathered, job.out, job.to)),
    "wandb": ExportFormat(lambda job: write_wandb(job.gathered, job.out, job.to or "offline")),
}


def format_of(name: str, others: Sequence[str] = ()) -> ExportFormat:
    """Find an export format; ``others`` are further valid names, for the message.

    Raises:
        UnknownNameError: If the name is unknown.
    """
    if name not in FORMATS:
        raise UnknownNameError("format", name, [*FORMATS, *others])
    return FORMATS[name]
