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

_MAX_NAMED = 20  # annotations that an error names


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
    resolved: ResolvedAnswers
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
    """Publish the units of an active task, or of all if ``name`` is "", and collect answers.

    Missing input tables of the units are built first. Questions are not rebuilt from the answers;
    ``bench tables questions`` and a sensor do that.

    Raises:
        UnknownNameError: If there is no task of that name.
        SettingsError: If the task is not active, or none is.
        BenchError: If the source or the annotation backend cannot be used.
    """
    tasks = _selected_tasks(bench, name)
    keys = [
        dg.AssetKey(task.table(table).split("/"))
        for task in tasks
        for table in ("units", "answers")
    ]
    model_tables = dg.AssetSelection.tag("bench/per", "model")  # responses are generated elsewhere
    selection = dg.AssetSelection.assets(*keys).upstream() - model_tables
    bench.materialize(selection.required_multi_asset_neighbors(), title="annotation tasks")


def draw_verdicts(
    bench: Workbench, name: str, n: int, models: Sequence[str], now: datetime
) -> list[DrawnUnit]:
    """Draw and record responses for people, whose verdicts correct numbers of judges and rules.

    ``n`` counts units of the primary metric. Without ``models``, all that were evaluated are drawn,
    except baselines.

    Raises:
        UnknownNameError: If there is no such task, or a model was not evaluated.
        SettingsError: If people cannot judge the task, its verdicts are not active, no model was
            evaluated, or ``n`` is too small.
        BenchError: If a table cannot be read.
    """
    task = bench.catalog.task(name)
    if not task.is_checked_by_people:
        raise SettingsError(f"{task.name}: people cannot judge its responses. Name another task")
    _active_task(bench, task.response_tasks[0].task.name)
    folder, tables = task.name.split("/"), bench.tables
    evaluated = sorted(tables.partitions([*folder, "scores"]))
    for model in models:
        if model not in evaluated:
            raise UnknownNameError(f"evaluated model of {task.name}", model, evaluated)
    baseline_names = baselines(bench.settings.models)
    judged_models = {
        model: JudgedModel(
            tables.read([*folder, "predictions"], Prediction, model),
            tables.read([*folder, "scores"], Score, model),
        )
        for model in models or [model for model in evaluated if model not in baseline_names]
    }
    if not judged_models:
        raise SettingsError(f"{task.name}: no model was evaluated; run bench evaluate {task.name}")
    questions = tables.read([*folder, "questions"], Question)
    drawn = draw_units(task, questions, judged_models, n, format_timestamp(now))
    add_figures(bench.settings.home, DrawnUnit, drawn)
    return drawn


def proposal_tasks(bench: Workbench, suite: str) -> list[str]:
    """List the active annotation tasks on proposed questions, of one suite or of all ("").

    Raises:
        SettingsError: If there is none.
    """
    tasks = [
        f"{known_suite.gold.suite}/proposals"
        for known_suite in bench.catalog.suites
        if known_suite.gold and suite in ("", known_suite.name)
    ]
    if not tasks:
        raise SettingsError(f"{suite or 'all suites'}: no questions are proposed")
    active = [task for task in tasks if task in bench.settings.annotation.tasks]
    if not active:
        sections = " or ".join(f'[annotation.tasks."{task}"]' for task in tasks)
        raise SettingsError(
            f"{bench.settings.file}: no task is configured. Add a section {sections}"
        )
    return active


def draw_accepted(bench: Workbench, name: str, n: int, now: datetime) -> None:
    """Publish a task on proposals, such as "multi/proposals", and draw ``n`` of the accepted ones.

    Those that people accepted, or that are doubtful, are not drawn. Larger draws contain smaller
    ones.

    Raises:
        BenchError: If a table cannot be read or built.
    """
    step = _gold_step(bench, name)
    ask(bench, name)
    proposals = bench.tables.read([*step.folder.split("/"), "proposals"], DecidedProposal)
    accepted = [
        row.id
        for row in proposals
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
            at=format_timestamp(now),
        )
        for unit in shuffle_by_digest(accepted)[:n]
    ]
    add_figures(bench.settings.home, DrawnUnit, drawn)


def funnel_rows(bench: Workbench, name: str) -> list[GoldFunnel]:
    """Count the outcomes of a suite's proposals so far; raises as ``draw_accepted``."""
    folder = AssetFolder(_gold_step(bench, name).folder)
    decided_key = folder.key("decided_proposals")
    bench.materialize(dg.AssetSelection.assets(decided_key), title="decided proposals")
    proposals = bench.tables.read(folder.key("proposals").path, DecidedProposal)
    return gold_funnel(proposals, bench.tables.read(decided_key.path, DecidedProposal))


def _gold_step(bench: Workbench, name: str) -> GoldStep:
    """Find the step whose proposals an annotation task asks about."""
    steps = (suite.gold for suite in bench.catalog.suites if suite.gold)
    return next(step for step in steps if name == f"{step.suite}/proposals")


def judged_numbers(bench: Workbench, name: str) -> dict[str, str]:
    """Describe the judge's number of each drawn model, corrected by people's verdicts, by model."""
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
    """Progress of an active task, or of all if ``name`` is "".

    Raises:
        UnknownNameError: If there is no task of that name.
        SettingsError: If the task is not active, or none is.
        TableError: If its units were never built.
        AnnotationError: If the annotation backend cannot be used.
    """
    return [
        progress_of(
            campaign.task.name, campaign.units, campaign.resolved.all, campaign.undecided, now
        )
        for campaign in _campaigns(bench, name)
    ]


def quality(bench: Workbench, name: str) -> list[AnnotatorQuality]:
    """Compute the answer quality of each annotator; raises as ``progress``."""
    return [
        row
        for campaign in _campaigns(bench, name)
        for row in annotator_quality(campaign.task, campaign.units, campaign.resolved.all)
    ]


def queue(bench: Workbench, name: str) -> list[UnitDisagreement]:
    """List the units for a second round, most disagreement first; raises as ``progress``."""
    return [
        row
        for campaign in _campaigns(bench, name)
        for row in disagreements(
            campaign.task, campaign.units, campaign.resolved.answers, campaign.undecided.open
        )
        if row.disagreement or row.lacking
    ]


def export(bench: Workbench, name: str, folder: Path) -> list[Path]:
    """Export a task with its units and images for Label Studio.

    Raises:
        SettingsError: If ``folder`` is not empty, or a file; otherwise as ``progress``.
        AnnotationError: If Label Studio cannot ask one of the task's fields.
        ImageError: If an image of a unit cannot be used.
        HomeError: If a file cannot be written.
    """
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise SettingsError(f"{folder}: not empty, or a file. Name a new or empty folder")
    task = _active_task(bench, name)
    units = bench.tables.read(task.table("units").split("/"), Unit)
    image_location = open_image_store(bench.settings).place
    config = label_studio.labelling_config(task.task)
    config_file, units_file = folder / "labelling-config.xml", folder / "tasks.json"
    with open_atomic(units_file) as stream:  # unit by unit, since they contain their images
        stream.write(b"[")
        for unit_index, unit in enumerate(units):
            entry = label_studio.import_task(task.task, unit, partial(data_uri, image_location))
            text = json.dumps(entry, ensure_ascii=False)
            stream.write(f"{',' if unit_index else ''}\n{text}".encode())
        stream.write(b"\n]\n" if units else b"]\n")
    with describe_write_errors(folder):
        config_file.write_text(config, encoding="utf-8")
    return [config_file, units_file]


def import_answers(bench: Workbench, name: str, file: Path) -> ImportCounts:
    """Import the annotations of Label Studio's JSON export; those imported before are not repeated.

    Raises:
        SourceError: If the file cannot be read.
        AnnotationError: If some annotations cannot be used; names each, after the others were
            imported. Otherwise as ``progress``.
    """
    task = _active_task(bench, name)
    units = bench.tables.read(task.table("units").split("/"), Unit)
    validator = AnswerValidator(task.task, {unit.unit_id: unit for unit in units})
    usable, faults = list[Answer](), list[str]()
    for answer in label_studio.read_export(task.task, file, bench.settings.annotation.names):
        if answer.skipped and not answer.complaint:  # skipped answers are imported, too
            complaint = validator.find_mismatch(answer)
        else:
            complaint = validator.find_complaint(answer)
        if complaint:
            faults.append(f"{answer.tool_id}: {complaint}")
        else:
            usable.append(answer)
    new = open_annotation_backend(bench.settings).add(task.task, usable)
    counts = ImportCounts(new=new, known=len(usable) - new)
    if faults:
        summary = (
            f"{file}: {len(faults)} of {len(faults) + len(usable)} annotations cannot be used; the"
            f" others are imported, {counts.new} of them new:"
        )
        rest = [f"and {len(faults) - _MAX_NAMED} more"] if len(faults) > _MAX_NAMED else []
        raise AnnotationError("\n  ".join([summary, *faults[:_MAX_NAMED], *rest]))
    return counts


def _tasks(bench: Workbench) -> list[SuiteAnnotationTask]:
    return [task for suite in bench.catalog.suites for task in suite.every_annotation_task]


def _selected_tasks(bench: Workbench, name: str) -> list[SuiteAnnotationTask]:
    """Select one active task by name, or all of them if the name is empty."""
    if name:
        return [_active_task(bench, name)]
    active = bench.settings.annotation.tasks
    if not active:
        raise SettingsError(
            f"{bench.settings.file}: no annotation task is configured. Add a section"
            ' [annotation.tasks."SUITE/TASK"]; `bench annotate tasks` lists all.'
        )
    return [task for task in _tasks(bench) if task.task.name in active]


def _active_task(bench: Workbench, name: str) -> SuiteAnnotationTask:
    known = {task.task.name: task for task in _tasks(bench)}
    if name not in known:
        raise UnknownNameError("task", name, known)
    if name not in bench.settings.annotation.tasks:
        raise SettingsError(
            f"{bench.settings.file}: {name} is not configured. Add a section"
            f' [annotation.tasks."{name}"].'
        )
    return known[name]


def _campaigns(bench: Workbench, name: str) -> Iterator[Campaign]:
    """Read the units and answers of one task by name, or of all active tasks."""
    backend = open_annotation_backend(bench.settings)
    for task in _selected_tasks(bench, name):
        units = bench.tables.read(task.table("units").split("/"), Unit)
        terms = bench.settings.annotation.tasks[task.task.name].terms
        resolved = resolve_answers(task.task, units, backend.answers(task.task), terms)
        suite = bench.catalog.suite(task.suite)
        undecided = undecided_in_task(bench.tables, task, suite, units, resolved.answers, terms)
        yield Campaign(task=task.task, units=units, resolved=resolved, undecided=undecided)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonLink:
    """A personal link to the annotation pages."""

    person: str  # the pseudonym, as in tables
    sent_to: str  # their name in [annotation.names]; "": given by the pseudonym
    until: str  # ISO 8601, UTC
    link: str


def make_links(
    settings: Settings, tasks: Sequence[str], people: Sequence[str], days: float
) -> list[PersonLink]:
    """Make a link for each person, which opens these tasks, or all, and expires after some days.

    ``people`` are pseudonyms, or names in ``[annotation.names]``; without any, all of that section.

    Raises:
        SettingsError: If no annotator is named, the backend is not pages, or a key is not set.
        UnknownNameError: If a task is neither active nor published.
        AnnotationError: If a name is not a pseudonym, or the signing key cannot be used.
    """
    require_pages(settings)
    names = settings.annotation.names
    if not (people or names):
        raise SettingsError(
            f"{settings.file}: no annotators. Use --person NAME, or list them in [annotation.names]"
        )
    store = pages_store(settings.home)
    known_tasks = {*settings.annotation.tasks, *store.tasks()}
    for task in tasks:
        if task not in known_tasks:
            raise UnknownNameError(f"task in {settings.file}", task, known_tasks)
    signer = LinkSigner.beside(store)
    expiry = datetime.now(UTC) + timedelta(days=days)
    address = fill_keys(settings.annotation.url).rstrip("/") or f"http://{LOOPBACK}:{PORT}"
    links = []
    for name in people or names:
        person = names.get(name, name)
        token = signer.make(person, tuple(tasks), int(expiry.timestamp()))
        links.append(
            PersonLink(
                person=person,
                sent_to=name if name in names else "",
                until=f"{expiry:%Y-%m-%dT%H:%MZ}",
                link=f"{address}/in/{token}",
            )
        )
    return links


def revoke_links(settings: Settings, people: Sequence[str]) -> list[str]:
    """Revoke all links of the given people; returns their pseudonyms.

    Raises:
        SettingsError: If the annotation backend is not the annotation pages.
        AnnotationError: If a name is not a pseudonym, or the file cannot be written.
    """
    require_pages(settings)
    pseudonyms = [settings.annotation.names.get(name, name) for name in people]
    for pseudonym in pseudonyms:
        LinkSigner.beside(pages_store(settings.home)).revoke(pseudonym)
    return pseudonyms
