"""Evaluation of a model on questions with permuted options."""

from collections.abc import Sequence
from functools import partial
from string import ascii_uppercase

from bench_assets.annotation.tasks import PEOPLE
from bench_assets.asset_factory.configured_runner import configured_responses
from bench_assets.asset_factory.question_subset import QuestionSubset
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


def permute_questions(
    bench: Workbench, tasks: Sequence[Task], subset: QuestionSubset, *, orders: int, seed: int
) -> list[tuple[Task, PermutedQuestions]]:
    """Rotate the options of each task's questions; tasks are left out if no question has orders.

    ``orders`` and ``seed`` are those of ``permute_options``.

    Raises:
        SettingsError: If no task remains; names the reasons.
    """
    permutable: list[tuple[Task, PermutedQuestions]] = []
    exclusions: list[str] = []
    for task in tasks:
        if task.asked_of != "model":
            continue
        questions = subset.select(task, bench.questions(task))
        permuted = permute_options(task, questions, orders, seed)
        if permuted.ordered:
            permutable.append((task, permuted))
        for reason, n in permuted.left_out.items():
            exclusions.append(f"{task.name}: {reason} (questions: {n})")
    if not permutable:
        reasons = "; ".join(exclusions) or "there are no questions for models"
        raise SettingsError(f"no options can be permuted: {reasons}")
    return permutable


def evaluate_permutations(
    bench: Workbench, task: Task, model: str, permuted: PermutedQuestions
) -> list[OrderFigure]:
    """Evaluate a model on permuted options, judged and scored as usual.

    Raises:
        SettingsError: If people are the judge of the suite, or there is no such judge.
        ModelError: If the model cannot be opened, or questions remain without a response.
    """
    questions = bench.questions(task)
    bench.remember_source(task.suite)
    if bench.settings.suite(task.suite, SuiteSettings).judge == PEOPLE:
        raise SettingsError(
            f"{task.name}: people judge only questions as they are shown. Name another judge"
        )
    with bench.models() as models:
        open_lazily = partial(open_model, models, f"{model}: {task.name}, orders of options", model)
        responses = configured_responses(task, models, model, open_lazily)
        runner = model_runner(bench, models, task, model, responses)
        predictions, _, scores = runner.predict_and_score(
            [order.question for order in permuted.ordered]
        )
    return figures_of(
        permutation_outcomes(permuted.ordered, scores),
        cluster_questions(questions),
        partial(OrderFigure, task=task.name, model=predictions[0].model),
    )


def permutation_outcomes(
    ordered: Sequence[PermutedQuestion], scores: Sequence[Score]
) -> dict[str, list[PermutationOutcome]]:
    """Collect points and chosen options of the first response to each order, by original id."""
    scores_by_id = {score.question_id: score for score in scores if not score.sample}
    outcomes: dict[str, list[PermutationOutcome]] = {}
    for permuted in ordered:
        score = scores_by_id[permuted.question.question_id]
        share = None
        if score.points is not None and score.max_points > 0:
            share = score.points / score.max_points
        chosen = _option_index(score.answer, len(permuted.places))
        outcomes.setdefault(permuted.original_id, []).append(
            PermutationOutcome(
                number=permuted.number, places=permuted.places, share=share, place=chosen
            )
        )
    return outcomes


def _option_index(answer: Sequence[str], n_options: int) -> int | None:
    """Index of the chosen option; None unless one valid letter was parsed."""
    letters = list(ascii_uppercase[:n_options])
    return letters.index(answer[0]) if len(answer) == 1 and answer[0] in letters else None
