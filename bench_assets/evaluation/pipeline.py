"""The evaluation pipeline as four pure steps: predict, judge, score, summarise.

Each step is an asset in Dagster; notebooks and tests call them directly.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from string import ascii_uppercase

from bench_assets.core.judging.second_look import NONE, AnswerForm, find_second_look, is_reader
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
from bench_assets.core.schema.signature import join_setups
from bench_assets.evaluation.aggregation import (
    ScoreOverview,
    make_signature,
    metrics,
    rows_by_model,
)
from bench_assets.evaluation.outcomes import (
    is_by_people,
    is_empty_or_loop,
    is_unread,
    served_counts,
)
from bench_assets.evaluation.task import (
    RULES,
    AnsweredQuestion,
    ByModel,
    ByRules,
    Condition,
    ScoredQuestion,
    ScoreOne,
    Task,
    judgements_by_rules,
    plugin_errors_named,
    score_as_empty,
    try_to_score,
)


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
        UnknownNameError: If the task has no such condition.
        BenchError: If the model cannot be called, or code of the condition fails.
    """
    settings = task.condition(condition)
    requests: list[tuple[Question, Request]] = []
    for question in questions:
        with plugin_errors_named(f"condition {condition}, the prompt of {question.question_id}"):
            prompt = _make_prompt(settings, question, model)
        for sample in range(max(draws, settings.samples)):
            request = Request(
                prompt=prompt, sample=sample, temperature=settings.temperature, question=question
            )
            requests.append((question, request))
    responses = model.response([request for _, request in requests])
    return [
        _make_prediction(request, response, question, model, condition)
        for (question, request), response in zip(requests, responses, strict=True)
    ]


def _make_prompt(condition: Condition, question: Question, model: ChatModel) -> Prompt:
    """The prompt of a question; an empty one without a source, if the model needs no prompts."""
    try:
        return condition.prompt(question)
    except SourceError:  # such as a source that is an answer key, without images
        if isinstance(model, PromptlessModel):
            return NO_PROMPT
        raise


def judge(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    model: ChatModel | None,
    judge: str = "",
) -> list[Judgement]:
    """Judge predictions by a chat model, or by rules (None).

    Predictions without a response or an answer are not judged. ``judge`` names a judge of the task;
    "" is the default one for the model, or for rules without one. If all responses are elicited
    letters, rules judge them where the task has any.

    Raises:
        SettingsError: If the task has no such judge for the model, or for rules.
        BenchError: If the judge cannot be called, or its code fails.
    """
    answered = answered_questions(questions, predictions)
    if is_judged_by_rules(task, predictions):
        judge, model = RULES, None
    name = judge or (task.default_judge if model else RULES)
    chosen = task.judges.get(name)
    rows: Sequence[Judgement]
    if isinstance(chosen, ByModel) and model is not None:
        title = f"{name}:{model.name}"
        with plugin_errors_named(f"judge {name}"):
            rows = chosen.judge(answered, model)
    elif isinstance(chosen, ByRules) and model is None:
        title = name
        with plugin_errors_named(f"judge {name}"):
            rows = chosen.judgements(answered, name)
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
    """Score one response, with the columns about its judge, scorer and setup."""
    prediction = pair.prediction
    is_elicited_answer = is_elicited(prediction.decoding)
    name = scorer if scorer and not is_elicited_answer else task.default_scorer
    if is_by_people(judgements):
        from bench_assets.evaluation.people_judge import score_by_people

        rule_judgements = judgements_by_rules(task, pair)
        rule_score = score_response(task, task.scorer(name), pair, rule_judgements)
        result = score_by_people(rule_score, judgements)
    else:
        judgements, result = _score_read_response(task, name, pair, judgements)
        if result.points == 0 and not prediction.ranking and is_empty_or_loop(prediction.text):
            note = "one word, repeated" if prediction.text.strip() else "an empty response"
            result = replace(result, no_answer=True, note=result.note or note)
    return replace(
        result,
        scorer=name,
        confidence=max(softmax(prediction.logprobs)) if prediction.logprobs else None,
        judge="+".join(sorted({verdict.judge for verdict in judgements})),
        setup=join_setups([prediction.setup, *(verdict.setup for verdict in judgements)]),
    )


def summarise(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    scores: Sequence[Score],
) -> list[Metric]:
    """Compute every metric of a task, over all questions and each slice, by model and condition.

    A question without any score counts as failed.
    """
    predictions_by_model = rows_by_model(predictions)
    summaries: list[Metric] = []
    for key, rows in sorted(rows_by_model(scores).items()):
        scored = ScoreOverview(task, questions, ScoredQuestion.of(questions, rows))
        answered = predictions_by_model.get(key, [])
        signature = make_signature(task, questions, scored, answered)
        summaries += metrics(task, questions, scored, signature, served_counts(answered))
    return summaries


def _make_prediction(
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
    """Letters of the options, likeliest first; ties in the order of the letters."""
    indices = sorted(range(len(logprobs)), key=lambda index: -logprobs[index])
    return tuple(ascii_uppercase[index] for index in indices)


def score_response(
    task: Task, scorer: ScoreOne, pair: AnsweredQuestion, judgements: Sequence[Judgement]
) -> Score:
    """Score one response, without the columns about its judge, scorer and setup."""
    prediction = pair.prediction
    if prediction.error:
        return replace(Score.of(prediction, points=None), error=prediction.error)
    if reason := no_answer_reason(pair):
        score = score_as_empty(task, scorer, pair)
        return replace(score, note=reason, no_answer=True, refused=prediction.refused)
    return try_to_score(scorer, pair, judgements)


def _score_read_response(
    task: Task, name: str, pair: AnsweredQuestion, judgements: Sequence[Judgement]
) -> tuple[Sequence[Judgement], Score]:
    """Score a response by the answer that it states, or else by the one that a reader found.

    Only the default scorer uses readers, because authors' scorers read on their own.

    Returns:
        The judgements that count, and the score.
    """
    verdicts = [judgement for judgement in judgements if not is_reader(judgement.judge)]
    form = task.form(pair.question) if name == task.default_scorer else None
    prediction = pair.prediction
    if form is None or prediction.error or is_elicited(prediction.decoding):
        score = score_response(task, task.scorer(name), pair, verdicts)
        return verdicts, replace(score, unread=is_unread(pair, score, verdicts))
    reading = form.read(prediction.text)
    is_stated = reading is not None and not reading.named
    look = None if is_stated else find_second_look(judgements)
    if look:
        score = _score_found_answer(task, task.scorer(name), pair, form, look)
        score = replace(score, asked_again=True, unread=is_unread(pair, score, [look]))
        return [look] if is_reader(look.judge) else verdicts, score
    score = score_response(task, task.scorer(name), pair, verdicts)
    by_rules = all(verdict.by_rules for verdict in verdicts) and not score.no_answer
    is_named = by_rules and reading is not None and reading.named
    # The scorer compared the whole response, because no rule found an answer in it.
    is_compared_whole = by_rules and reading is None and form.kind == "references"
    has_no_reading = is_compared_whole and not is_empty_or_loop(prediction.text)
    is_response_unread = has_no_reading or is_unread(pair, score, verdicts)
    return verdicts, replace(score, unread=is_response_unread, named=is_named)


def _score_found_answer(
    task: Task, scorer: ScoreOne, pair: AnsweredQuestion, form: AnswerForm, look: Judgement
) -> Score:
    """Score a response as if it consisted of the answer that a reader found in it."""
    if look.error:
        note = f"{look.judge} gave no response: {look.error}"
        return Score.of(pair.prediction, points=None, note=note)
    if look.verdict is None:
        note = f"{look.judge} replied neither an answer nor {NONE}: {look.response:.200}"
        return Score.of(pair.prediction, points=None, note=note)
    if look.value == NONE:
        score = score_as_empty(task, scorer, pair)
        if form.kind == "references":
            return replace(score, note=f"{look.judge} finds that it says none of the references")
        return replace(score, note=f"{look.judge} finds no answer", no_answer=True)
    prediction = replace(pair.prediction, text=look.value, raw_text=look.value)
    read_pair = pair._replace(prediction=prediction)
    # Scorers give points for a model's verdict that they do not give for one of rules.
    judgements = [
        replace(verdict, judge=look.judge, prompt_sha256=look.prompt_sha256)
        for verdict in judgements_by_rules(task, read_pair)
    ]
    score = try_to_score(scorer, read_pair, judgements)
    return replace(score, note=f"{look.judge} reads {look.value}")


def no_answer_reason(pair: AnsweredQuestion) -> str:
    """Why a response is no answer: truncated, or a kind of ``core.reading.non_answers``; or ""."""
    question, prediction = pair
    if prediction.no_answer or prediction.ranking:
        return prediction.no_answer
    reason = _non_answer(prediction.text, question.text, question.options)
    answers = question.answer if question.kind == "text" else ()
    possible_answers = map(_fold_text, (*question.options, *answers))
    # An option such as "I don't know" is an answer.
    is_answer = reason and _fold_text(prediction.text) in possible_answers
    return "" if is_answer else reason


def _fold_text(text: str) -> str:
    """Text without case, extra white space and final full stops."""
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
