"""The evaluation pipeline as four pure steps: predict, judge, score, summarise.

Each step is an asset in Dagster; notebooks and tests call them directly.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from string import ascii_uppercase
from typing import TYPE_CHECKING

from bench_assets.core.judging.second_look import NONE, AnswerForm, is_reader, looked
from bench_assets.core.judging.verdict_requests import group_judgements
from bench_assets.core.reading.non_answers import classify_non_answer
from bench_assets.core.schema.chat import (
    NO_PROMPT,
    ChatModel,
    Prompt,
    PromptlessModel,
    Request,
    Response,
)
from bench_assets.core.schema.elicitation import is_elicited, softmax
from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import join_setups as joined_setups
from bench_assets.evaluation.aggregation import (
    ScoreOverview,
    make_signature,
    metrics,
    rows_by_model,
)
from bench_assets.evaluation.outcomes import is_by_people, is_empty_or_loop, is_unread
from bench_assets.evaluation.task import (
    RULES,
    AnsweredQuestion,
    ByModel,
    ByRules,
    ScoredQuestion,
    ScoreOne,
    Task,
    attempt,
    named,
    without_points,
)

if TYPE_CHECKING:
    pass


def predict(
    task: Task,
    questions: Sequence[Question],
    model: ChatModel,
    condition: str = "main",
    draws: int = 1,
) -> list[Prediction]:
    """Send all questions under one condition to a model, in one call, so that it can batch.

    An unanswered question has a prediction with ``error`` and no text. ``draws`` responses are
    drawn for each question, or as many as the condition draws if these are more.

    Raises:
        ModelError: If the model cannot be called.
        UnknownNameError: If the task has no such condition.
    """
    chosen = task.condition(condition)

    def prompt(question: Question) -> Prompt:
        with named(f"condition {condition}, the prompt of {question.question_id}"):
            try:
                return chosen.prompt(question)
            except SourceError:  # such as a source that is an answer key, without images
                if isinstance(model, PromptlessModel):
                    return NO_PROMPT
                raise

    drawn = range(max(draws, chosen.samples))
    requests = [
        Request(prompt=made, sample=sample, temperature=chosen.temperature, question=question)
        for question in questions
        for made in [prompt(question)]
        for sample in drawn
    ]
    responses = zip(requests, model.response(requests), strict=True)
    return [
        _prediction(*next(responses), question, model, condition)
        for question in questions
        for _ in drawn
    ]


def judge(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    model: ChatModel | None,
    judge: str = "",
) -> list[Judgement]:
    """Judge predictions by a chat model, or by rules (None).

    Predictions without a response or an answer are not judged. ``judge`` names a judge of the task;
    "" is the default one for the model, or for rules without one. Elicited letters are judged by
    rules if the task has any.

    Raises:
        SettingsError: If the task has no such judge.
        ModelError: If the judge cannot be called.
    """
    answered = answered_questions(questions, predictions)
    if is_judged_by_rules(task, predictions):
        judge, model = RULES, None
    name = judge or (task.default_judge if model else RULES)
    chosen = task.judges.get(name)
    rows: Sequence[Judgement]
    if isinstance(chosen, ByModel) and model is not None:
        with named(f"judge {name}"):
            rows, title = chosen.judge(answered, model), f"{name}:{model.name}"
    elif isinstance(chosen, ByRules) and model is None:
        with named(f"judge {name}"):
            rows, title = chosen.judgements(answered), name
    else:
        raise SettingsError(
            f"{task.name} is judged by {task.ways_to_judge}, not by "
            f"{model.name if model else name!r}: name the judge"
        )
    is_default = name in (RULES, task.default_judge)  # these fill in ``judge`` themselves
    return list(rows) if is_default else [replace(row, judge=title) for row in rows]


def score(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement],
    scorer: str = "",
) -> list[Score]:
    """Score every prediction, with the named scorer or the task's default.

    A prediction without a response is unscored, with its error; a truncated response, or one
    without an answer (``no_answer_reason``), is wrong. Elicited letters are not parsed: they get
    the default scorer.

    Raises:
        UnknownNameError: If the task has no such scorer.
    """
    task.scorer(scorer or task.default_scorer)
    pairs = AnsweredQuestion.of(questions, predictions)
    grouped = group_judgements(predictions, judgements)
    return [
        _score_pair(task, pair, verdicts, scorer)
        for pair, verdicts in zip(pairs, grouped, strict=True)
    ]


def _score_pair(
    task: Task, pair: AnsweredQuestion, judgements: Sequence[Judgement], scorer: str
) -> Score:
    prediction = pair.prediction
    name = task.default_scorer if is_elicited(prediction.decoding) else scorer
    name = name or task.default_scorer
    if is_by_people(judgements):
        from bench_assets.evaluation.people_judge import score_by_people

        result = score_by_people(_score_by_rules(task, task.scorer(name), pair), judgements)
    else:
        judgements, result = _score_read(task, name, pair, judgements)
        if result.points == 0 and not prediction.ranking and is_empty_or_loop(prediction.text):
            note = "one word, repeated" if prediction.text.strip() else "an empty response"
            result = replace(result, no_answer=True, note=result.note or note)
    return replace(
        result,
        scorer=name,
        confidence=max(softmax(prediction.logprobs)) if prediction.logprobs else None,
        judge="+".join(sorted({verdict.judge for verdict in judgements})),
        setup=joined_setups([prediction.setup, *(verdict.setup for verdict in judgements)]),
    )


def summarise(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    scores: Sequence[Score],
) -> list[Metric]:
    """Compute every metric of a task, over all questions and each slice.

    A question without any score counts as failed.
    """
    predictions_by_model = rows_by_model(predictions)
    summaries: list[Metric] = []
    for key, rows in sorted(rows_by_model(scores).items()):
        scored = ScoreOverview(task, questions, ScoredQuestion.of(questions, rows))
        answered = predictions_by_model.get(key, [])
        served = Counter(row.served for row in answered if row.served)
        signature = make_signature(task, questions, scored, answered)
        summaries += metrics(task, questions, scored, signature, served)
    return summaries


def _prediction(
    request: Request, response: Response, question: Question, model: ChatModel, condition: str
) -> Prediction:
    refused = response.refusal
    return Prediction(
        question_id=question.question_id,
        model=model.name,
        condition=condition,
        sample=request.sample,
        text=response.parts.answer,
        raw_text=response.raw_text or response.text,
        ranking=_rank_letters(response.logprobs),
        logprobs=response.logprobs,
        prompt_sha256=request.prompt.sha256 if request.prompt.turns else "",
        decoding=model.signature,
        finish_reason=response.finish_reason,
        prompt_tokens=response.prompt_tokens,
        completion_tokens=response.completion_tokens,
        image_tokens=response.image_tokens,
        seconds=response.seconds,
        note=response.note,
        served=response.served,
        no_answer="" if refused else response.no_answer,
        error=response.error or (f"{refused} ({response.finish_reason})" if refused else ""),
        refused=refused,
    )


def _rank_letters(logprobs: Sequence[float]) -> tuple[str, ...]:
    """Letters of the options, likeliest first; ties in the order shown."""
    letters = ascii_uppercase[: len(logprobs)]
    pairs = sorted(zip(logprobs, letters, strict=True), key=lambda pair: -pair[0])
    return tuple(letter for _, letter in pairs)


def score_response(
    task: Task, score_one: ScoreOne, pair: AnsweredQuestion, about: Sequence[Judgement]
) -> Score:
    """Score one response, without the columns about its judge, scorer and setup."""
    prediction = pair.prediction
    if prediction.error:
        return replace(Score.of(prediction, points=None), error=prediction.error)
    if reason := no_answer_reason(pair):
        score = without_points(task, score_one, pair)
        return replace(score, note=reason, no_answer=True, refused=prediction.refused)
    return attempt(score_one, pair, about)


def _score_read(
    task: Task, name: str, pair: AnsweredQuestion, judgements: Sequence[Judgement]
) -> tuple[Sequence[Judgement], Score]:
    """Score a response by what it states, else by what a reader found in it.

    Only the default scorer heeds readers: authors' scorers read on their own.

    Returns:
        The judgements that count, and the score.
    """
    of_judge = [judgement for judgement in judgements if not is_reader(judgement.judge)]
    form = task.form(pair.question) if name == task.default_scorer else None
    prediction = pair.prediction
    if form is None or prediction.error or is_elicited(prediction.decoding):
        score = score_response(task, task.scorer(name), pair, of_judge)
        return of_judge, replace(score, unread=is_unread(pair, score, of_judge))
    reading = form.read(prediction.text)
    is_stated = reading is not None and not reading.named
    if not is_stated and (look := looked(judgements)):
        score = _score_looked(task, task.scorer(name), pair, form, look)
        used = [look] if is_reader(look.judge) else of_judge
        return used, replace(score, asked_again=True, unread=is_unread(pair, score, [look]))
    score = score_response(task, task.scorer(name), pair, of_judge)
    by_rules = all(verdict.by_rules for verdict in of_judge)
    is_named = by_rules and reading is not None and reading.named and not score.no_answer
    # The whole response is the answer where it is compared with references.
    is_other = by_rules and reading is None and form.kind == "references"
    is_other &= not (score.no_answer or is_empty_or_loop(prediction.text))
    unread = is_unread(pair, score, of_judge) or is_other
    return of_judge, replace(score, unread=unread, named=is_named)


def _score_looked(
    task: Task, score_one: ScoreOne, pair: AnsweredQuestion, form: AnswerForm, look: Judgement
) -> Score:
    """Score a response as if it consisted of the answer that a reader found in it."""
    if look.error or look.verdict is None:
        reply = f"replied neither an answer nor {NONE}: {look.response:.200}"
        note = f"gave no response: {look.error}" if look.error else reply
        return Score.of(pair.prediction, points=None, note=f"{look.judge} {note}")
    if look.value == NONE:
        score = without_points(task, score_one, pair)
        if form.kind == "references":
            return replace(score, note=f"{look.judge} finds that it says none of the references")
        return replace(score, note=f"{look.judge} finds no answer", no_answer=True)
    prediction = replace(pair.prediction, text=look.value, raw_text=look.value)
    read = pair._replace(prediction=prediction)
    rules = task.judges.get(RULES)
    verdicts = rules.judgements([read]) if isinstance(rules, ByRules) else []
    # They are about what the reader read: where rules alone give no points, they do.
    judgements = [
        replace(verdict, judge=look.judge, prompt_sha256=look.prompt_sha256) for verdict in verdicts
    ]
    score = attempt(score_one, read, judgements)
    return replace(score, note=f"{look.judge} reads {look.value}")


def _score_by_rules(task: Task, score_one: ScoreOne, pair: AnsweredQuestion) -> Score:
    rules = task.judges.get(RULES)
    judgements = rules.judgements([pair]) if isinstance(rules, ByRules) else []
    return score_response(task, score_one, pair, judgements)


def no_answer_reason(pair: AnsweredQuestion) -> str:
    """Why a response is not an answer: truncated, or a kind of ``core.reading.non_answers``."""
    question, prediction = pair
    if prediction.no_answer or prediction.ranking:
        return prediction.no_answer
    reason = _non_answer(prediction.text, question.text, question.options)
    answers = (*question.options, *(question.answer if question.kind == "text" else ()))
    is_answer = reason and _fold_text(prediction.text) in map(_fold_text, answers)
    return "" if is_answer else reason


def _fold_text(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".。")


_non_answer = lru_cache(maxsize=8192)(classify_non_answer)
"""Cached, because a response is checked when it is judged, scored and counted."""


def is_judged_by_rules(task: Task, predictions: Sequence[Prediction]) -> bool:
    """Whether rules judge, whatever judge is named: all responses are elicited letters."""
    return RULES in task.judges and all(is_elicited(row.decoding) for row in predictions)


def answered_questions(
    questions: Sequence[Question], predictions: Sequence[Prediction]
) -> list[AnsweredQuestion]:
    """Predictions that can be judged, with their questions."""
    pairs = AnsweredQuestion.of(questions, predictions)
    return [pair for pair in pairs if not (pair.prediction.error or no_answer_reason(pair))]
