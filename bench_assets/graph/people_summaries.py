"""What comes of people's answers about models' replies: a table for each form that is asked."""

from typing import Any

import dagster as dg

from bench_assets.hearing import answers_key, heard
from bench_assets.people.suite_form import SuiteForm
from bench_assets.staging import Staging, out
from resources.home.tables import TableFiles, table_output


def summary_asset(form: SuiteForm) -> dg.AssetsDefinition:
    """Build the table that sums up the answers to a form about replies.

    Raises:
        ValueError: If the form has none.
    """
    if form.summary is None:
        raise ValueError(f"{form.form.name} is not about replies")
    summary = form.summary
    said = form.reads["predictions"]
    told = Staging(f"{form.suite}/people").stage("people", when_asked=True)

    table = form.table(summary.name)

    @dg.multi_asset(
        name=table.replace("/", "__"),
        deps=[answers_key(form), dg.AssetKey(said.key.split("/"))],
        outs={
            "summary": out(
                told,
                summary.row,
                f"One row: {summary.about}, by the answers to {form.form.name}.",
                table.split("/")[-1],
            )
        },
    )
    def summed_up(tables: TableFiles) -> dg.Output[list[Any]]:
        key = said.key.split("/")
        predictions = [
            row for model in tables.partitions(key) for row in tables.read(key, said.row, model)
        ]
        return table_output(summary.rows(heard(tables, form), predictions))

    return summed_up
