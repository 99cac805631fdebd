"""Asset checks of question tables; blocking ones stop downstream assets."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from functools import partial
from string import ascii_uppercase

import dagster as dg

from bench_assets.annotation.tasks import UndecidedUnits
from bench_assets.asset_factory.annotation_inputs import count_units, undecided_by_task
from bench_assets.asset_factory.check_results import check_result, format_count
from bench_assets.asset_factory.evaluation_tables import questions_key
from bench_assets.core.schema.errors import ImageError
from bench_assets.core.schema.rows import Question
from bench_assets.defs.checks.evaluation_checks import evaluation_checks
from bench_assets.defs.checks.expectations import expectation_check
from bench_assets.defs.checks.shared_ops import TableCheck, joint_checks
from bench_assets.defs.report_links import link_questions
from bench_assets.evaluation.task import Task
from bench_resources.config.bench_toml import Settings
from bench_resources.images.locations import is_digest
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles


def task_checks(task: Task, *further: TableCheck) -> list[dg.AssetChecksDefinition]:
    """Build every check of a task's tables, under all of its conditions.

    ``further`` are additional checks of its question tables.
    """
    tables: dict[tuple[str, ...], str] = {}
    for condition in task.conditions:  # "main" first, whose table others may share
        tables.setdefault(tuple(questions_key(task, condition)), condition)
    question_checks = [
        _question_checks(task, list(key), condition, further) for key, condition in tables.items()
    ]
    return question_checks + [
        check for condition in task.conditions for check in evaluation_checks(task, condition)
    ]


def question_problems(questions: Sequence[Question]) -> list[str]:
    """Find problems that make a question table unusable; each names its question."""
    counts = Counter(question.question_id for question in questions)
    problems = [f"{name}: {n} questions with this id" for name, n in counts.items() if n > 1]
    for question in questions:
        problems += [f"{question.question_id}: {defect}" for defect in _question_defects(question)]
    return problems


def _question_defects(question: Question) -> list[str]:
    defects = []
    if not question.text.strip():
        defects.append("no text")
    if not question.answer or not all(answer.strip() for answer in question.answer):
        defects.append("no answer")
    if question.kind in ("choice", "choices"):
        letters = set(ascii_uppercase[: len(question.options)])
        if not set(question.answer) <= letters:
            defects.append(f"answer {question.answer} is not among {sorted(letters)}")
    return defects


def _question_checks(
    task: Task, key: list[str], condition: str, further: Sequence[TableCheck]
) -> dg.AssetChecksDefinition:
    checks = [
        TableCheck(
            name="well_formed",  # an ablation may have no questions, for want of captions, say
            description="Ids are unique; every question has a text and a possible answer.",
            run=partial(_check_well_formed, task, condition),
            blocking=True,
        ),
        TableCheck(
            name="images_decode",
            description="Every image of a question is in the image store and decodes.",
            run=partial(_check_images, task, condition),
            blocking=True,
        ),
        *(_main_table_checks(task) if key == questions_key(task, "main") else []),
        expectation_check(key),
        *further,
    ]
    resources = ["settings", "tables", "image_store"]
    return joint_checks(checks, key, {"questions": (key, Question)}, resources=resources)


def _main_table_checks(task: Task) -> list[TableCheck]:
    counts = TableCheck(
        name="counts_match_the_paper",
        description="The published edition has the paper's number of questions in each category.",
        run=partial(_check_counts, task),
        blocking=True,
    )
    if not task.decided_in:
        return [counts]
    decisions = TableCheck(
        name="people_have_decided",
        description="No annotation unit is open or expired. Blocks while units are open and "
        "`publish` in bench.toml is complete, and if too few units were decided by the deadline.",
        run=partial(_check_decisions, task),
        blocking=True,
    )
    return [counts, decisions]


def _check_decisions(
    task: Task, questions: Sequence[Question], tables: TableFiles, settings: Settings
) -> dg.AssetCheckResult:
    undecided = undecided_by_task(task, tables, settings, questions)
    return check_annotation(undecided, count_units(task, tables), settings)


def check_annotation(
    undecided: Mapping[str, UndecidedUnits], n_units: Mapping[str, int], settings: Settings
) -> dg.AssetCheckResult:
    """Warn of undecided units; block if bench.toml waits for them, or too few were decided.

    ``undecided`` and ``n_units`` are by annotation task.
    """
    tasks = [(name, task) for name, task in settings.annotation.tasks.items() if name in undecided]
    is_waiting = any(task.publish == "complete" and undecided[name].open for name, task in tasks)
    shortages = [
        f"{name}: {shortage}"
        for name, task in tasks
        if (shortage := undecided[name].shortage(n_units.get(name, 0), task.terms))
    ]
    undecided_units = [
        f"{state} in {name}: {unit}: {reason}"
        for name, units in undecided.items()
        for state, reasons in (("open", units.open), ("expired", units.expired))
        for unit, reason in reasons.items()
    ]
    blocks = is_waiting or bool(shortages)
    return check_result(
        [*shortages, *undecided_units],
        n=len(undecided_units),
        noun="undecided unit",
        holds="Every annotation unit is decided.",
        severity=dg.AssetCheckSeverity.ERROR if blocks else dg.AssetCheckSeverity.WARN,
    )


def _check_well_formed(
    task: Task, condition: str, questions: Sequence[Question]
) -> dg.AssetCheckResult:
    may_be_empty = condition != "main"
    problems = [] if questions or may_be_empty else ["there are no questions"]
    n = len(questions)
    holds = f"{format_count(n, 'question')}: ids are unique, each has a text and a possible answer."
    result = check_result(
        problems + question_problems(questions),
        n=n,
        noun="question",
        holds=holds if questions else "There are no questions, which is allowed for an ablation.",
    )
    defective = (question.question_id for question in questions if _question_defects(question))
    return link_questions(result, task, condition, questions=defective)


def _check_images(
    task: Task, condition: str, questions: Sequence[Question], image_store: ImageStore
) -> dg.AssetCheckResult:
    images = dict.fromkeys(image for question in questions for image in question.images)
    defects: dict[str, str] = {}
    for image in images:
        if defect := _image_defect(image_store, image):
            defects[image] = defect
    n = len(images)
    holds = f"{format_count(n, 'image')}: all are in the store and decode."
    result = check_result(list(defects.values()), n=n, noun="image", holds=holds)
    affected = (
        question.question_id
        for question in questions
        if not defects.keys().isdisjoint(question.images)
    )
    return link_questions(result, task, condition, questions=affected)


def _image_defect(image_store: ImageStore, image: str) -> str:
    """Why an image cannot be used; "" if it decodes."""
    try:
        image_store.open(image)
    except ImageError as error:
        hint = "" if is_digest(image) else " (expected a digest: the sha256 of a StoredImage)"
        return f"{error}{hint}"
    return ""


def _check_counts(task: Task, questions: Sequence[Question]) -> dg.AssetCheckResult:
    counts = Counter(question.category for question in questions)
    counts["all"] = len(questions)
    editions = {question.edition for question in questions}
    problems = [
        f"{category}: {counts[category]} questions, the paper has {n}"
        for category, n in task.counts.items()
        if editions == {"published"} and counts[category] != n
    ]
    result = check_result(
        problems,
        n=len(questions),
        noun="question",
        holds=_count_message(task, editions, len(questions)),
        about={"editions": sorted(editions)},
    )
    return link_questions(result, task)


def _count_message(task: Task, editions: Set[str], n: int) -> str:
    """Message if no count differs from the paper's."""
    if not task.counts:
        return "Not compared: the task declares no counts of a paper."
    if editions != {"published"}:
        edition = " and ".join(sorted(editions)) or "missing"
        return f"Not compared: the paper counts the published edition, and this is {edition}."
    return f"{format_count(n, 'question')}, in agreement with all counts of the paper."
