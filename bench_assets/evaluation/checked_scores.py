"""A judge's scores checked by people: the draw of responses, and the metric's units with labels.

A label belongs to a response, and stays when the judge changes. Its unit is labelled if people
judged the responses of all its questions.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import NamedTuple

from bench_assets.annotation.responses.draws import MIN_OF_STRATUM, draw_order, merge_draws
from bench_assets.annotation.responses.units import judgeable_predictions, response_name
from bench_assets.annotation.responses.verdicts import verdict_unit
from bench_assets.annotation.tasks import unit_id
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.measured_figures import DrawnUnit
from bench_assets.core.schema.provenance import text_digest
from bench_assets.core.schema.rows import Prediction, Question, Score
from bench_assets.core.stats.clusters import cluster_questions
from bench_assets.core.stats.corrected_means import (
    CheckedUnit,
    CorrectedMean,
    corrected_mean,
    is_right,
    labels_to_halve,
    shortage,
)
from bench_assets.core.stats.rater_agreement import Kappa, cohen_kappa
from bench_assets.evaluation.task import ScoredQuestion, Task
from bench_assets.evaluation.units import ComparisonUnit, ScoredMetric, units_of_sides

_MAX_STRATA = 20  # of a draw; the smaller ones are one
_MAX_CHANGED = 0.1  # share of drawn units with changed responses, above which none count

CHECKED, NOT_CHECKED = "checked by people", "not checked by people"

MAX_BIAS = 0.02
"""Bias of a judge that a check tolerates, as a share of the points."""

Verdicts = Mapping[tuple[str, str], bool]
"""People's majority verdicts by question and response name."""


class JudgedModel(NamedTuple):
    """A model's responses under the condition main, and their scores by the judge."""

    predictions: Sequence[Prediction]
    scores: Sequence[Score]


class CheckedScores(NamedTuple):
    """Units of the primary metric of one model, and the labelled responses."""

    units: list[CheckedUnit]
    responses: list[tuple[bool, bool]]  # people's and the judge's verdict on a labelled response
    problem: str = ""  # why its labels do not count


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleCheck:
    """A judge's number of one model as people's verdicts leave it."""

    corrected: CorrectedMean | None  # None: too few labels
    problem: str = ""  # why it is not corrected
    agreement: Kappa | None = None  # with people, on the labelled responses; None: none

    @property
    def is_biased(self) -> bool:
        """Whether the interval of the judge's bias lies beyond two points."""
        found = self.corrected
        return found is not None and (found.bias_low > MAX_BIAS or found.bias_high < -MAX_BIAS)

    @property
    def bias(self) -> str:
        """The judge's bias as text; "" if unknown."""
        if not (found := self.corrected):
            return ""
        return f"bias {found.bias:+.2f} ({found.bias_low:+.2f} to {found.bias_high:+.2f})"

    @property
    def sentence(self) -> str:
        """Labels, the judge's own number and its bias."""
        if not (found := self.corrected):
            return f"{NOT_CHECKED}: {self.problem}" if self.problem else NOT_CHECKED
        checked = f"{CHECKED}: {found.n_checked:,} of {found.n_units:,}"
        return f"{checked}; without them {found.judge:.3f}, {self.bias}"

    @property
    def details(self) -> str:
        """How many labels halve the interval, and how far the judge agrees with people."""
        if not self.corrected:
            return ""
        n = labels_to_halve(self.corrected)
        plan = f"{n:,} labels" if n else "more questions, not labels,"
        return f"{plan} halve the interval; {self.agreement}"


def check_by_people(scores: CheckedScores) -> PeopleCheck:
    """Correct the judge's mean, or state why people's verdicts do not suffice."""
    agreement = cohen_kappa(scores.responses)
    if problem := scores.problem or shortage(scores.units):
        return PeopleCheck(corrected=None, problem=problem, agreement=agreement)
    return PeopleCheck(corrected=corrected_mean(scores.units), agreement=agreement)


def draw_units(
    task: Task, questions: Sequence[Question], models: Mapping[str, JudgedModel], n: int, at: str
) -> list[DrawnUnit]:
    """Draw units of the primary metric, whose responses by all these models people judge.

    Raises:
        SettingsError: If the metric has no units, or ``n`` is too small for the strata.
    """
    units = {model: _units(task, questions, judged, {})[0] for model, judged in models.items()}
    verdicts: dict[str, list[str]] = defaultdict(lambda: ["unscored"] * len(models))
    of_unit: dict[str, ComparisonUnit] = {}
    for number, of_model in enumerate(units.values()):
        for name, unit in of_model.items():
            verdicts[name][number] = "yes" if is_right(unit.value / unit.weight) else "no"
            of_unit[name] = unit
    if not of_unit:
        raise SettingsError(
            f"{task.name}: {task.primary_metric} has no units that people could judge"
        )
    strata: dict[str, list[str]] = defaultdict(list)
    sizes = Counter(" ".join(words) for words in verdicts.values())
    kept = {stratum for stratum, _ in sizes.most_common(_MAX_STRATA)}
    for name, words in verdicts.items():
        stratum = " ".join(words)
        strata[stratum if stratum in kept else "other"].append(name)
    least = sum(min(MIN_OF_STRATUM, len(names)) for names in strata.values())
    if n < least:
        raise SettingsError(
            f"{task.name}: {n} units cannot have {MIN_OF_STRATUM} of each of {len(strata)} verdicts"
            f" of the judge on {len(models)} models. Draw at least {least}, or name fewer models"
        )
    drawn = draw_order(strata)[:n]
    stratum_of = {name: stratum for stratum, names in strata.items() for name in names}
    counts = Counter(stratum_of[name] for name in drawn)
    digests = {model: _digests(task, questions, judged) for model, judged in models.items()}
    judges = {m: "+".join(sorted({s.judge for s in models[m].scores} - {""})) for m in models}
    return [
        DrawnUnit(
            task=task.name,
            model=model,
            unit=name,
            questions=unit_id(*of_unit[name].questions),
            judge=judges[model],
            stratum=(stratum := stratum_of[name]),
            probability=counts[stratum] / len(strata[stratum]),
            digest=_join(digests[model], of_unit[name].questions),
            at=at,
        )
        for name in drawn
        for model in models
    ]


def checked_scores(
    task: Task,
    questions: Sequence[Question],
    model: JudgedModel,
    verdicts: Verdicts,
    drawn: Iterable[DrawnUnit],
) -> CheckedScores:
    """Join a model's units of the primary metric with people's verdicts on the drawn ones.

    Within a stratum of a draw, the units that people judged stand for all. If more than a tenth of
    the drawn responses changed and were not judged again, the others are no sample of all.

    Args:
        task: The task.
        questions: All questions.
        model: Its responses and scores.
        verdicts: People's verdicts on responses.
        drawn: The units drawn for this model.
    """
    texts = {row.question_id: row.text for row in judgeable_predictions(model.predictions)}
    known = {
        name: verdicts[key]
        for name, text in texts.items()
        if (key := (name, response_name(text))) in verdicts
    } | {score.question_id: False for score in model.scores if score.no_answer}
    judged, checked = _units(task, questions, model, known)
    draws = {unit.unit: unit for unit in merge_draws(drawn).values() if unit.unit in judged}
    labelled = {
        name for name in draws if all(question in known for question in judged[name].questions)
    }
    digests = _digests(task, questions, model)
    changed = sum(
        name not in labelled and unit.digest != _join(digests, judged[name].questions)
        for name, unit in draws.items()
    )
    problem = (
        f"{changed} of {len(draws)} drawn responses changed since, and wait for people"
        if changed > _MAX_CHANGED * len(draws)
        else ""
    )
    probabilities = _label_probabilities(draws, labelled)
    units = [
        CheckedUnit(
            judge=unit.value / unit.weight,
            people=checked[name].value / unit.weight if name in labelled else None,
            probability=probabilities.get(name, 1.0),
            cluster=unit.cluster,
            weight=unit.weight,
        )
        for name, unit in judged.items()
    ]
    points = {score.question_id: score for score in model.scores if not score.sample}
    responses = [
        (known[question], is_right(score.points / score.max_points))
        for name in sorted(labelled)
        for question in judged[name].questions
        for score in [points[question]]
        if question in texts and score.points is not None and score.max_points
    ]
    return CheckedScores(units, responses, problem)


def _label_probabilities(
    draws: Mapping[str, DrawnUnit], labelled: Collection[str]
) -> dict[str, float]:
    """Probability of each unit to be drawn and labelled: within a stratum, all alike."""
    n_drawn = Counter((unit.at, unit.stratum) for unit in draws.values())
    n_labelled = Counter((draws[name].at, draws[name].stratum) for name in labelled)
    return {
        name: draws[name].probability * n_labelled[key] / n_drawn[key]
        for name in labelled
        for key in [(draws[name].at, draws[name].stratum)]
    }


def _units(
    task: Task, questions: Sequence[Question], model: JudgedModel, known: Mapping[str, bool]
) -> tuple[dict[str, ComparisonUnit], dict[str, ComparisonUnit]]:
    """Units with weight by name, by the judge and with people's verdicts in place of the known.

    Empty if the metric is not a mean over questions, pairs or clusters.
    """
    measure, by_id = task.measures[task.primary_metric], {q.question_id: q for q in questions}
    judged = [ScoredQuestion(by_id[s.question_id], s) for s in model.scores
              if s.question_id in by_id]  # fmt: skip
    checked = [
        row._replace(score=replace(row.score, points=row.score.max_points * verdict))
        if (verdict := known.get(row.score.question_id)) is not None
        and row.score.points is not None
        and not row.score.sample
        else row
        for row in judged
    ]
    sides = [ScoredMetric(rows, measure(rows).value) for rows in (judged, checked)]
    adds = task.adds.get(task.primary_metric)
    if adds or any(isnan(side.value) for side in sides):
        return {}, {}
    kind, (old, new) = units_of_sides(measure, sides, cluster_questions(questions))
    if kind == "groups":
        return {}, {}
    named = [{name: unit for (_, name), unit in side.items() if unit.weight} for side in (old, new)]
    return named[0], named[1]


def _digests(task: Task, questions: Sequence[Question], model: JudgedModel) -> dict[str, str]:
    """Digest of each question with its key and the model's response, as people see them."""
    by_id, annotation_task = {q.question_id: q for q in questions}, task.response_tasks[0].task
    return {
        row.question_id: verdict_unit(annotation_task, by_id[row.question_id], row.text).digest
        for row in judgeable_predictions(model.predictions)
        if row.question_id in by_id
    }


def _join(digests: Mapping[str, str], questions: Iterable[str]) -> str:
    return text_digest(" ".join(digests.get(name, "") for name in questions))
