"""Annotation units and answers as assets, one step per form.

Without a section of the form in bench.toml the tables are empty, and nothing is opened.

What comes of people's answers about models' responses: a table for each form that is asked.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg

from bench_assets.annotation.answers.proposals import propose
from bench_assets.annotation.answers.resolution import (
    ResolvedAnswers,
    Terms,
    count,
    open_items,
    wanted,
)
from bench_assets.annotation.tasks.backend import AskedItem, People, UnitCounts
from bench_assets.annotation.tasks.forms import Answer, Form, SuiteForm, Unit, Values, moment
from bench_assets.asset_factory.annotation_inputs import answers_key, heard
from bench_assets.asset_factory.suite_assets import AssetFolder, asking, out
from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.core.tables.arrow import digest
from bench_assets.core.tables.json_records import field, read_lines
from resources.annotation.opening import open_people
from resources.config.bench_toml import Settings
from resources.config.sections.annotation import FormSettings
from resources.config.settings_resource import SettingsResource
from resources.models.registry.opening import Models
from resources.tables.asset_types import preview
from resources.tables.parquet import TableFiles, table_output

_ROWS: Mapping[str, tuple[type[Any], str]] = {
    "items": (Unit, "One row: one thing that people are asked about: {}."),
    "asked": (AskedItem, "One row: one item as it was put where people answer: {}."),
    "answers": (
        Answer,
        "One row: what one person last said of one item, and, if it does not count, why: {}.",
    ),
}
_OF_MODELS = ("predictions", "judgements", "scores", "metrics")  # forms about what models said
_SHOWN = 5  # reasons that a run tells


def people_assets(form: SuiteForm) -> dg.AssetsDefinition:
    """Build the step of a form: what is asked, that it was asked, and what was answered."""
    tables = {name: form.table(name) for name in _ROWS}
    # A model may fill items in first, and shares its pool then; most forms ask people alone.
    told = AssetFolder(f"{form.suite}/people").stage(
        "people", asks="judge", when_asked=_is_of_models(form)
    )
    told["kinds"] = {"python"}
    read = {dg.AssetKey(one.key.split("/")) for one in form.reads.values()}
    items, asked = (dg.AssetKey(tables[name].split("/")) for name in ("items", "asked"))

    @dg.multi_asset(
        name=form.table("form").replace("/", "__"),
        pool=told["pool"],
        deps=sorted(read),
        outs={
            name: out(told, row, about.format(form.form.title), tables[name].split("/")[-1])
            for name, (row, about) in _ROWS.items()
        },
        internal_asset_deps={"items": read, "asked": {items}, "answers": {items, asked}},
    )
    def people(
        context: dg.AssetExecutionContext,
        settings: SettingsResource,
        tables: TableFiles,
        models: Models,
    ) -> Iterator[dg.Output[list[Any]]]:
        loaded = settings.load()
        chosen = loaded.people.forms.get(form.form.name)
        if chosen is None:
            yield from (table_output([], name=name) for name in _ROWS)
            return
        there = items_of(form, chosen, loaded, tables)
        if chosen.propose:
            with asking(context, models, _proposer(form, chosen)) as (model, _):
                there = propose(form.form, there, model, chosen.unproposed)
        yield table_output(there, name="items")
        yield from _asked_and_answered(context, form.form, there, chosen.terms, loaded)

    return people


def _asked_and_answered(
    context: dg.AssetExecutionContext,
    form: Form,
    items: Sequence[Unit],
    terms: Terms,
    settings: Settings,
) -> Iterator[dg.Output[list[Any]]]:
    """Put the items where people answer, then hear them; the log tells what is refused."""
    port = open_people(settings)
    put = _ask(port, form, items, terms)
    rows = [_asked_item(form, item, settings.people.kind) for item in items]
    yield table_output(rows, put._asdict() if put else {"closed": terms.until}, "asked")
    found = count(form, items, port.answers(form), terms)
    for why, n in _reasons(found.refused):
        context.log.info(f"{n} do not count: {why}")
    yield _answers_output(found, items)


def _proposer(form: SuiteForm, chosen: FormSettings) -> str:
    """The model that fills a form in before people come.

    Raises:
        SettingsError: If people are to say what they think of models' responses.
    """
    if _is_of_models(form):
        raise SettingsError(
            f"{form.form.name}: propose = {chosen.propose!r}: what people think of models' "
            f"responses"
            " is theirs alone; take the entry away"
        )
    return chosen.propose


def items_of(
    form: SuiteForm, chosen: FormSettings, settings: Settings, tables: TableFiles
) -> list[Unit]:
    """Put together what is asked, of the tables as they are now and on the terms of bench.toml.

    Raises:
        TableError: If a table that the form reads was never made.
        SettingsError: If the file of attention checks cannot be used.
    """
    found = form.items(**{name: _rows(tables, *one) for name, one in form.reads.items()})
    gold = _read_gold(settings.resolve(chosen.gold)) if chosen.gold else {}
    if strange := sorted(gold.keys() - {item.item_id for item in found}):
        raise SettingsError(f"{chosen.gold}: there is no item {strange[0]!r} in {form.form.name}")
    marked = [replace(item, gold=gold.get(item.item_id, {})) for item in found]
    return wanted(marked, chosen.terms)


def _rows(tables: TableFiles, key: str, row: type[Any]) -> list[Any]:
    path = key.split("/")
    parts = tables.partitions(path) or [""]
    return [one for part in parts for one in tables.read(path, row, part)]


def _ask(port: People, form: Form, items: Sequence[Unit], terms: Terms) -> UnitCounts | None:
    """Ask, unless the deadline is over: then nobody is shown any more."""
    if terms.until and moment(datetime.now(UTC)) > terms.until:
        port.close(form)
        return None
    return port.ask(form, items)


def _asked_item(form: Form, item: Unit, tool: str) -> AskedItem:
    return AskedItem(
        form=form.name,
        form_version=form.version,
        item_id=item.item_id,
        digest=item.digest,
        needed=item.needed,
        tool=tool,
    )


def _answers_output(found: ResolvedAnswers, items: Sequence[Unit]) -> dg.Output[list[Answer]]:
    """Version the answers by those that count: what is made of them is as old as these."""
    lacking = open_items(items, found.answers)
    told = {"counted": len(found.answers), "refused": len(found.refused), "open": len(lacking)}
    return dg.Output(
        found.all,
        output_name="answers",
        data_version=dg.DataVersion(digest(found.answers)),
        metadata={**told, "dagster/row_count": len(found.all), **preview(found.all)},
    )


def _reasons(refused: Sequence[Answer]) -> list[tuple[str, int]]:
    return Counter(one.complaint for one in refused).most_common(_SHOWN)


def _read_gold(file: Path) -> dict[str, Values]:
    try:
        return {
            field(entry, "item", str, where): {
                name: tuple(map(str, said if isinstance(said, list) else [said]))
                for name, said in field(entry, "values", dict, where).items()
            }
            for entry, where in read_lines(file)
        }
    except SourceError as why:
        raise SettingsError(f"attention checks: {why}") from why


def _is_of_models(form: SuiteForm) -> bool:
    return any(one.key.split("/")[-1] in _OF_MODELS for one in form.reads.values())


def summary_asset(form: SuiteForm) -> dg.AssetsDefinition:
    """Build the table that sums up the answers to a form about responses.

    Raises:
        ValueError: If the form has none.
    """
    if form.summary is None:
        raise ValueError(f"{form.form.name} is not about responses")
    summary = form.summary
    said = form.reads["predictions"]
    told = AssetFolder(f"{form.suite}/people").stage("people", when_asked=True)

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
