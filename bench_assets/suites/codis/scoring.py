"""Scores of CODIS (sections 3.3, 5.3); a judge model or rules replace the paper's human judges.

Acc_q is the share of queries answered correctly, Acc_p the share of pairs with both queries
correct. Acc_p is the primary metric: a model that ignores the context can get one half of a pair
right, never both (section 4.2).
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial

from bench_assets.core.judging.verdict_requests import (
    VerdictRequest,
    ask_for_verdicts,
    final_judgements,
    first_judgements,
)
from bench_assets.core.judging.verdicts import RIGHT_OR_WRONG, read_verdict, verdict_points
from bench_assets.core.reading.readings import UNREAD
from bench_assets.core.schema.chat import ChatModel
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score
from bench_assets.core.stats.means import Mean, ScoredPoint, mean, product
from bench_assets.evaluation.task import RULES, AnsweredQuestion, ScoredQuestion
from bench_assets.suites.codis import prompts
from bench_assets.suites.codis.answers import answer_form, normalize_text, read_answer

CRITERION = "correct"
WITH_REASONING = "correct, thoughts included"  # as eval.py, which strips nothing from an output

_VERDICT = partial(read_verdict, words=RIGHT_OR_WRONG)


def judge(answered: Sequence[AnsweredQuestion], model: ChatModel) -> list[Judgement]:
    """Judge each prediction's agreement with the ground truth (Table 12).

    A prediction with reasoning is judged a second time with it, for the official scorer.
    """
    requests = [_verdict_request(pair, pair.prediction.text, CRITERION) for pair in answered]
    requests += [
        _verdict_request(pair, pair.prediction.raw_text, WITH_REASONING)
        for pair in answered
        if pair.prediction.raw_text not in ("", pair.prediction.text)
    ]
    return [row for rows in ask_for_verdicts(requests, model, prompts.NO_VERDICT) for row in rows]


def judge_by_rules(answered: Sequence[AnsweredQuestion]) -> list[Judgement]:
    """Compare the answer that each prediction names with the ground truth, without a model.

    A response that gives neither of the pair's answers as a whole, or both, is wrong.
    """
    return [_rule_judgement(question, prediction) for question, prediction in answered]


def score_strictly(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Give a point if the judge said right; unscored if it said neither right nor wrong."""
    relevant = [row for row in final_judgements(judgements) if row.criterion != WITH_REASONING]
    return _score(answered, relevant, lambda judgement: judgement.verdict)


def score_officially(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Give a point if the judge's response has "right" in it, as the authors' eval.py does.

    "not right" scores a point, "Right." does not. The reasoning of model and judge is not stripped.
    The script never retries: the judge's first response counts. Of the rules, which print no such
    word, the verdict counts.
    """
    first = first_judgements(judgements)
    with_reasoning = [row for row in first if row.criterion == WITH_REASONING]
    return _score(answered, with_reasoning or first, _official_verdict)


def pair_accuracy(scored: Sequence[ScoredQuestion]) -> Mean:
    """Acc_p of section 3.3; a pair is unscored if a half of it is unscored or missing."""
    return mean(map(_pair_point, _pairs(scored)))


def query_accuracy(scored: Sequence[ScoredQuestion]) -> Mean:
    """Acc_q of section 3.3."""
    return mean(ScoredPoint(score.points, image_cluster(question)) for question, score in scored)


def context_awareness(scored: Sequence[ScoredQuestion]) -> Mean:
    """Share of pairs whose two queries are answered differently (section 4.2).

    The paper has people compare the outputs; here the parsed answers are compared, without a judge.
    A pair without two responses is unscored. A pair with a response that was cut off before the
    answer counts as answered alike.
    """
    return mean(map(_awareness_point, _pairs(scored)))


def image_cluster(question: Question) -> str:
    """Cluster of a question for intervals: its image.

    The release asks the same question about 45 images again, with other contexts.
    """
    return question.labels.get("image") or question.cluster


def _verdict_request(answered: AnsweredQuestion, output: str, criterion: str) -> VerdictRequest:
    prompt = prompts.judge(answered.question, output)
    return VerdictRequest(*answered, prompt=prompt, read=_VERDICT, criterion=criterion)


def _rule_judgement(question: Question, prediction: Prediction) -> Judgement:
    reading = answer_form(question).read(prediction.text)
    return Judgement.of(
        prediction,
        judge=RULES,
        criterion=CRITERION,
        verdict=reading is not None and (reading.value,) == question.answer,
        response=f"gives {reading.value!r}: {reading.note}" if reading else UNREAD,
    )


def _official_verdict(judgement: Judgement) -> bool | None:
    return judgement.verdict if judgement.by_rules else "right" in judgement.response


def _score(
    answered: AnsweredQuestion,
    judgements: Sequence[Judgement],
    verdict_of: Callable[[Judgement], bool | None],
) -> Score:
    points, note = verdict_points(judgements, "prints neither right nor wrong", verdict_of)
    answer = read_answer(answered.question, answered.prediction.text)
    return Score.of(
        answered.prediction, points=points, answer=(answer,) if answer else (), note=note
    )


def _pairs(scored: Sequence[ScoredQuestion]) -> list[list[ScoredQuestion]]:
    """The halves of each pair and sample; one of them may be missing."""
    pairs: dict[tuple[str, int], list[ScoredQuestion]] = defaultdict(list)
    for scored_question in scored:
        question, score = scored_question
        pairs[question.group_id, score.sample].append(scored_question)
    return list(pairs.values())


def _pair_point(halves: Sequence[ScoredQuestion]) -> ScoredPoint:
    if len(halves) != 2:
        return ScoredPoint(None)
    cluster = image_cluster(halves[0].question)
    return ScoredPoint(product(half.score.points for half in halves), cluster)


def _awareness_point(halves: Sequence[ScoredQuestion]) -> ScoredPoint:
    if len(halves) != 2 or any(half.score.error for half in halves):
        return ScoredPoint(None)
    is_cut_off = any(half.score.no_answer for half in halves)
    answers = {normalize_text(" ".join(half.score.answer)) for half in halves}
    cluster = image_cluster(halves[0].question)
    return ScoredPoint(float(len(answers) == 2 and not is_cut_off), cluster)
