"""Audit of a task as an asset with one check per finding."""

from collections.abc import Iterator, Sequence

import dagster as dg

from bench_assets.asset_factory.evaluation_tables import AUDIT, audit_key, evaluation_key
from bench_assets.audit.evidence_inputs import open_training_data
from bench_assets.audit.framework.findings import AuditRow
from bench_assets.audit.registry import CHECKS, audit_task
from bench_assets.audit.task_evidence import TaskEvidence
from bench_assets.catalog import Catalog
from bench_assets.core.text.escaping import escape_markdown
from bench_assets.defs.report_links import link_audit
from bench_assets.defs.suite_datasets import memoize
from bench_assets.evaluation.task import Task
from bench_resources.config.bench_toml import Settings
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles, table_output

_MAX_SHOWN = 20  # suspects that a check lists


def audit_assets(catalog: Catalog) -> list[dg.AssetsDefinition]:
    """Build the audit asset of every task that models are evaluated on."""
    return [
        memoize(_audit, task, *catalog.tasks) for task in catalog.tasks if task.asked_of == "model"
    ]


def _audit(task: Task, *tasks: Task) -> dg.AssetsDefinition:
    return audit_asset(task, tasks)


def audit_asset(task: Task, tasks: Sequence[Task]) -> dg.AssetsDefinition:
    """Build the audit asset of a task; ``tasks`` are all tasks."""
    key = audit_key(task)

    @dg.multi_asset(  # dg.asset would take the row type from the return annotation
        name="__".join(key.path),
        outs={
            AUDIT: dg.AssetOut(
                key=key,
                dagster_type=list[AuditRow],
                group_name=f"{task.suite}_audit",
                kinds={"python"},
                tags={"bench/stage": AUDIT, "bench/when": "asked"},
                description="One row: the finding of one audit check of the benchmark.",
            )
        },
        deps=[
            [*task.name.split("/"), "questions"],
            *(evaluation_key(task, condition, "metrics") for condition in task.conditions),
        ],
        check_specs=[
            dg.AssetCheckSpec(check.name, asset=key, description=check.question) for check in CHECKS
        ],
    )
    def audit(
        settings: dg.ResourceParam[Settings], tables: TableFiles, image_store: ImageStore
    ) -> Iterator[dg.Output[list[AuditRow]] | dg.AssetCheckResult]:
        training = open_training_data(settings)
        evidence = TaskEvidence(task, tables, image_store, tasks, training)
        rows = audit_task(evidence)
        yield table_output(rows, name=AUDIT)
        question_ids = {question.question_id for question in evidence.questions}
        for row in rows:
            question_ids_about = [subject for subject in row.about if subject in question_ids]
            yield link_audit(_check_result(row, key), task, question_ids_about)

    return audit


def _check_result(row: AuditRow, key: dg.AssetKey) -> dg.AssetCheckResult:
    listed = [
        f"- {escape_markdown(suspect.about)}: {escape_markdown(suspect.evidence)}"
        for suspect in row.suspects[:_MAX_SHOWN]
    ]
    return dg.AssetCheckResult(
        asset_key=key,
        check_name=row.check,
        passed=row.passed,
        severity=dg.AssetCheckSeverity.WARN,  # a doubt for a person to check; blocks nothing
        description=row.sentence,
        metadata={"suspects": dg.MetadataValue.md("\n".join(listed))} if listed else {},
    )
