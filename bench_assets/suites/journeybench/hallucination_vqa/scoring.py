"""HaloQuest's prompts and scores: the share of answers that a judge calls right.

The prompt is the bare question. The judge's instructions follow the rules of the authors' notebook
(HaloQuest_Colab.ipynb), where a library writes the prompt; the wording is ours.
"""

from collections.abc import Sequence
from functools import partial

from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.judging.verdict_requests import VerdictRequest, ask_for_verdicts
from bench_assets.core.judging.verdicts import verdict_points
from bench_assets.core.reading.choices import read_one_of
from bench_assets.core.reading.json_values import read_json
from bench_assets.core.reading.numbers import parse_quantity
from bench_assets.core.reading.readings import UNREAD
from bench_assets.core.schema.chat import ChatModel, Image, Prompt, Response
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score
from bench_assets.evaluation.task import RULES, AnsweredQuestion

NO_VERDICT = (
    "That is not what was asked for. Reply with one JSON object that has all six fields, "
    "is_prediction_correct being true or false, and nothing else."
)
"""Complaint about an unreadable verdict."""

_JUDGE = """\
You judge the answer that a model gave to a question about a picture. You do not see the picture; \
the ground truth lists what people answer, separated by semicolons, and each of its parts alone is \
a right answer.

Rules:
1. Read the answer in the light of the question: what does it mean for what was asked?
2. Some questions ask for a detail of something that is not in the picture. Then "yes", "no" and \
"nothing" are wrong: the answer must say that the thing itself is not there.
3. An answer that refuses ("I cannot assist", "I cannot answer") is wrong.
4. Counts must be exactly those of the ground truth.
5. An answer is right if its main point is that of the ground truth; the wording does not matter.

Reply with one JSON object and nothing else:
{{
  "question": "the question",
  "model_response": "the model's answer",
  "groundtruth_response": "the ground truth",
  "model_response_main_point": "one sentence: what the model's answer says to the question",
  "groundtruth_main_point": "one sentence: what the ground truth says to the question",
  "is_prediction_correct": true or false
}}

Question: {question}
Model's answer: {response}
Ground truth: {truth}"""


def main(question: Question) -> Prompt:
    """Ask the question about its image, with nothing added."""
    return Prompt.of(*map(Image, question.images), question.text)


def judge_prompt(question: Question, response: str) -> Prompt:
    """Prompt a judge for agreement with people's answers; the judge does not see the image."""
    truth = "; ".join(question.answer)
    return Prompt.of(_JUDGE.format(question=question.text, response=response, truth=truth))


def answer_form(question: Question) -> AnswerForm:
    """Form of an answer: a text that means the same as one of people's answers."""
    return AnswerForm("references", question.answer)


_TEXT_FIELDS = (
    "question",
    "model_response",
    "groundtruth_response",
    "model_response_main_point",
    "groundtruth_main_point",
)
CRITERION = "correct"
WITH_REASONING = "correct, thoughts included"  # the notebook strips nothing from a response

NAME_A_JUDGE = (
    "rules do not judge the published edition, where one sentence for every question would score "
    "points: name a model as judge, in [suites.journeybench] of bench.toml or with --judge"
)
"""Why an answer of the published edition has no points without a judge model."""


def judge(answered: Sequence[AnsweredQuestion], model: ChatModel) -> list[Judgement]:
    """Judge each prediction's agreement with people's answers; unreadable verdicts are retried.

    A prediction with reasoning is judged a second time with it, for the official scorer.
    """
    requests = [_verdict_request(pair, pair.prediction.text, CRITERION) for pair in answered]
    requests += [
        _verdict_request(pair, pair.prediction.raw_text, WITH_REASONING)
        for pair in answered
        if pair.prediction.has_reasoning
    ]
    return [rows[0] for rows in ask_for_verdicts(requests, model, NO_VERDICT)]


def judge_by_rules(answered: Sequence[AnsweredQuestion]) -> list[Judgement]:
    """Call a prediction right if it is one of people's answers as a whole, without a model.

    Any other prediction is called wrong, with ``UNREAD`` as the response.
    """
    return [_rule_judgement(*pair) for pair in answered]


def score(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Give a point if the judge calls the answer right; unscored if its verdict is unreadable.

    The rules can be gamed by the form of an answer: in the editions ``published`` and ``own`` they
    give no points, so that their numbers are not compared with a judge's.
    """
    return _score(answered, [row for row in judgements if row.criterion != WITH_REASONING])


def score_officially(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Give a point if the judge calls the whole response right, reasoning included."""
    with_reasoning = [row for row in judgements if row.criterion == WITH_REASONING]
    return _score(answered, with_reasoning or judgements)


def by_trigger_and_image_source(question: Question) -> Sequence[str]:
    """Slice by the question's trigger, and by the image's source."""
    return question.category, question.labels["image_source"]


def _score(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    needs_model = answered.question.edition in ("published", "own")
    points, note = verdict_points(judgements, "does not print the JSON that was asked for")
    if needs_model and any(judgement.by_rules for judgement in judgements):
        points, note = None, NAME_A_JUDGE
    text = answered.prediction.text.strip()
    return Score.of(answered.prediction, points=points, answer=(text,) if text else (), note=note)


def _verdict_request(pair: AnsweredQuestion, response: str, criterion: str) -> VerdictRequest:
    prompt = judge_prompt(pair.question, response)
    return VerdictRequest(*pair, prompt=prompt, read=_verdict, criterion=criterion)


def _verdict(response: Response) -> bool | None:
    """Read the verdict in a judge's JSON; None if a field is missing or of another type.

    Other fields, and the judge's reasoning, are ignored.
    """
    value = read_json(response.parts.answer)
    if not isinstance(value, dict):
        return None
    has_texts = all(isinstance(value.get(name), str) for name in _TEXT_FIELDS)
    verdict = value.get("is_prediction_correct")
    return verdict if has_texts and isinstance(verdict, bool) else None


def _rule_judgement(question: Question, prediction: Prediction) -> Judgement:
    judgement = partial(Judgement.of, prediction, judge=RULES, criterion=CRITERION)
    for truth in question.answer:
        reading = read_one_of("choice", prediction.text, [truth, *_other_counts(truth)])
        if reading is not None and reading.value in question.answer:
            return judgement(verdict=True, response=f"gives {reading.value!r}: {reading.note}")
    return judgement(verdict=False, response=UNREAD)


_COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _other_counts(truth: str) -> list[str]:
    """Counts that an answer must not name besides the true one; [] if the truth is no count."""
    count = parse_quantity(truth)
    if count is None:
        return []
    return [word for word in _COUNTS if parse_quantity(word) != count]
