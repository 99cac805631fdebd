"""Scorers of file benchmarks: option letters, text and number metrics.

A judge model is asked only about responses without an answer by the rules: those that name no
option, and texts that match no reference.
"""

from collections.abc import Callable, Mapping, Sequence

from bench_assets.core.answer_types.metrics import METRICS
from bench_assets.core.answer_types.option_answers import letters_in
from bench_assets.core.judging.request_streaming import LazyRows
from bench_assets.core.judging.verdict_requests import (
    VerdictRequest,
    ask_for_verdicts,
    verdicts_of_many,
)
from bench_assets.core.judging.verdicts import RIGHT_OR_WRONG, cut_off, read_word
from bench_assets.core.metrics.short_answers import anls, exact_match, normalised, relaxed_match
from bench_assets.core.parsing.choices import read_choice
from bench_assets.core.schema.chat import ChatModel, Response
from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.core.tables.large_tables import gathered, some
from bench_assets.evaluation.task import AnsweredQuestion, Measure, ScoreOne
from bench_assets.file_benchmarks import prompts
from resources.config.sections.benchmarks import JUDGEABLE_METRICS, Metric

CRITERION = "right"
RULES = "rules"

_NEARNESS: Mapping[Metric, Callable[[str, Sequence[str]], float]] = {
    "anls": anls,
    "relaxed_accuracy": relaxed_match,
}


def scorers_of(metric: Metric) -> dict[str, ScoreOne]:
    """Scorers of a benchmark, by its metric, with a judge if configured."""
    nearness = _NEARNESS.get(metric, exact_match)
    name = "judged" if metric in JUDGEABLE_METRICS else metric

    def score(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
        points, answer = _read(answered, nearness)
        if (
            points
            or (answer and answered.question.kind != "text")
            or metric not in JUDGEABLE_METRICS
        ):
            return Score.of(answered.prediction, points=points, answer=answer)
        verdict, note = _verdict(judgements)
        return Score.of(answered.prediction, points=verdict, answer=answer, note=note)

    return {name: score}


def measures_of(metric: Metric) -> dict[str, Measure]:
    """Metrics of a benchmark, the primary one first, and accuracy if it differs."""
    return dict(METRICS[metric].measures)


def judge(answered: Sequence[AnsweredQuestion], model: ChatModel) -> Sequence[Judgement]:
    """Ask a judge model about responses without an answer by the rules."""
    unread = some(answered, [n for n, pair in enumerate(answered) if _needs_judge(pair)])
    if isinstance(unread, list):
        asked = list(map(_asked, unread))
        return [rows[0] for rows in ask_for_verdicts(asked, model, prompts.NO_VERDICT)]
    found = verdicts_of_many(LazyRows(unread, _asked), model, prompts.NO_VERDICT)
    return gathered((rows[0] for rows in found), Judgement)


def judge_by_rules(answered: Sequence[AnsweredQuestion]) -> list[Judgement]:
    """Judge responses that the rules cannot read as wrong."""
    return [
        Judgement.of(
            pair.prediction,
            judge=RULES,
            criterion=CRITERION,
            verdict=False,
            response="names no reference" if pair.question.kind == "text" else "names no option",
        )
        for pair in answered
        if _needs_judge(pair)
    ]


def _read(
    answered: AnsweredQuestion, nearness: Callable[[str, Sequence[str]], float]
) -> tuple[float, tuple[str, ...]]:
    """Points and parsed answer by the rules."""
    question, prediction = answered
    if question.kind == "text":
        return nearness(prediction.text, question.answer), (normalised(prediction.text),)
    if question.kind == "choices":
        letters = letters_in(prediction.text, question.options)
    else:
        letter = read_choice(prediction.text, question.options).letter
        letters = (letter,) if letter else ()
    return float(letters == question.answer), letters


def _needs_judge(pair: AnsweredQuestion) -> bool:
    points, answer = _read(pair, exact_match)
    return not (points if pair.question.kind == "text" else answer)


def _asked(pair: AnsweredQuestion) -> VerdictRequest:
    prompt = prompts.judge(pair.question, pair.prediction.text)
    return VerdictRequest(pair.question, pair.prediction, prompt, _said, CRITERION)


def _said(response: Response) -> bool | None:
    """Verdict of the judge; None if it is neither of the two allowed words."""
    return None if cut_off(response) else read_word(response.said.answer, RIGHT_OR_WRONG)


def _verdict(judgements: Sequence[Judgement]) -> tuple[float | None, str]:
    """Points by the judge's verdict; None with a reason if there is none."""
    if len(judgements) != 1:
        return None, f"{len(judgements)} judgements instead of one"
    (one,) = judgements
    if one.error:
        return None, f"the judge gave no response: {one.error}"
    if one.verdict is None:
        return None, f"the judge says neither right nor wrong: {one.response:.200}"
    return float(one.verdict), one.response if one.judge == RULES else ""
