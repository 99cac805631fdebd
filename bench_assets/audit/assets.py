"""Audit of a task as an asset with one check per family of findings."""

from collections.abc import Iterator, Sequence

import dagster as dg

from bench_assets.asset_factory.evaluation_tables import AUDIT, audit_key, evaluation_key
from bench_assets.audit.evidence_inputs import open_training_data
from bench_assets.audit.framework.findings import AuditRow
from bench_assets.audit.registry import FAMILIES, audit_task
from bench_assets.audit.task_evidence import TaskEvidence
from bench_assets.catalog import Catalog
from bench_assets.core.text.escaping import escape_markdown
from bench_assets.defs.report_links import link_audit
from bench_assets.defs.suite_datasets import memoize
from bench_assets.evaluation.task import Task
from bench_resources.config.bench_toml import Settings
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles, table_output

_MAX_SHOWN = 20  # suspects of a finding that a check lists


def audit_assets(catalog: Catalog) -> list[dg.AssetsDefinition]:
    """Build the audit asset of every task that models are evaluated on."""
    return [memoize(audit_asset, task) for task in catalog.tasks if task.asked_of == "model"]


def audit_asset(task: Task) -> dg.AssetsDefinition:
    """Build the audit asset of a task."""
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
            dg.AssetCheckSpec(
                family, asset=key, description=" ".join(check.question for check in checks)
            )
            for family, checks in FAMILIES.items()
        ],
    )
    def audit(
        settings: dg.ResourceParam[Settings], tables: TableFiles, image_store: ImageStore
    ) -> Iterator[dg.Output[list[AuditRow]] | dg.AssetCheckResult]:
        evidence = TaskEvidence(
            task=task, tables=tables, image_store=image_store, training=open_training_data(settings)
        )
        rows = audit_task(evidence)
        yield table_output(rows, name=AUDIT)
        question_ids = {question.question_id for question in evidence.questions}
        for family, checks in FAMILIES.items():
            names = {check.name for check in checks}
            family_rows = [row for row in rows if row.check in names]
            suspects = [suspect for row in family_rows if not row.passed for suspect in row.about]
            questions = [suspect for suspect in suspects if suspect in question_ids]
            yield link_audit(_check_result(family, family_rows, key), task, questions)

    return audit


def _check_result(family: str, rows: Sequence[AuditRow], key: dg.AssetKey) -> dg.AssetCheckResult:
    """Summarize the rows of a family; the result warns of failed checks."""
    failed = [row for row in rows if not row.passed]
    listed = [
        f"- {row.check}: {escape_markdown(suspect.about)}: {escape_markdown(suspect.evidence)}"
        for row in failed
        for suspect in row.suspects[:_MAX_SHOWN]
    ]
    sentences = [f"{row.check}: {row.sentence}" for row in failed]
    return dg.AssetCheckResult(
        asset_key=key,
        check_name=family,
        passed=not failed,
        severity=dg.AssetCheckSeverity.WARN,  # a doubt for a person to check; blocks nothing
        description="; ".join(sentences) or f"None of {len(rows)} audit checks has a doubt.",
        metadata={"suspects": dg.MetadataValue.md("\n".join(listed))} if listed else {},
    )
