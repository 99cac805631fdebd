"""Agreement of judges with people, with a second judge, and with constructed trials.

People saw a sample of responses, without the model and the judge's verdict. Their verdicts come
from annotation tables, or from a file (``bench audit judge --labels``).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import isnan
from pathlib import Path
from typing import NamedTuple

from bench_assets.annotation.responses.units import group_by_response
from bench_assets.annotation.responses.verdicts import PEOPLE, ResponseVerdict, majority_verdicts
from bench_assets.audit.framework import evidence as names
from bench_assets.audit.framework.evidence import Evidence, JudgeFigure, JudgeVerdict
from bench_assets.audit.framework.findings import sample_questions
from bench_assets.audit.judges.judge_trials import JudgeTrial, Kind, judge_share
from bench_assets.audit.judges.prompt_injections import strip_injections
from bench_assets.core.judging.verdict_requests import final_judgements
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.core.stats.paired_tests import PairedScores, change_interval, mean_change
from bench_assets.core.stats.rater_agreement import Kappa, cohen_kappa, confusion_matrix
from bench_assets.core.tables.json_records import read_lines, records
from bench_assets.evaluation.runner import RuleVerdicts
from bench_assets.evaluation.task import RULES, ByRules, Task


class JudgeRun(NamedTuple):
    """Judge, task and time that all figures of one trial share."""

    task: str
    judge: str
    setup: str
    prompts: str
    at: str


ShareByResponse = Mapping[
    tuple[str, bool], float
]  # share of points for each response, by ``Trial.base``


def figures_of_trials(tried: Sequence[JudgeTrial], who: JudgeRun) -> list[JudgeFigure]:
    """Compute the figures of a judge from trials, without undefined ones."""
    plain, long = _shares_by_kind(tried, "plain"), _shares_by_kind(tried, "long")
    found = [
        _figure(who, names.RECALL, _mean_of(plain, right=True)),
        _figure(who, names.FALSE_ALARMS, _mean_of(plain, right=False)),
        _kappa(who, names.KAPPA_CONSTRUCTED, _pairs(plain)),
        _length_figure(who, plain, long),
        _reorder_figure(who, tried, plain),
        _injection_figure(who, tried, plain, long),
        _unreadable(who, tried),
    ]
    return [one for one in found if one and not isnan(one.value)]


def second_judge_figures(
    first: Sequence[JudgeTrial], second: Sequence[JudgeTrial], who: JudgeRun, other: str
) -> list[JudgeFigure]:
    """Compare two judges on the same trials: Cohen's kappa and the differing questions."""
    second_by_key = {
        one.trial.prediction.model + one.trial.question.question_id: one for one in second
    }
    pairs = [
        (one, second_by_key[key])
        for one in first
        for key in [one.trial.prediction.model + one.trial.question.question_id]
        if one.said is not None and key in second_by_key and second_by_key[key].said is not None
    ]
    differing = sorted(
        {a.trial.base[0] for a, b in pairs if _is_called_right(a) != _is_called_right(b)}
    )
    kappa = cohen_kappa([(_is_called_right(a), _is_called_right(b)) for a, b in pairs])
    found = _to_kappa_figure(
        who, names.KAPPA_SECOND_JUDGE, kappa, f"{other}: {' '.join(differing)}".strip()
    )
    return [] if isnan(kappa.value) else [found]


def figures_of_labels(pairs: Sequence[tuple[bool, bool]], who: JudgeRun) -> list[JudgeFigure]:
    """Compare a judge with people.

    Args:
        pairs: Verdicts of people and of the judge on each response judged by both.
        who: The judge.
    """
    table = confusion_matrix(pairs)
    found = [
        _kappa(who, names.PEOPLE, pairs, str(table)),
        _figure(who, names.PRECISION, table.precision),
        _figure(who, names.RECALL_PEOPLE, table.recall),
    ]
    return [one for one in found if one and not isnan(one.value)]


def _shares_by_kind(tried: Iterable[JudgeTrial], kind: Kind) -> ShareByResponse:
    return {
        one.trial.base: one.said
        for one in tried
        if one.trial.kind == kind and one.said is not None and one.prompts
    }


def _is_called_right(one: JudgeTrial) -> bool:
    return (one.said or 0.0) > 0.5


def _pairs(shares: ShareByResponse) -> Iterator[tuple[bool, bool]]:
    for (_, right), share in shares.items():
        yield right, share > 0.5


def _mean_of(shares: ShareByResponse, *, right: bool) -> Mean:
    return mean(ScoredPoint(share) for (_, is_right), share in shares.items() if is_right == right)


def _length_figure(
    who: JudgeRun, plain: ShareByResponse, long: ShareByResponse
) -> JudgeFigure | None:
    both = [
        PairedScores(plain[base], share, base[0]) for base, share in long.items() if base in plain
    ]
    if not both:
        return None
    low, high = change_interval(both)
    clusters = [pair.cluster for pair in both if pair.after > pair.before]
    gained = Mean(mean_change(both), max(low, -1.0), min(high, 1.0), len(both), 0)
    return _figure(who, names.LENGTH_EFFECT, gained, clusters)


def _reorder_figure(
    who: JudgeRun, tried: Sequence[JudgeTrial], plain: ShareByResponse
) -> JudgeFigure | None:
    """Responses whose verdict changes with the order of options, if the judge sees options."""
    plain_prompts = {one.trial.base: one.prompts for one in tried if one.trial.kind == "plain"}
    both = {
        one.trial.base: one.said != plain[one.trial.base]
        for one in tried
        if one.trial.kind == "reordered" and one.trial.base in plain and one.said is not None
        if one.prompts and one.prompts != plain_prompts[one.trial.base]
    }
    changed = mean(ScoredPoint(float(has), base[0]) for base, has in both.items())
    return _figure(
        who, names.REORDER_CHANGES, changed, [base[0] for base, has in both.items() if has]
    )


def _injection_figure(
    who: JudgeRun, tried: Sequence[JudgeTrial], plain: ShareByResponse, long: ShareByResponse
) -> JudgeFigure | None:
    """Injections into responses that are judged wrong without them, except those decided by rules.

    Responses judged right without the injection, or with neutral padding, are left out.
    """
    outcomes = [
        (one, one.said > max(before, long.get(one.trial.base, 0.0)))
        for one in tried
        if one.trial.kind == "injected" and one.said is not None and one.prompts
        for before in [plain.get(one.trial.base)]
        if before is not None and max(before, long.get(one.trial.base, 0.0)) < 1
    ]
    flipped = mean(ScoredPoint(float(has), one.trial.base[0]) for one, has in outcomes)
    return _figure(
        who,
        names.INJECTIONS_FOLLOWED,
        flipped,
        [one.trial.injection for one, has in outcomes if has],
    )


def _unreadable(who: JudgeRun, tried: Sequence[JudgeTrial]) -> JudgeFigure | None:
    prompted = [one for one in tried if one.prompts]
    return _figure(
        who, "unreadable", mean(ScoredPoint(float(one.said is None)) for one in prompted)
    )


def _kappa(
    who: JudgeRun, figure: str, pairs: Iterable[tuple[bool, bool]], about: str = ""
) -> JudgeFigure | None:
    kappa = cohen_kappa(pairs)
    return None if isnan(kappa.value) else _to_kappa_figure(who, figure, kappa, about)


def _to_kappa_figure(who: JudgeRun, figure: str, kappa: Kappa, about: str = "") -> JudgeFigure:
    mean_like = Mean(kappa.value, kappa.low, kappa.high, kappa.n, 0)
    return _figure(who, figure, mean_like, [about] if about else [])


def _figure(who: JudgeRun, figure: str, found: Mean, about: Sequence[str] = ()) -> JudgeFigure:
    return JudgeFigure(
        **who._asdict(),
        figure=figure,
        value=found.value,
        low=found.low,
        high=found.high,
        n=found.n_scored,
        about=" ".join(about),
    )


_RIGHT_THRESHOLD = 0.5  # share of points above which a response counts as called right


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanLabel:
    """A person's verdict on a model's response to a question."""

    question_id: str
    correct: bool
    model: str = ""  # "": any model
    annotator: str = ""


def read_labels(file: Path) -> list[HumanLabel]:
    """Read people's verdicts from JSON lines; further fields are ignored.

    Raises:
        SourceError: If the file cannot be read, or a line is invalid, or a duplicate by annotator,
            model and question; names file and line.
    """
    return records(read_lines(file), HumanLabel, unique=("question_id", "model", "annotator"))


def pair_with_labels(
    task: Task,
    questions: Mapping[str, Question],
    predictions: Sequence[Prediction],
    judgements: Iterable[Judgement],
    labels: Iterable[HumanLabel],
) -> list[tuple[bool, bool]]:
    """Pair people's majority verdicts on one model's responses with the judge's.

    Ties, questions that were removed since, and responses without a readable verdict of the judge
    are left out.

    Returns:
        Verdicts of people and of the judge on each response.
    """
    votes: dict[str, Counter[bool]] = defaultdict(Counter)
    for label in labels:
        votes[label.question_id][label.correct] += 1
    by_response: dict[tuple[str, int], list[Judgement]] = defaultdict(list)
    for row in final_judgements(list(judgements)):
        if not row.criterion.endswith("thoughts included"):
            by_response[row.question_id, row.sample].append(row)
    pairs = []
    for prediction in predictions:
        vote_counts, rows = (
            votes[prediction.question_id],
            by_response[prediction.question_id, prediction.sample],
        )
        question = questions.get(prediction.question_id)
        if (
            question is None
            or prediction.error
            or not rows
            or vote_counts[True] == vote_counts[False]
        ):
            continue
        share = judge_share(task, question, prediction, rows)
        if share is not None:
            pairs.append((vote_counts[True] > vote_counts[False], share > _RIGHT_THRESHOLD))
    return pairs


class PeopleVerdicts(NamedTuple):
    """A model's responses with the judges' verdicts."""

    predictions: Sequence[Prediction]
    judgements: Sequence[Judgement]


def majority_labels(
    verdicts: Iterable[ResponseVerdict], predictions: Iterable[Prediction]
) -> list[HumanLabel]:
    """Majority labels of each response, for every model with the same text.

    Responses with a tie, or judged undecidable by most, have no label.
    """
    truth = majority_verdicts(verdicts)
    return [
        HumanLabel(
            question_id=row.question_id, correct=truth[key], model=row.model, annotator=PEOPLE
        )
        for key, rows in group_by_response(predictions).items()
        if key in truth
        for row in rows
    ]


def figures_of_people(
    task: Task,
    questions: Mapping[str, Question],
    responses: Sequence[PeopleVerdicts],
    verdicts: Sequence[ResponseVerdict],
    at: str,
) -> list[JudgeFigure]:
    """Measure each judge of a task against people's verdicts.

    Args:
        task: The task.
        questions: Questions by id.
        responses: Responses of each model.
        verdicts: Verdicts of people.
        at: Time of the last verdict.
    """
    pairs: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    rows: dict[str, list[Judgement]] = defaultdict(list)
    for predictions, judged in responses:
        labels = majority_labels(verdicts, predictions)
        for judge in dict.fromkeys(row.judge for row in judged if row.judge != PEOPLE):
            own = [row for row in judged if row.judge == judge]
            rows[judge] += own
            pairs[judge] += pair_with_labels(task, questions, predictions, own, labels)
    return [
        figure
        for judge, judge_pairs in pairs.items()
        if judge_pairs
        for figure in figures_of_labels(judge_pairs, _judge_run(task, judge, rows[judge], at))
    ]


def _judge_run(task: Task, judge: str, rows: Sequence[Judgement], at: str) -> JudgeRun:
    digests = sorted({row.prompt_sha256 for row in rows} - {""})
    return JudgeRun(
        task=task.name,
        judge=judge,
        setup="+".join(sorted({row.setup for row in rows})),
        prompts=short_digest(sha256("\n".join(digests).encode()).hexdigest()),
        at=at,
    )


def collect_verdicts(evidence: Evidence) -> list[JudgeVerdict]:
    """Collect the readable verdicts of model judges on all evaluated models' responses.

    If there are many responses, on a sample of the questions.
    """
    if not evidence.task.is_judged:
        return []
    models = evidence.results().models
    sample = sample_questions(evidence.questions, len(models))
    return [one for model in models for one in _verdicts_on(evidence, sample, model)]


def _verdicts_on(
    evidence: Evidence, questions: Sequence[Question], model: str
) -> Iterator[JudgeVerdict]:
    ids = {question.question_id for question in questions}
    rows = [
        row
        for row in final_judgements(evidence.judgements(model, of=ids))
        if not row.by_rules and row.verdict is not None
    ]
    if not rows:
        return
    predictions = evidence.predictions(model, of=ids)
    rules = _rule_verdicts(evidence.task, questions, predictions)
    texts = {(row.question_id, row.sample): row.text for row in predictions}
    for row in rows:
        key = row.question_id, row.sample
        if key in texts:
            yield JudgeVerdict(model, row, texts[key], rules.get((*key, row.criterion)))


def _rule_verdicts(
    task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
) -> dict[tuple[str, int, str], bool | None]:
    if not isinstance(task.judges.get(RULES), ByRules):
        return {}
    # Rules must not read an answer out of an injection.
    plain = [replace(row, text=strip_injections(row.text)) for row in predictions]
    rows = RuleVerdicts().judgements(task, questions, plain)
    return {(row.question_id, row.sample, row.criterion): row.verdict for row in rows}
