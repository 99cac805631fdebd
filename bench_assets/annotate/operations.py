"""Operations of ``bench annotate``: units, progress, quality, links, export, import."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

import dagster as dg

from bench_assets.annotation.answers.progress import AnnotationProgress, progress_of
from bench_assets.annotation.answers.quality import (
    AnnotatorQuality,
    UnitDisagreement,
    annotator_quality,
    disagreements,
)
from bench_assets.annotation.answers.validation import (
    AnswerValidator,
    ResolvedAnswers,
    resolve_answers,
)
from bench_assets.annotation.gold import GoldStep
from bench_assets.annotation.responses.draws import shuffle_by_digest
from bench_assets.annotation.tasks import (
    AnnotationError,
    AnnotationTask,
    Answer,
    SuiteAnnotationTask,
    UndecidedUnits,
    Unit,
    format_timestamp,
)
from bench_assets.asset_factory.annotation_inputs import undecided_in_task
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.comparison.people_checks import people_checks
from bench_assets.core.gold.funnel import GoldFunnel, gold_funnel
from bench_assets.core.gold.proposals import DecidedProposal
from bench_assets.core.schema.errors import SettingsError, UnknownNameError
from bench_assets.core.schema.measured_figures import DrawnUnit
from bench_assets.core.schema.rows import Prediction, Question, Score
from bench_assets.evaluation.checked_scores import JudgedModel, draw_units
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.annotation import label_studio
from bench_resources.annotation.opening import open_annotation_backend
from bench_resources.annotation.web.server import LOOPBACK, PORT, require_pages
from bench_resources.annotation.web.sessions import LinkSigner
from bench_resources.annotation.web.store import pages_store
from bench_resources.config.addresses import fill_keys
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.models import baselines
from bench_resources.images.browser_images import data_uri
from bench_resources.images.store import open_image_store
from bench_resources.storage.atomic_write import describe_write_errors, open_atomic
from bench_resources.tables.measured_figures import add_figures

_MAX_NAMED = 20  # entries that an error names


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationTaskStatus:
    """One annotation task of a suite."""

    task: str
    title: str
    asked: bool  # whether bench.toml has a section for it
    about: str  # where the paper describes it


class ImportCounts(NamedTuple):
    """Answers of an import."""

    new: int
    known: int  # imported before


class Campaign(NamedTuple):
    """An active task with its units and the backend's answers."""

    task: AnnotationTask
    units: Sequence[Unit]
    counted: ResolvedAnswers
    undecided: UndecidedUnits


def list_tasks(bench: Workbench) -> list[AnnotationTaskStatus]:
    """List all tasks of all suites."""
    active = bench.settings.annotation.tasks
    return [
        AnnotationTaskStatus(
            task=task.task.name,
            title=task.task.title,
            asked=task.task.name in active,
            about=task.task.about,
        )
        for task in _tasks(bench)
    ]


def ask(bench: Workbench, name: str) -> None:
    """Publish the units of active tasks, and collect answers.

    Missing input tables of the units are built first. Questions are not rebuilt from the answers;
    ``bench tables questions`` and a sensor do that.

    Raises:
        UnknownNameError: If there is no task of that name.
        SettingsError: If no task is active.
        BenchError: If the source or the annotation backend cannot be used.
    """
    tasks = _selected_tasks(bench, name)
    keys = [
        task.table(table_name).split("/") for task in tasks for table_name in ("units", "answers")
    ]
    tables = dg.AssetSelection.assets(*(dg.AssetKey(key) for key in keys))
    of_models = dg.AssetSelection.tag("bench/per", "model")  # responses are generated elsewhere
    wanted = (tables.upstream() - of_models).required_multi_asset_neighbors()
    bench.materialize(wanted, title="annotation tasks")


def draw_verdicts(
    bench: Workbench, name: str, n: int, models: Sequence[str], at: datetime
) -> list[DrawnUnit]:
    """Draw responses for people, so that their verdicts correct the numbers of judges and rules.

    Args:
        bench: The home.
        name: Task with a judge or a reader, such as "codis".
        n: Units of its primary metric.
        models: Models whose responses people judge; empty: all evaluated ones but baselines.
        at: Current time.

    Raises:
        UnknownNameError: If there is no such task, or a model was not evaluated.
        SettingsError: If people cannot judge the task, its verdicts are not active, or ``n`` is too
            small.
        BenchError: If a table cannot be read.
    """
    task = bench.catalog.task(name)
    if not task.is_checked_by_people:
        raise SettingsError(f"{task.name}: people cannot judge its responses")
    _selected_tasks(bench, task.response_tasks[0].task.name)
    folder, tables = task.name.split("/"), bench.tables
    known = sorted(tables.partitions([*folder, "scores"]))
    if unknown := [model for model in models if model not in known]:
        raise UnknownNameError(f"evaluated model of {task.name}", unknown[0], known)
    guessing = baselines(bench.settings.models)
    judged = {
        model: JudgedModel(
            tables.read([*folder, "predictions"], Prediction, model),
            tables.read([*folder, "scores"], Score, model),
        )
        for model in models or [model for model in known if model not in guessing]
    }
    if not judged:
        raise SettingsError(f"{task.name}: no model was evaluated; run bench evaluate {task.name}")
    questions = tables.read([*folder, "questions"], Question)
    drawn = draw_units(task, questions, judged, n, format_timestamp(at))
    add_figures(bench.settings.home, DrawnUnit, drawn)
    return drawn


def proposal_tasks(bench: Workbench, suite: str) -> list[str]:
    """Name the active annotation tasks on proposed questions, of one suite or of all.

    Raises:
        SettingsError: If there is none.
    """
    steps = [
        suite_part.gold.suite
        for suite_part in bench.catalog.suites
        if suite_part.gold and suite in ("", suite_part.name)
    ]
    tables = [f"{name}/proposals" for name in steps]
    if suite and not tables:
        raise SettingsError(f"{suite}: its build proposes no questions")
    if not (active := [name for name in tables if name in bench.settings.annotation.tasks]):
        known = " or ".join(f'[annotation.tasks."{name}"]' for name in tables)
        raise SettingsError(f"{bench.settings.file}: no task is configured. Add a section {known}")
    return active


def draw_accepted(bench: Workbench, name: str, n: int, at: datetime) -> None:
    """Draw accepted proposals for people; a larger draw contains the smaller ones.

    Args:
        bench: The home.
        name: Annotation task on proposals, such as "multi/proposals".
        n: Proposals that votes accepted.
        at: Current time.

    Raises:
        BenchError: If a table cannot be read or built.
    """
    step = _gold_step(bench, name)
    ask(bench, name)
    rows = bench.tables.read([*step.folder.split("/"), "proposals"], DecidedProposal)
    accepted = [
        row.id
        for row in rows
        if row.decision == "accepted" and row.by != "people" and not row.doubt
    ]
    drawn = [
        DrawnUnit(
            task=name,
            model="",
            unit=unit,
            questions=unit,
            judge="",
            stratum="accepted",
            probability=min(1.0, n / len(accepted)),
            digest="",
            at=format_timestamp(at),
        )
        for unit in shuffle_by_digest(accepted)[:n]
    ]
    add_figures(bench.settings.home, DrawnUnit, drawn)


def funnel_rows(bench: Workbench, name: str) -> list[GoldFunnel]:
    """Count the outcomes of a suite's proposals, with people's answers so far; raises as above."""
    folder = AssetFolder(_gold_step(bench, name).folder)
    keys = [folder.key(table) for table in ("proposals", "decided_proposals")]
    bench.materialize(dg.AssetSelection.assets(keys[1]), title="decided proposals")
    return gold_funnel(*(bench.tables.read(key.path, DecidedProposal) for key in keys))


def _gold_step(bench: Workbench, name: str) -> GoldStep:
    steps = (suite.gold for suite in bench.catalog.suites if suite.gold)
    return next(step for step in steps if name == f"{step.suite}/proposals")


def judged_numbers(bench: Workbench, name: str) -> dict[str, str]:
    """The judge's number of each drawn model as people's verdicts leave it, by model."""
    checks = people_checks(bench.tables, bench.catalog.task(name))
    return {
        model: "; ".join(filter(None, (check.sentence, check.details)))
        for model, check in checks.items()
    }


def publish(bench: Workbench, name: str, now: datetime) -> AnnotationProgress:
    """Publish the units of one task and collect its answers; raises as ``ask`` and ``progress``."""
    ask(bench, name)
    (row,) = progress(bench, name, now)
    return row


def progress(bench: Workbench, name: str, now: datetime) -> list[AnnotationProgress]:
    """Progress of the active tasks, or of one of them.

    Raises:
        UnknownNameError: If there is no task of that name.
        SettingsError: If no task is active.
        TableError: If its units were never built.
        AnnotationError: If the annotation backend cannot be used.
    """
    return [
        progress_of(
            campaign.task.name, campaign.units, campaign.counted.all, campaign.undecided, now
        )
        for campaign in _campaigns(bench, name)
    ]


def quality(bench: Workbench, name: str) -> list[AnnotatorQuality]:
    """Compute the answer quality of each annotator; raises as ``progress``."""
    return [
        row
        for campaign in _campaigns(bench, name)
        for row in annotator_quality(campaign.task, campaign.units, campaign.counted.all)
    ]


def queue(bench: Workbench, name: str) -> list[UnitDisagreement]:
    """List the units for a second round, most disagreement first; raises as ``progress``."""
    return [
        row
        for campaign in _campaigns(bench, name)
        for row in disagreements(
            campaign.task, campaign.units, campaign.counted.answers, campaign.undecided.open
        )
        if row.disagreement or row.lacking
    ]


def export(bench: Workbench, name: str, folder: Path) -> list[Path]:
    """Export a task with its units and images for Label Studio.

    Raises:
        SettingsError: If the folder is not empty; otherwise as ``progress``.
        AnnotationError: If Label Studio cannot ask one of the task's fields.
        HomeError: If it cannot be written.
    """
    if folder.exists() and any(folder.iterdir()):
        raise SettingsError(f"{folder}: not empty; nothing was written")
    (task,) = _selected_tasks(bench, name)
    units = bench.tables.read(task.table("units").split("/"), Unit)
    image_location = open_image_store(bench.settings).place
    config = label_studio.labelling_config(task.task)
    files = [folder / "labelling-config.xml", folder / "tasks.json"]
    with open_atomic(files[1]) as tasks:
        for number, unit in enumerate(units):
            entry = label_studio.import_task(task.task, unit, partial(data_uri, image_location))
            text = json.dumps(entry, ensure_ascii=False)
            tasks.write(f"{',' if number else '['}\n{text}".encode())
        tasks.write(b"\n]\n" if units else b"[]\n")
    with describe_write_errors(folder):
        files[0].write_text(config, encoding="utf-8")
    return files


def import_answers(bench: Workbench, name: str, file: Path) -> ImportCounts:
    """Import the annotations of Label Studio's JSON export; those imported before are not repeated.

    Raises:
        SourceError: If the file cannot be read.
        AnnotationError: If some annotations cannot be used; names each, after the others were
            imported. Otherwise as ``progress``.
    """
    (task,) = _selected_tasks(bench, name)
    units = bench.tables.read(task.table("units").split("/"), Unit)
    validator = AnswerValidator(task.task, {unit.unit_id: unit for unit in units})
    usable, faults = list[Answer](), list[str]()
    for answer in label_studio.read_export(task.task, file, bench.settings.annotation.names):
        is_skip = answer.skipped and not answer.complaint
        check = validator.find_mismatch if is_skip else validator.find_complaint
        if complaint := check(answer):
            faults.append(f"{answer.tool_id}: {complaint}")
        else:
            usable.append(answer)
    new = open_annotation_backend(bench.settings).add(task.task, usable)
    counts = ImportCounts(new, len(usable) - new)
    if faults:
        summary = (
            f"{file}: {len(faults)} annotations cannot be used; the other {len(usable)} are"
            f" imported, {counts.new} of them new:"
        )
        rest = [f"and {len(faults) - _MAX_NAMED} more"] if len(faults) > _MAX_NAMED else []
        raise AnnotationError("\n  ".join([summary, *faults[:_MAX_NAMED], *rest]))
    return counts


def _tasks(bench: Workbench) -> list[SuiteAnnotationTask]:
    return [task for suite in bench.catalog.suites for task in suite.every_annotation_task]


def _selected_tasks(bench: Workbench, name: str) -> list[SuiteAnnotationTask]:
    """Select one task by name, or all active tasks."""
    known = {task.task.name: task for task in _tasks(bench)}
    active = bench.settings.annotation.tasks
    if name and name not in known:
        raise UnknownNameError("task", name, known)
    if name and name not in active:
        raise SettingsError(
            f"{bench.settings.file}: {name} is not configured. Add a section"
            f' [annotation.tasks."{name}"].'
        )
    if not name and not active:
        raise SettingsError(
            f"{bench.settings.file}: no annotation task is configured. Add a section"
            ' [annotation.tasks."SUITE/TASK"]; `bench annotate tasks` lists all.'
        )
    return (
        [known[name]]
        if name
        else [campaign for campaign in known.values() if campaign.task.name in active]
    )


def _campaigns(bench: Workbench, name: str) -> Iterator[Campaign]:
    tool = open_annotation_backend(bench.settings)
    for task in _selected_tasks(bench, name):
        units = bench.tables.read(task.table("units").split("/"), Unit)
        terms = bench.settings.annotation.tasks[task.task.name].terms
        counted = resolve_answers(task.task, units, tool.answers(task.task), terms)
        suite = bench.catalog.suite(task.suite)
        waits = undecided_in_task(bench.tables, task, suite, units, counted.answers, terms)
        yield Campaign(task.task, units, counted, waits)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonLink:
    """A personal link to the annotation pages."""

    person: str  # the pseudonym, as in tables
    sent_to: str  # their name in [annotation.names]; "": not listed there
    until: str  # ISO 8601, UTC
    link: str


def make_links(
    settings: Settings, tasks: Sequence[str], people: Sequence[str], days: float
) -> list[PersonLink]:
    """Make a link for each person.

    Args:
        settings: Settings of the home.
        tasks: Tasks that the link opens; empty: all.
        people: Pseudonyms, or names in ``[annotation.names]``; empty: all of that section.
        days: Days until the link expires.

    Raises:
        SettingsError: If no annotator is named, or the backend is not pages.
        UnknownNameError: If a task is not active.
        AnnotationError: If a name is not a pseudonym, or the signing key cannot be used.
    """
    require_pages(settings)
    names = settings.annotation.names
    if not (people or names):
        raise SettingsError(
            f"{settings.file}: no annotators. Use --person NAME, or list them in [annotation.names]"
        )
    _check(settings, tasks)
    signer = LinkSigner.beside(pages_store(settings.home))
    ends = datetime.now(UTC) + timedelta(days=days)
    address = fill_keys(settings.annotation.url).rstrip("/") or f"http://{LOOPBACK}:{PORT}"

    def handed(name: str) -> PersonLink:
        person = names.get(name, name)
        token = signer.make(person, tuple(tasks), int(ends.timestamp()))
        return PersonLink(
            person=person,
            sent_to=name if name in names else "",
            until=f"{ends:%Y-%m-%dT%H:%MZ}",
            link=f"{address}/in/{token}",
        )

    return list(map(handed, people or names))


def revoke_links(settings: Settings, people: Sequence[str]) -> list[str]:
    """Revoke all links of the given people; returns their pseudonyms.

    Raises:
        SettingsError: If the annotation backend is not the annotation pages.
        AnnotationError: If the file cannot be written.
    """
    require_pages(settings)
    known = [settings.annotation.names.get(name, name) for name in people]
    for person in known:
        LinkSigner.beside(pages_store(settings.home)).revoke(person)
    return known


def _check(settings: Settings, tasks: Sequence[str]) -> None:
    store = pages_store(settings.home)
    known = {*settings.annotation.tasks, *store.tasks()}
    for task in tasks:
        if task not in known:
            raise UnknownNameError(f"task in {settings.file}", task, known)
