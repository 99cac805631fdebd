"""The question task: writing, blind runs, review, the question table, its checks, human accuracy.

The release's questions are read as they are; otherwise a model writes them from chains.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import dagster as dg

from bench_assets.annotation.answers.validation import keep_latest
from bench_assets.asset_factory.annotation_inputs import answers_key, counted_rows
from bench_assets.asset_factory.check_results import check_result
from bench_assets.asset_factory.gold_assets import gold_assets, yield_check
from bench_assets.asset_factory.suite_assets import (
    AssetFolder,
    needs_metadata,
    open_model,
    open_writer,
)
from bench_assets.core.gold.proposals import DecidedProposal
from bench_assets.core.schema.rows import Metric, Question, Rejection, StoredImage
from bench_assets.core.tables.build import Table
from bench_assets.evaluation.aggregation import blank_metric
from bench_assets.suites.cogbench.construction.selection import (
    images_by_id,
    question_id,
    select_questions,
)
from bench_assets.suites.cogbench.dataset import source as files
from bench_assets.suites.cogbench.dataset.source import (
    SourceQuestion,
    Story,
    StoryChain,
    find_release,
)
from bench_assets.suites.cogbench.settings import LONGEST_OPTION, CogbenchSettings
from bench_assets.suites.cogbench.vqa import refinement
from bench_assets.suites.cogbench.vqa.annotation import HUMAN
from bench_assets.suites.cogbench.vqa.questions import (
    WRITTEN,
    WriterResponse,
    WrittenQuestion,
    ask_writer,
    parse_questions,
    shuffled_questions,
    to_questions,
)
from bench_assets.suites.cogbench.vqa.scoring import human_accuracy
from bench_assets.suites.cogbench.vqa.task import TASK
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.baselines import ScriptedModel
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, table_output

_FOLDER = AssetFolder("cogbench/vqa")
_SEED = 0  # seed of the option orders in blind runs


@_FOLDER.step(
    "distractors",
    reads={"stories": "../stories", "chains": "../chains"},
    deps=_FOLDER.source,
    pool="judge",
)
def writer_responses(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    models: Models,
    stories: list[Story],
    chains: list[StoryChain],
) -> list[WriterResponse]:
    """Write questions from chains with a model (section 2.3.2, Figure 7)."""
    folder = sources.open("cogbench").folder
    if find_release(folder).edition == "published":
        return []
    chosen = settings.suite("cogbench", CogbenchSettings)
    with open_writer(context, models, chosen.writer, folder / files.WRITER_RESPONSES) as writer:
        return ask_writer(stories, chains, writer)


@_FOLDER.step("distractors", reads={"chains": "../chains"})
def written_questions(
    writer_responses: list[WriterResponse], chains: list[StoryChain]
) -> dg.Output[list[WrittenQuestion]]:
    """Parse the writer's responses."""
    rows = parse_questions(writer_responses, chains)
    n_by_side = Counter(row.side for row in rows)
    return table_output(rows, dict(sorted(n_by_side.items())))


key_proposals = gold_assets(WRITTEN)
proposals_are_accepted = yield_check(WRITTEN)


@_FOLDER.step("distractors", reads={"stored": "../images"}, pool="judge")
def language_only(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    models: Models,
    written_questions: list[WrittenQuestion],
    stored: list[StoredImage],
) -> list[refinement.LanguageOnly]:
    """Answer the questions without images (section 2.3.2)."""
    by_id = images_by_id(stored)
    usable = select_questions(shuffled_questions(written_questions), by_id).rows
    questions = to_questions(usable, by_id, "built")
    if not questions:
        return []
    chosen = settings.suite("cogbench", CogbenchSettings)
    ask = partial(refinement.ask_without_image, questions, tries=chosen.text_tries, seed=_SEED)
    if chosen.text_model == LONGEST_OPTION:
        return ask(ScriptedModel(LONGEST_OPTION, refinement.longest_option))
    with open_model(context, models, chosen.text_model, "blind") as (model, _):
        return ask(model)


@_FOLDER.step("distractors", deps=_FOLDER.source)
def flags(
    sources: SourceFiles,
    written_questions: list[WrittenQuestion],
    language_only: list[refinement.LanguageOnly],
    decided_proposals: list[DecidedProposal],
) -> list[refinement.Flag]:
    """Flag doubtful questions."""
    refinements = _all_refinements(sources.open("cogbench").folder, decided_proposals).rows
    actions = {row.question_id: row.action for row in refinements}
    questions = shuffled_questions(written_questions)
    return [
        refinement.Flag(question_id=name, flag=flag, decision=actions.get(name, ""))
        for name, flag in refinement.find_flags(questions, language_only)
    ]


@_FOLDER.steps(
    "cogbench_vqa_selection",
    {"rejections": "questions", "questions": "questions"},
    reads={"stored": "../images"},
    deps=_FOLDER.source,
)
def selection(  # noqa: PLR0913, PLR0917  (a resource or table each)
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    image_store: ImageStore,
    written_questions: list[WrittenQuestion],
    decided_proposals: list[DecidedProposal],
    flags: list[refinement.Flag],
    stored: list[StoredImage],
) -> tuple[list[Rejection], dg.Output[list[Question]]]:
    """Select the questions to ask; the others become rejections."""
    opened, by_id = sources.open("cogbench"), images_by_id(stored)
    release = find_release(opened.folder)
    is_published = release.edition == "published"
    if is_published:
        published = files.read_questions(release)
        selected = select_questions(published.rows, by_id, keep_repeated=True)
        selected = Table(selected.rows, [*published.rejections, *selected.rejections])
    else:
        keep_solvable = settings.suite("cogbench", CogbenchSettings).keep_solvable
        solved = [] if keep_solvable else refinement.undecided_solvable(flags)
        reasons = {
            row.id: f"its key is {row.decision}: {row.reason}"
            for row in decided_proposals
            if row.decision != "accepted"
        }
        reasons |= dict.fromkeys(solved, refinement.NEEDS_NO_IMAGE)
        refinements = _all_refinements(release.folder, decided_proposals)
        questions = shuffled_questions(written_questions)
        selected = _apply_refinements(refinements, questions, reasons, by_id)
    is_complete = not selected.rejections and len(selected.rows) == TASK.counts["all"]
    edition = opened.edition(published=is_published, whole=is_complete)
    rows = to_questions(selected.rows, by_id, edition, refinement.undecided_flags(flags))
    return selected.rejections, table_output(rows, question_preview(rows, image_store))


def _all_refinements(
    folder: Path, proposals: Sequence[DecidedProposal]
) -> Table[refinement.Refinement]:
    """Refinements of the file and people's verdicts on proposals; the latter replace the former."""
    from_file = refinement.read_refinements(folder)
    verdicts = [
        refinement.Refinement(
            question_id=row.id,
            action="keep" if row.decision == "accepted" else "drop",
            note=row.reason,
        )
        for row in proposals
        if row.by == "people"
    ]
    rows = keep_latest([*from_file.rows, *verdicts], lambda row: row.question_id)
    return Table(rows, from_file.rejections)


def _apply_refinements(
    refinements: Table[refinement.Refinement],
    questions: Sequence[SourceQuestion],
    reasons: Mapping[str, str],
    images: Mapping[str, StoredImage],
) -> Table[SourceQuestion]:
    """Apply refinements, and leave out the questions that there is a reason against.

    A question that people kept or replaced stays whatever the reason.
    """
    reviewed_ids = {row.question_id for row in refinements.rows}
    left_out = [
        Rejection(entry=name, reason=reason)
        for name, reason in reasons.items()
        if name not in reviewed_ids
    ]
    left_out_ids = {row.entry for row in left_out}
    remaining = [question for question in questions if question_id(question) not in left_out_ids]
    refined = refinement.apply_refinements(remaining, refinements.rows)
    kept_ids = [row.question_id for row in refinements.rows if row.action == "keep"]
    selected = select_questions(refined.rows, images, kept=kept_ids)
    rejections = [*refinements.rejections, *refined.rejections, *selected.rejections]
    return Table(selected.rows, left_out + rejections)


@dg.asset_check(
    asset=_FOLDER.key("questions"),
    description="No letter is right much more or less often than the others.",
)
def right_letters_are_balanced(questions: list[Question]) -> dg.AssetCheckResult:
    """Count the right letters."""
    balanced, counts = refinement.letter_balance(
        letter for question in questions for letter in question.answer
    )
    problems = [] if balanced else [f"right answers: {counts}"]
    warn = dg.AssetCheckSeverity.WARN
    summary = ", ".join(f"{letter} {n}" for letter, n in counts.items())
    holds = f"Right answers by letter: {summary}; none stands out, or they are too few to tell."
    return check_result(problems, n=len(questions), noun="question", holds=holds, severity=warn)


_TASK_FOLDER = AssetFolder(TASK.name, str(TASK.version))


@_TASK_FOLDER.step(
    "metrics",
    deps=[answers_key(HUMAN)],
    metadata=needs_metadata("the annotation task"),
    ablation=True,
)
def human(tables: TableFiles, questions: list[Question]) -> list[Metric]:
    """Score human answers (Table 5)."""
    answers = counted_rows(tables, HUMAN)
    if not answers:
        return []
    n_people = len({answer.person for answer in answers})
    parts = {"people": str(n_people), "n": str(len(questions))}
    blank = blank_metric(TASK, questions, "people", parts, n_failed=0)
    return [
        replace(blank, metric=TASK.primary_metric, category=category, **accuracy._asdict())
        for category, accuracy in human_accuracy(questions, answers).items()
    ]
