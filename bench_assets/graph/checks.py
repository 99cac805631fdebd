"""What must hold between the tables; blocking where a wrong table must not flow on."""

from collections import Counter
from collections.abc import Sequence
from string import ascii_uppercase

import dagster as dg

from bench_assets.check_results import check_result
from bench_assets.core.errors import ImageError
from bench_assets.core.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.evaluation import evaluation_key, questions_key
from bench_assets.graph.expectations import validate_questions
from bench_assets.partitions import ANSWERING
from bench_assets.task import Task
from resources.pictures.images import ImageStore

MAX_UNSCORED_SHARE = 0.02
"""Above this share of rows without points a score table is called doubtful."""


def task_checks(task: Task) -> list[dg.AssetChecksDefinition]:
    """Build every check of a task's tables, under all of its conditions."""
    tables = {tuple(questions_key(task, condition)): condition for condition in task.conditions}
    return [
        check
        for key, condition in tables.items()
        for check in [
            # An ablation may have nothing to ask: no captions, say.
            _well_formed(list(key), may_be_empty=condition != "main"),
            _images_decode(list(key)),
            _expectations(list(key)),
        ]
    ] + [
        _counts(task),
        *(check for condition in task.conditions for check in _evaluation(task, condition)),
    ]


def question_problems(questions: Sequence[Question]) -> list[str]:
    """Find what would make a question table unusable: each problem names its question."""
    times = Counter(question.question_id for question in questions)
    problems = [f"{name}: {n} questions with this id" for name, n in times.items() if n > 1]
    for question in questions:
        problems += [f"{question.question_id}: {why}" for why in _defects(question)]
    return problems


def missing_rows(
    questions: Sequence[Question], rows: Sequence[Prediction | Score], samples: int
) -> list[str]:
    """Find questions with more or fewer rows than were asked for, and rows of no question."""
    times = Counter(row.question_id for row in rows)
    asked = {question.question_id for question in questions}
    wrong = [
        f"{name}: {times[name]} rows instead of {samples}"
        for name in sorted(asked)
        if times[name] != samples
    ]
    return wrong + [f"{name}: no such question" for name in sorted(times.keys() - asked)]


def _defects(question: Question) -> list[str]:
    found = []
    if not question.text.strip():
        found.append("no text")
    if not question.answer or not all(answer.strip() for answer in question.answer):
        found.append("no answer")
    if question.kind in ("choice", "choices"):
        letters = set(ascii_uppercase[: len(question.options)])
        if not set(question.answer) <= letters:
            found.append(f"answer {question.answer} is not among {sorted(letters)}")
        if len(set(question.options)) < len(question.options):
            found.append(f"equal options {question.options}")
    return found


def _well_formed(key: list[str], *, may_be_empty: bool) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=key,
        blocking=True,
        description="Ids are unique; every question has a text and an answer that it can have.",
    )
    def well_formed(questions: list[Question]) -> dg.AssetCheckResult:
        problems = [] if questions or may_be_empty else ["there are no questions"]
        return check_result(problems + question_problems(questions), n=len(questions))

    return well_formed


def _images_decode(key: list[str]) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=key,
        blocking=True,
        description="Every picture of a question is in the image store and decodes.",
    )
    def images_decode(images: ImageStore, questions: list[Question]) -> dg.AssetCheckResult:
        digests = dict.fromkeys(image for question in questions for image in question.images)
        problems = []
        for image in digests:
            try:
                images.open(image)
            except ImageError as why:
                problems.append(str(why))
        return check_result(problems, n=len(digests))

    return images_decode


def _counts(task: Task) -> dg.AssetChecksDefinition:
    key = questions_key(task, "main")

    @dg.asset_check(
        asset=key,
        blocking=True,
        description="The published edition has the paper's number of questions in each category.",
    )
    def counts_match_the_paper(questions: list[Question]) -> dg.AssetCheckResult:
        found = Counter(question.category for question in questions)
        found["all"] = len(questions)
        editions = {question.edition for question in questions}
        problems = [
            f"{category}: {found[category]} questions, the paper has {n}"
            for category, n in task.counts.items()
            if editions == {"published"} and found[category] != n
        ]
        return check_result(problems, n=len(questions), about={"editions": sorted(editions)})

    return counts_match_the_paper


def _expectations(key: list[str]) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=key,
        description="A Great Expectations suite over the question table.",
    )
    def great_expectations(questions: list[Question]) -> dg.AssetCheckResult:
        passed, table = validate_questions(questions)
        return dg.AssetCheckResult(
            passed=passed,
            severity=dg.AssetCheckSeverity.WARN,
            metadata={"expectations": dg.MetadataValue.md(table)},
        )

    return great_expectations


def _evaluation(task: Task, condition: str) -> list[dg.AssetChecksDefinition]:
    return [
        _every_question_answered(task, condition),
        *([_every_reply_judged(task, condition)] if task.is_judged else []),
        _no_row_lost(task, condition),
        _few_unscored(task, condition),
        _whole(task, condition),
    ]


def _every_question_answered(task: Task, condition: str) -> dg.AssetChecksDefinition:
    samples = task.conditions[condition].samples

    @dg.asset_check(
        asset=evaluation_key(task, condition, "predictions"),
        blocking=True,
        partitions_def=ANSWERING[task.asked_of],
        additional_ins={"questions": dg.AssetIn(questions_key(task, condition))},
        description=(
            "Every question has its replies. A failed connection is no wrong answer: while there "
            "are any, nothing is scored; materialize again to ask just those."
        ),
    )
    def every_question_answered(
        questions: list[Question], predictions: list[Prediction]
    ) -> dg.AssetCheckResult:
        problems = missing_rows(questions, predictions, samples)
        problems += [f"{row.question_id}: {row.error}" for row in predictions if row.error]
        return check_result(problems, n=len(predictions))

    return every_question_answered


def _every_reply_judged(task: Task, condition: str) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=evaluation_key(task, condition, "judgements"),
        blocking=True,
        partitions_def=ANSWERING[task.asked_of],
        description="The judge could be asked about every reply.",
    )
    def every_reply_judged(judgements: list[Judgement]) -> dg.AssetCheckResult:
        problems = [f"{row.question_id}: {row.error}" for row in judgements if row.error]
        return check_result(problems, n=len(judgements))

    return every_reply_judged


def _no_row_lost(task: Task, condition: str) -> dg.AssetChecksDefinition:
    samples = task.conditions[condition].samples

    @dg.asset_check(
        asset=evaluation_key(task, condition, "scores"),
        blocking=True,
        partitions_def=ANSWERING[task.asked_of],
        additional_ins={"questions": dg.AssetIn(questions_key(task, condition))},
        description="Every question has its scores: no row was lost between the tables.",
    )
    def no_row_lost(questions: list[Question], scores: list[Score]) -> dg.AssetCheckResult:
        return check_result(missing_rows(questions, scores, samples), n=len(scores))

    return no_row_lost


def _few_unscored(task: Task, condition: str) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=evaluation_key(task, condition, "scores"),
        partitions_def=ANSWERING[task.asked_of],
        description=f"At most {MAX_UNSCORED_SHARE:.0%} of the rows have no points.",
    )
    def few_unscored(scores: list[Score]) -> dg.AssetCheckResult:
        unscored = [f"{row.question_id}: {row.note}" for row in scores if row.points is None]
        result = check_result(unscored, n=len(scores), severity=dg.AssetCheckSeverity.WARN)
        return result._replace(passed=len(unscored) <= MAX_UNSCORED_SHARE * len(scores))

    return few_unscored


def _whole(task: Task, condition: str) -> dg.AssetChecksDefinition:
    key = evaluation_key(task, condition, "metrics")

    @dg.asset_check(
        asset=key,
        partitions_def=ANSWERING[task.asked_of],
        description="The metrics are those of the whole question table.",
    )
    def whole(metrics: list[Metric]) -> dg.AssetCheckResult:
        partial = [
            f"{row.metric}, {row.category}: {row.n_failed} questions without a reply"
            for row in metrics
            if row.n_failed
        ]
        return check_result(partial, n=len(metrics))

    return whole
