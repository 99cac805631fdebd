"""Evaluation of a model on questions with permuted options."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from string import ascii_uppercase

from bench_assets.annotation.tasks import PEOPLE
from bench_assets.asset_factory.configured_runner import configured_responses
from bench_assets.asset_factory.question_subset import WHOLE, QuestionSubset
from bench_assets.audit.robustness.option_permutations import (
    PermutedQuestion,
    PermutedQuestions,
    permute_options,
)
from bench_assets.audit.robustness.position_bias import OrderFigure, PermutationOutcome, figures_of
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import Score
from bench_assets.core.stats.clusters import cluster_questions
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import Task
from bench_assets.workspace.evaluate.subset import model_runner, open_model
from bench_assets.workspace.materialization.workbench import Workbench


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationSettings:
    """Number of orders, and the questions to permute."""

    orders: int = 0  # per question; 0: one for each option
    seed: int = 0
    part: QuestionSubset = WHOLE


def permute_questions(
    bench: Workbench, tasks: Sequence[Task], wanted: PermutationSettings
) -> list[tuple[Task, PermutedQuestions]]:
    """Rotate the options of each task's questions; tasks without such questions are left out.

    Raises:
        SettingsError: If no task remains; names the reasons.
    """
    permuted = [
        (task, permute_options(task, questions, wanted.orders, wanted.seed))
        for task in tasks
        if task.asked_of == "model"
        for questions in [wanted.part.select(task, bench.questions(task))]
    ]
    if permutable := [(task, permutation) for task, permutation in permuted if permutation.ordered]:
        return permutable
    exclusions = [
        f"{task.name}, {n} questions: {exclusion}"
        for task, o in permuted
        for exclusion, n in o.left_out.items()
    ]
    raise SettingsError(
        "no options can be permuted: " + ("; ".join(exclusions) or "no task of models")
    )


def evaluate_permutations(
    bench: Workbench, task: Task, model: str, made: PermutedQuestions
) -> list[OrderFigure]:
    """Evaluate a model on permuted options, judged and scored as usual.

    Raises:
        ModelError: If the model cannot be opened, or questions remain without a response.
    """
    questions = bench.questions(task)
    bench.remember_source(task.suite)
    if bench.settings.suite(task.suite, SuiteSettings).judge == PEOPLE:
        raise SettingsError(
            f"{task.name}: people judge only questions as they are shown. Name another judge"
        )
    with bench.models() as models:
        opened = partial(open_model, models, f"{model}: {task.name}, orders of options", model)
        responses = configured_responses(task, models, model, opened)
        runner = model_runner(bench, models, task, model, responses)
        predictions, _, scores = runner.scored(
            [permuted_question.question for permuted_question in made.ordered]
        )
    return figures_of(
        permutation_outcomes(made.ordered, scores),
        cluster_questions(questions),
        partial(OrderFigure, task=task.name, model=predictions[0].model),
    )


def permutation_outcomes(
    ordered: Sequence[PermutedQuestion], scores: Sequence[Score]
) -> dict[str, list[PermutationOutcome]]:
    """Collect the points and chosen options of each order, by question id."""
    score_of = {score.question_id: score for score in scores}
    outcomes: dict[str, list[PermutationOutcome]] = {}
    for ordered_question in ordered:
        score = score_of[ordered_question.question.question_id]
        is_scored = score.points is not None and score.max_points > 0
        share = (score.points or 0.0) / score.max_points if is_scored else None
        shown_position = _place(score.answer, len(ordered_question.places))
        outcomes.setdefault(ordered_question.asked, []).append(
            PermutationOutcome(
                ordered_question.number, ordered_question.places, share, shown_position
            )
        )
    return outcomes


def _place(answer: Sequence[str], n: int) -> int | None:
    """Position of the chosen option; None unless one valid letter was parsed."""
    letters = ascii_uppercase[:n]
    letter = answer[0] if len(answer) == 1 else ""
    return letters.index(letter) if letter and letter in letters else None
