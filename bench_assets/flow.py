"""The way of every question to the leaderboard, as four pure steps in the order they happen.

``evaluation`` runs each step as an asset; a notebook or a test runs them one after the other.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from bench_assets.core.chat import ChatModel, Reply, Request
from bench_assets.core.errors import SettingsError
from bench_assets.core.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.setups import joined
from bench_assets.core.signature import OPEN, Signature, short
from bench_assets.core.tables import digest
from bench_assets.task import RULES, Answered, ByModel, ByRules, Scored, ScoreOne, Task, attempt


def predict(
    task: Task, questions: Sequence[Question], model: ChatModel, condition: str = "main"
) -> list[Prediction]:
    """Ask a model every question under one condition, in one call, so that it can batch.

    A question that stays unanswered has a prediction with ``error``, and no text.

    Raises:
        ModelError: If the model cannot be asked at all.
        UnknownNameError: If the task has no such condition.
    """
    asking = task.condition(condition)
    requests = [
        Request(prompt=prompt, sample=sample, temperature=asking.temperature, question=question)
        for question in questions
        for prompt in [asking.prompt(question)]
        for sample in range(asking.samples)
    ]
    replies = model.reply(requests)
    return [
        _prediction(request, reply, question, model, condition)
        for request, reply in zip(requests, replies, strict=True)
        for question in [request.question]
        if question is not None
    ]


def judge(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    model: ChatModel | None,
    judge: str = "",
) -> list[Judgement]:
    """Gather the verdicts that scoring needs, from a chat model or (None) by rules.

    Predictions without a reply or without an answer are not judged. ``judge`` names one of the
    task's; "" is the default one that asks the model, or the one by rules where there is none.

    Raises:
        SettingsError: If the task is not judged in that way.
        ModelError: If the judge cannot be asked at all.
    """
    replied = [row for row in predictions if not row.error and not row.no_answer]
    answered = _answered(questions, replied)
    name = judge or (task.default_judge if model else RULES)
    chosen = task.judges.get(name)
    if isinstance(chosen, ByModel) and model is not None:
        rows, title = chosen.judge(answered, model), f"{name}:{model.name}"
    elif isinstance(chosen, ByRules) and model is None:
        rows, title = chosen.judgements(answered), name
    else:
        raise SettingsError(
            f"{task.name} is judged by {task.ways_to_judge}, not by "
            f"{model.name if model else name!r}: name the judge"
        )
    own = name in (RULES, task.default_judge)  # these say themselves who judges
    return rows if own else [replace(row, judge=title) for row in rows]


def score(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement],
    reading: str = "",
) -> list[Score]:
    """Give points to every prediction, by the named reading or the task's default one.

    A prediction without a reply has a score without points that carries its error; one whose model
    was cut off before it answered is wrong.

    Raises:
        UnknownNameError: If the task has no such reading.
    """
    reading = reading or task.default_reading
    score_one = task.reading(reading)
    verdicts: dict[tuple[str, str, str, int], list[Judgement]] = defaultdict(list)
    for verdict in judgements:
        verdicts[_identity(verdict)].append(verdict)
    return [
        replace(
            _score(task, score_one, pair, about),
            reading=reading,
            judge="+".join(sorted({verdict.judge for verdict in about})),
            setup=joined([pair.prediction.setup, *(verdict.setup for verdict in about)]),
        )
        for pair in _answered(questions, predictions)
        for about in [verdicts[_identity(pair.prediction)]]
    ]


def summarise(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    scores: Sequence[Score],
) -> list[Metric]:
    """Take every measure of a task over all questions and over each slice of them.

    A question that has no score at all counts as failed: it was not answered, and a value over
    the rest is not the value of the whole.
    """
    asked = {question.question_id: question for question in questions}
    scored: dict[tuple[str, str], list[Scored]] = defaultdict(list)
    for one in scores:
        scored[one.model, one.condition].append(Scored(asked[one.question_id], one))
    said: dict[tuple[str, str], list[Prediction]] = defaultdict(list)
    for prediction in predictions:
        said[prediction.model, prediction.condition].append(prediction)
    data = digest(questions)
    open_ = next((n for q in questions if (n := q.labels.get(OPEN))), "")
    return [
        metric
        for key, rows in sorted(scored.items())
        for metric in _metrics(
            task, questions, rows, _signature(task, said[key], rows, data, open_)
        )
    ]


def _metrics(
    task: Task, questions: Sequence[Question], scored: Sequence[Scored], signature: Signature
) -> list[Metric]:
    answered = {row.question.question_id for row in scored}
    answered -= {row.question.question_id for row in scored if row.score.error}  # all draws count
    silent = {row.question.question_id for row in scored if row.score.no_answer}
    failed = _by_slice(task, [q for q in questions if q.question_id not in answered])
    no_answer = _by_slice(task, [q for q in questions if q.question_id in silent])
    slices: dict[str, list[Scored]] = defaultdict(list)
    for row in scored:
        for category in dict.fromkeys(("all", *task.slices(row.question))):
            slices[category].append(row)
    first = scored[0].score
    cut_off = {"no_answer": str(len(silent))} if silent else {}
    return [
        Metric(
            task=task.name,
            model=first.model,
            condition=first.condition,
            metric=name,
            category=category,
            n_failed=failed[category],
            n_no_answer=no_answer[category],
            edition=questions[0].edition,
            data=signature.parts["data"],
            setup=joined({row.score.setup for row in scored}),
            signature=str(signature.plus(**cut_off, n=str(len(questions)))),
            **measure(slices.get(category, []))._asdict(),
        )
        for category in sorted(slices.keys() | failed.keys(), key=lambda c: (c != "all", c))
        for name, measure in task.measures.items()
    ]


def _by_slice(task: Task, questions: Sequence[Question]) -> Counter[str]:
    return Counter(
        category for q in questions for category in dict.fromkeys(("all", *task.slices(q)))
    )


def _signature(
    task: Task, predictions: Sequence[Prediction], scored: Sequence[Scored], data: str, open_: str
) -> Signature:
    sent = sorted(p.prompt_sha256 for p in predictions if p.prompt_sha256)
    prompts = hashlib.sha256("\n".join(sent).encode()).hexdigest()[:12] if sent else "unknown"
    first = scored[0].score
    parts = {
        "data": short(data),
        **({OPEN: open_} if open_ else {}),
        "prompts": prompts,
        "model": "+".join(sorted({p.decoding for p in predictions if p.decoding})) or "unknown",
        "judge": "+".join(sorted({s.score.judge for s in scored if s.score.judge})) or "none",
        "reading": first.reading,
    }
    return Signature(task.name, task.version, first.condition, parts, task.extensions)


def _prediction(
    request: Request, reply: Reply, question: Question, model: ChatModel, condition: str
) -> Prediction:
    return Prediction(
        question_id=question.question_id,
        model=model.name,
        condition=condition,
        sample=request.sample,
        text=reply.said.answer,
        raw_text=reply.text,
        prompt_sha256=request.prompt.sha256,
        decoding=model.signature,
        finish_reason=reply.finish_reason,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        image_tokens=reply.image_tokens,
        seconds=reply.seconds,
        note=reply.note,
        no_answer=reply.no_answer,
        error=reply.error,
    )


def _score(task: Task, score_one: ScoreOne, pair: Answered, about: Sequence[Judgement]) -> Score:
    prediction = pair.prediction
    if prediction.error:
        return replace(Score.of(prediction, points=None), error=prediction.error)
    if prediction.no_answer:
        return _wrong(task, score_one, pair)
    return attempt(score_one, pair, about)


def _wrong(task: Task, score_one: ScoreOne, pair: Answered) -> Score:
    """Give no points to a reply without an answer; what it says is what an empty one would.

    The task's rules stand in for the judge, because a reading may write their verdicts down.
    """
    silent = pair._replace(prediction=replace(pair.prediction, text="", raw_text=""))
    rules = task.judges.get(RULES)
    score = score_one(silent, rules.judge([silent]) if isinstance(rules, ByRules) else [])
    # A question without points, such as one whose answer is not published, stays without.
    points = 0.0 if score.max_points else score.points
    return replace(score, points=points, note=pair.prediction.no_answer, no_answer=True)


def _answered(questions: Sequence[Question], predictions: Sequence[Prediction]) -> list[Answered]:
    asked = {question.question_id: question for question in questions}
    return [Answered(asked[p.question_id], p) for p in predictions]


def _identity(row: Prediction | Judgement) -> tuple[str, str, str, int]:
    return row.question_id, row.model, row.condition, row.sample
