"""A judge's scores checked by people: the draw of responses, and the metric's units with labels.

A label belongs to a response, and stays when the judge changes. Its unit is labelled if people
judged the responses of all its questions.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
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
from bench_assets.evaluation.units import ComparisonUnit, ScoredMetric, Units, units_of_sides

_MAX_STRATA = 20  # strata of a draw; the smaller ones are combined
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
    agreement: Kappa  # with people, on the labelled responses

    @property
    def is_biased(self) -> bool:
        """Whether the interval of the judge's bias lies beyond two points."""
        mean = self.corrected
        return mean is not None and (mean.bias_low > MAX_BIAS or mean.bias_high < -MAX_BIAS)

    @property
    def bias(self) -> str:
        """The judge's bias as text; "" if unknown."""
        mean = self.corrected
        if mean is None:
            return ""
        return f"bias {mean.bias:+.2f} ({mean.bias_low:+.2f} to {mean.bias_high:+.2f})"

    @property
    def sentence(self) -> str:
        """Labels, the judge's own number and its bias."""
        mean = self.corrected
        if mean is None:
            return f"{NOT_CHECKED}: {self.problem}" if self.problem else NOT_CHECKED
        checked = f"{CHECKED}: {mean.n_checked:,} of {mean.n_units:,}"
        return f"{checked}; without them {mean.judge:.3f}, {self.bias}"

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
    """Draw n units of the primary metric, or all; people judge all models' responses in them.

    Raises:
        SettingsError: If the metric has no units, or ``n`` is too small for the strata.
    """
    units_by_model = {
        model: _units(task, questions, judged_model, labels={})[0]  # by the judge's points
        for model, judged_model in models.items()
    }
    units = {name: unit for units in units_by_model.values() for name, unit in units.items()}
    if not units:
        raise SettingsError(
            f"{task.name}: {task.primary_metric} has no units that people could judge"
        )
    strata = _stratify(units, list(units_by_model.values()))
    min_units = sum(min(MIN_OF_STRATUM, len(names)) for names in strata.values())
    if n < min_units:
        raise SettingsError(
            f"{task.name}: too few units for {MIN_OF_STRATUM} of each verdict of the judge"
            f" (expected {min_units}, got {n}). Draw at least {min_units}, or name fewer models"
        )
    drawn = draw_order(strata)[:n]
    stratum_of = {name: stratum for stratum, names in strata.items() for name in names}
    n_drawn = Counter(stratum_of[name] for name in drawn)
    digests = {
        model: _digests(task, questions, judged_model) for model, judged_model in models.items()
    }
    judges = {
        model: "+".join(sorted({score.judge for score in judged_model.scores} - {""}))
        for model, judged_model in models.items()
    }
    probabilities = {stratum: n_drawn[stratum] / len(names) for stratum, names in strata.items()}
    return [
        DrawnUnit(
            task=task.name,
            model=model,
            unit=name,
            questions=unit_id(*units[name].questions),
            judge=judges[model],
            stratum=stratum_of[name],
            probability=probabilities[stratum_of[name]],
            digest=_join_digests(digests[model], units[name].questions),
            at=at,
        )
        for name in drawn
        for model in models
    ]


def _stratify(
    names: Iterable[str], units_by_model: Sequence[Mapping[str, ComparisonUnit]]
) -> dict[str, list[str]]:
    """Names of units by the judge's verdicts on each model, "yes no"; rare strata are "other"."""
    stratum_of: dict[str, str] = {}
    for name in names:
        verdicts = [_judge_verdict(units.get(name)) for units in units_by_model]
        stratum_of[name] = " ".join(verdicts)
    sizes = Counter(stratum_of.values())
    largest = {stratum for stratum, _ in sizes.most_common(_MAX_STRATA)}
    strata: dict[str, list[str]] = defaultdict(list)
    for name, stratum in stratum_of.items():
        strata[stratum if stratum in largest else "other"].append(name)
    return strata


def _judge_verdict(unit: ComparisonUnit | None) -> str:
    """The judge's verdict on a unit, as part of a stratum's name."""
    if unit is None:
        return "unscored"
    return "yes" if is_right(unit.value / unit.weight) else "no"


def checked_scores(
    task: Task,
    questions: Sequence[Question],
    model: JudgedModel,
    verdicts: Verdicts,
    drawn: Iterable[DrawnUnit],
) -> CheckedScores:
    """Join a model's units of the primary metric with people's verdicts on the drawn ones.

    Within a stratum of a draw, the units that people judged represent all units. If more than a
    tenth of the drawn units changed and were not judged again, the labels do not count. ``drawn``
    are units drawn for this model.
    """
    labels = _response_labels(model, verdicts)
    judge_units, people_units = _units(task, questions, model, labels)
    draws = {unit.unit: unit for unit in merge_draws(drawn).values() if unit.unit in judge_units}
    labelled = {name for name in draws if labels.keys() >= {*judge_units[name].questions}}
    digests = _digests(task, questions, model)
    n_changed = sum(
        name not in labelled and unit.digest != _join_digests(digests, judge_units[name].questions)
        for name, unit in draws.items()
    )
    problem = ""
    if n_changed > _MAX_CHANGED * len(draws):
        problem = f"{n_changed} of {len(draws)} drawn units changed since, and wait for people"
    probabilities = _label_probabilities(draws, labelled)
    units = [
        CheckedUnit(
            judge=unit.value / unit.weight,
            people=people_units[name].value / unit.weight if name in labelled else None,
            probability=probabilities.get(name, 1.0),
            cluster=unit.cluster,
            weight=unit.weight,
        )
        for name, unit in judge_units.items()
    ]
    questions_of_units = [judge_units[name].questions for name in sorted(labelled)]
    labelled_questions = list(chain.from_iterable(questions_of_units))
    return CheckedScores(
        units=units, responses=_compare_verdicts(model, labels, labelled_questions), problem=problem
    )


def _response_labels(model: JudgedModel, verdicts: Verdicts) -> dict[str, bool]:
    """Labels of first samples by question: people's verdicts; no answer is wrong."""
    labels: dict[str, bool] = {}
    for row in judgeable_predictions(model.predictions):
        key = (row.question_id, response_name(row.text))
        if key in verdicts:
            labels[row.question_id] = verdicts[key]
    for score in model.scores:
        if score.no_answer and not score.sample:
            labels[score.question_id] = False
    return labels


def _compare_verdicts(
    model: JudgedModel, labels: Mapping[str, bool], questions: Iterable[str]
) -> list[tuple[bool, bool]]:
    """People's and the judge's verdict on the responses to questions that both have judged."""
    judgeable = {row.question_id for row in judgeable_predictions(model.predictions)}
    scores = {score.question_id: score for score in model.scores if not score.sample}
    verdicts: list[tuple[bool, bool]] = []
    for question in questions:
        score = scores[question]
        if question in judgeable and score.points is not None and score.max_points:
            verdicts.append((labels[question], is_right(score.points / score.max_points)))
    return verdicts


def _label_probabilities(
    draws: Mapping[str, DrawnUnit], labelled: Collection[str]
) -> dict[str, float]:
    """Probability of each unit to be drawn and labelled, which is the same within a stratum."""
    n_drawn = Counter((unit.at, unit.stratum) for unit in draws.values())
    n_labelled = Counter((draws[name].at, draws[name].stratum) for name in labelled)
    probabilities: dict[str, float] = {}
    for name in labelled:
        unit = draws[name]
        stratum = (unit.at, unit.stratum)
        probabilities[name] = unit.probability * n_labelled[stratum] / n_drawn[stratum]
    return probabilities


def _units(
    task: Task, questions: Sequence[Question], model: JudgedModel, labels: Mapping[str, bool]
) -> tuple[dict[str, ComparisonUnit], dict[str, ComparisonUnit]]:
    """Units with a weight by name: by the judge's points, and with labels in place of them.

    Empty if the metric is not a mean over questions, pairs or clusters.
    """
    measure = task.measures[task.primary_metric]
    question_ids = {question.question_id for question in questions}
    scores = [score for score in model.scores if score.question_id in question_ids]
    judged = ScoredQuestion.of(questions, scores)
    checked = [row._replace(score=_apply_label(row.score, labels)) for row in judged]
    sides = [ScoredMetric(rows, measure(rows).value) for rows in (judged, checked)]
    adds = task.adds.get(task.primary_metric)
    if adds or any(isnan(side.value) for side in sides):
        return {}, {}
    kind, (old, new) = units_of_sides(measure, sides, cluster_questions(questions))
    if kind == "groups":
        return {}, {}
    return _weighted_by_name(old), _weighted_by_name(new)


def _apply_label(score: Score, labels: Mapping[str, bool]) -> Score:
    """Replace the points of a first sample by those of its label, if it has both."""
    is_right_by_label = labels.get(score.question_id)
    if is_right_by_label is None or score.points is None or score.sample:
        return score
    return replace(score, points=score.max_points * is_right_by_label)


def _weighted_by_name(units: Units) -> dict[str, ComparisonUnit]:
    return {name: unit for (_, name), unit in units.items() if unit.weight}


def _digests(task: Task, questions: Sequence[Question], model: JudgedModel) -> dict[str, str]:
    """Digest of each question with its key and the model's response, as people see them."""
    questions_by_id = {question.question_id: question for question in questions}
    annotation_task = task.response_tasks[0].task
    digests: dict[str, str] = {}
    for row in judgeable_predictions(model.predictions):
        if question := questions_by_id.get(row.question_id):
            digests[row.question_id] = verdict_unit(annotation_task, question, row.text).digest
    return digests


def _join_digests(digests: Mapping[str, str], questions: Iterable[str]) -> str:
    """One digest of a unit's responses; of responses that are not judged, the digest is ""."""
    return text_digest(" ".join(digests.get(name, "") for name in questions))
