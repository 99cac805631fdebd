"""BLINK left of the waist: from the files of its source to the question tables."""

from pathlib import Path

import dagster as dg

from bench_assets.core.errors import ImageError
from bench_assets.core.rows import Question, Rejection, SourceFile
from bench_assets.staging import Staging, out
from bench_assets.suites.blink.build import TaskBuilt, build_all
from bench_assets.suites.blink.perception_tasks import PERCEPTION_TASKS
from bench_assets.suites.blink.questions import (
    Statistic,
    from_key,
    hidden_split,
    name_edition,
    scorable,
    to_question,
)
from bench_assets.suites.blink.questions import statistics as count_statistics
from bench_assets.suites.blink.settings import BlinkSettings
from bench_assets.suites.blink.source import (
    KEY,
    Item,
    absent_tasks,
    find_route,
    read_items,
    read_key,
)
from bench_assets.suites.blink.source import source_files as pin_files
from resources.home.tables import table_output
from resources.pictures.images import ImageStore
from resources.pictures.previews import question_preview
from resources.settings.settings_file import SettingsFile
from resources.sources.source_files import SourceFiles

BLINK = Staging("blink")


@dg.asset(**BLINK.stage("source"))
def source(sources: SourceFiles, settings: SettingsFile) -> dg.Output[list[SourceFile]]:
    """Pin the files.

    One row: one file of the source, by its digest; the hub's release has 28 with questions.
    Without a configured folder, the raw material of the mini edition is drawn first.
    """
    opened = sources.open("blink")
    if opened.is_mini:
        from bench_assets.suites.blink.mini import edition as mini

        mini.write(opened.folder, settings.load().suite("blink", BlinkSettings).seed)
    return table_output(pin_files(opened.folder))


@dg.multi_asset(
    name="blink_items",
    deps=BLINK.source,
    outs={
        "items": out(
            BLINK.stage("images"),
            Question,
            "One row: one question of the validation or test split; the release has 3,807 and "
            "hides the answers of the test split. An answer key alone has no pictures.",
        ),
        "rejections": out(
            BLINK.stage("select"),
            Rejection,
            "One row: an entry of the raw data sets that did not become a question, and why. Where "
            "the release is read: the tasks that it lacks.",
        ),
        "builders": out(
            BLINK.stage("select"),
            TaskBuilt,
            "One row: one of the fourteen tasks: the questions wanted and those that were built of "
            "its raw data, and what is at fault where there are none. Empty where the release is "
            "read.",
        ),
    },
)
def items(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: SettingsFile,
    images: ImageStore,
) -> tuple[dg.Output[list[Question]], dg.Output[list[Rejection]], dg.Output[list[TaskBuilt]]]:
    """Read the release or the answer key, or build questions from the raw data sets."""
    opened = sources.open("blink")
    rejections: list[Rejection] = []
    tasks: list[TaskBuilt] = []
    match find_route(opened.folder):
        case "release":
            read, broken = _read(opened.folder, images)
            absent = _absences(opened.folder)
            rows, rejections = name_edition(read), absent + broken
            faults = [one.reason for one in absent[:1]] + [one.reason for one in broken]
        case "key":
            rows, faults = name_edition(from_key(read_key(opened.folder / KEY))), []
        case "raw":
            chosen = settings.load().suite("blink", BlinkSettings)
            built = build_all(
                opened.folder,
                images.put,
                edition="mini" if opened.is_mini else "built",
                seed=chosen.seed,
                parameters=chosen.builders,
            )
            rows, rejections, tasks = built.questions, built.rejections, built.tasks
            faults = [one.fault for one in tasks if one.fault]
    for fault in faults:
        context.log.warning(fault)
    return (
        table_output(rows, question_preview(rows, images)),
        table_output(rejections),
        table_output(tasks),
    )


@dg.asset(ins=BLINK.ins("items"), **BLINK.stage("questions"))
def questions(images: ImageStore, items: list[Question]) -> dg.Output[list[Question]]:
    """Take the questions whose answer is known.

    One row: one question that can be scored: the release's validation split, 1,901 in 14 tasks,
    or both splits of an edition that was built here.
    """
    rows = scorable(items)
    return table_output(rows, question_preview(rows, images))


@dg.asset(ins=BLINK.ins("items"), **BLINK.stage("questions"))
def statistics(items: list[Question]) -> dg.Output[list[Statistic]]:
    """Count questions and pictures.

    One row: one line of Table 3, with the paper's number beside ours.
    """
    return table_output(count_statistics(items))


@dg.asset(name="questions", ins=BLINK.ins("items"), **BLINK.stage("questions", below="test"))
def hidden_questions(items: list[Question]) -> dg.Output[list[Question]]:
    """Take the test split.

    One row: one question of the test split, its answer hidden; 1,906 in the release. They are
    asked for the submission and scored by nobody but the authors.
    """
    return table_output(hidden_split(items))


def _absences(folder: Path) -> list[Rejection]:
    """Say which tasks a release lacks: all in the first reason, since each costs the edition."""
    absent = absent_tasks(folder)
    said = f"{len(absent)} of {len(PERCEPTION_TASKS)} tasks are absent: {', '.join(absent)}"
    reason = f"{folder}: {said}; the edition is 'own', not 'published'"
    return [Rejection(entry=f"{name}/", reason=reason) for name in absent]


def _read(folder: Path, images: ImageStore) -> tuple[list[Question], list[Rejection]]:
    """Read a release; an entry with a picture that does not decode is a rejection."""
    read, broken = [], []
    for item in read_items(folder):
        try:
            read.append(to_question(item, _stored(item, images)))
        except ImageError as why:
            broken.append(Rejection(entry=item.idx, reason=str(why)))
    return read, broken


def _stored(item: Item, images: ImageStore) -> list[str]:
    stored = []
    for number, data in enumerate(item.images, 1):
        try:
            stored.append(images.put(data, f"{item.idx}_{number}").sha256)
        except ImageError as why:
            raise ImageError(f"{item.where}, image_{number}: {why}") from why
    return stored
