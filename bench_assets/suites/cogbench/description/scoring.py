"""The Cognition Score (section 3.2, appendix C): the share of key points that descriptions mention.

A key point is the conclusion of a chain or, for event relationships, a whole chain. A judge model
or the rules give a verdict on each; the score of a kind, and of all, is a micro mean over images.
The careful scorer reads verdicts by their printed number, the official one by position.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from bench_assets.core.judging.verdict_requests import JudgeCall, JudgeResponse, call_judge
from bench_assets.core.judging.verdicts import is_truncated
from bench_assets.core.reading.numbered_verdicts import read_numbered_verdicts
from bench_assets.core.schema.chat import ChatModel, Request, Response
from bench_assets.core.schema.rows import UNREAD, Judgement, Prediction, Question, Score
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.evaluation.task import RULES, AnsweredQuestion, Measure, ScoredQuestion
from bench_assets.suites.cogbench.dataset.reasoning import (
    EVENT_RELATIONSHIP,
    KINDS,
    Kind,
    content_words,
    read_chain,
    word_share,
)
from bench_assets.suites.cogbench.description import prompts
from bench_assets.suites.cogbench.description.questions import KeyPoint, key_points

TRIES = 5  # requests for one response of a judge, at most, as in the authors' cognition_gpt_eval.py
WITH_REASONING = ", thoughts included"  # suffix of a criterion: their code keeps the reasoning


class _JudgeCall(NamedTuple):
    """A judge's prompt about some key points of one description."""

    prediction: Prediction
    question: Question
    text: str  # of the description
    criterion_suffix: str  # WITH_REASONING or ""
    points: list[KeyPoint]


def judge(answered: Sequence[AnsweredQuestion], model: ChatModel) -> list[Judgement]:
    """Ask a judge which key points a description mentions, all of an image at once (appendix C).

    Event relationships are a separate call. Unreadable verdicts are requested again with the
    complaint; the authors repeat the prompt as often, up to five requests in all. A description
    with thoughts is judged a second time with them, for the official scorer: the authors' code
    strips nothing.
    """
    calls = [call for pair in answered for call in _judge_calls(pair)]
    requests = [
        JudgeCall(_request(call), partial(_count_unread, len(call.points))) for call in calls
    ]
    responses = call_judge(requests, model, prompts.NO_VERDICT, TRIES)
    return [
        judgement
        for call, response in zip(calls, responses, strict=True)
        for judgement in _judgements(call, model.name, response)
    ]


def points_by_call(answered: AnsweredQuestion) -> list[list[KeyPoint]]:
    """Key points of an image, one list for each call of the judge."""
    points = key_points(answered.question)
    conclusions = [point for point in points if point.kind != EVENT_RELATIONSHIP]
    relationships = [point for point in points if point.kind == EVENT_RELATIONSHIP]
    return [call_points for call_points in (conclusions, relationships) if call_points]


def _judge_calls(answered: AnsweredQuestion) -> list[_JudgeCall]:
    prediction = answered.prediction
    texts = {"": prediction.text}
    if prediction.raw_text not in ("", prediction.text):
        texts[WITH_REASONING] = prediction.raw_text
    return [
        _JudgeCall(
            prediction=prediction,
            question=answered.question,
            text=text,
            criterion_suffix=suffix,
            points=points,
        )
        for suffix, text in texts.items()
        for points in points_by_call(answered)
    ]


def _request(call: _JudgeCall) -> Request:
    texts = [point.text for point in call.points]
    if call.points[0].kind == EVENT_RELATIONSHIP:
        prompt = prompts.judge_event_relationships(call.text, texts)
    else:
        prompt = prompts.judge_key_points(call.text, texts)
    return Request(prompt=prompt, sample=call.prediction.sample, question=call.question)


def _count_unread(n_points: int, response: Response) -> int:
    return _read_verdicts(n_points, response).count(None)


def _read_verdicts(n_points: int, response: Response) -> list[bool | None]:
    """Read the verdicts of a response; None for an unreadable one.

    The last verdict of a response that was cut off is not read, nor is a copy of the prompt's
    example.
    """
    answer = response.parts.answer.replace(prompts.EXAMPLE, "")
    if is_truncated(response):
        lines, _, last_line = answer.rpartition("\n")
        answer = f"{lines}\n{last_line.rpartition('[')[0]}"
    return read_numbered_verdicts(answer, n_points)


def _judgements(call: _JudgeCall, judge: str, judge_response: JudgeResponse) -> Iterator[Judgement]:
    verdicts = _read_verdicts(len(call.points), judge_response.response)
    for point, verdict in zip(call.points, verdicts, strict=True):
        yield Judgement.from_response(
            call.prediction,
            judge_response.response,
            prompt=judge_response.request.prompt,
            judge=judge,
            criterion=f"{point.criterion}{call.criterion_suffix}",
            verdict=verdict,
        )


_OFFICIAL = re.compile(r"(?<!\d)\d++\.\s\[(\d++)\]")
_VERDICTS = {"0": False, "1": True}


def read_by_position(response: str, n: int) -> list[bool | None]:
    """Read as the authors' cognition_gpt_eval.py: the k-th match of "d. [d]" belongs to point k.

    The printed number is ignored; "1.[1]" and "1. [ ]" do not match; a response that is one digit
    or starts with "[d]" belongs to point 1. Points beyond the last match are None.

    >>> read_by_position("1. [ ] 2. [1]", 2), read_by_position("2. [0]  1. [1]", 2)
    ([True, None], [False, True])
    """
    text = response.strip()
    if re.fullmatch(r"\d", text):
        texts = [text]
    elif first := re.match(r"\[(\d)\]", text):
        texts = [first[1]]
    else:
        texts = _OFFICIAL.findall(text)
    verdicts = [_VERDICTS.get(verdict) for verdict in texts[:n]]
    return verdicts + [None] * (n - len(verdicts))


YES, NO, REPEATED = "yes", "no", "repeated"  # of Score.answer, per key point; or UNREAD

_MIN_WORD_SHARE = 0.75  # share of a key point's words; less would take "angry" for "sad"
_MAX_SENTENCE_WORDS = 12  # content words, up to which a sentence is no list
_LIST_RATIO = 3  # words per word shared with a key point, above which a sentence is a list
_SENTENCE_END = re.compile(r"[.!?;\n]+")


def judge_by_rules(answered: Sequence[AnsweredQuestion]) -> list[Judgement]:
    """Call a key point mentioned if a sentence has three quarters of its content words.

    Of a chain, each part has to be mentioned; a sentence that is a long list mentions nothing. The
    rules need no model and ignore meaning: they check the pipeline, not a model's cognition.
    """
    judgements = []
    for question, prediction in answered:
        sentences = [content_words(text) for text in _SENTENCE_END.split(prediction.text)]
        for point in key_points(question):
            share = min(_best_word_share(part, sentences) for part in _chain_parts(point.text))
            judgements.append(
                Judgement.of(
                    prediction,
                    judge=RULES,
                    criterion=point.criterion,
                    verdict=share >= _MIN_WORD_SHARE,
                    response=f"{share:.2f} of its words",
                )
            )
    return judgements


def _chain_parts(point: str) -> Sequence[str]:
    """The clues and the conclusion of a chain; a conclusion is one part."""
    chain = read_chain(point)
    return (point,) if isinstance(chain, str) else (*chain.premises, chain.conclusion)


def _best_word_share(text: str, sentences: Sequence[frozenset[str]]) -> float:
    """Share of a text's words in the sentence that has most of them; long lists do not count."""
    text_words = content_words(text)
    candidates = (
        sentence
        for sentence in sentences
        if len(sentence) <= max(_MAX_SENTENCE_WORDS, _LIST_RATIO * len(sentence & text_words))
    )
    return max((word_share(text, sentence) for sentence in candidates), default=0.0)


def score_by_number(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Give a point for each mentioned key point; unscored if a verdict is missing or unread."""
    verdicts = {judgement.criterion: judgement.verdict for judgement in judgements}
    words = [
        _verdict_word(verdicts.get(point.criterion)) for point in key_points(answered.question)
    ]
    return _score(answered, judgements, words)


def score_officially(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Score as the authors' scripts do: verdicts by position, equal key points once.

    Of equal key points of one kind the last verdict counts. Verdicts of the rules have no numbers
    and count as they are.
    """
    by_criterion = {judgement.criterion: judgement for judgement in judgements}
    # Where the text was judged with its reasoning too, that verdict counts.
    by_criterion |= {
        name.removesuffix(WITH_REASONING): judgement
        for name, judgement in by_criterion.items()
        if name.endswith(WITH_REASONING)
    }
    verdicts: dict[KeyPoint, str] = {}
    for points in points_by_call(answered):
        call_judgements = [by_criterion.get(point.criterion) for point in points]
        for point, verdict in zip(points, _official_verdicts(call_judgements), strict=True):
            verdicts[point] = _verdict_word(verdict)
    last_points = {(point.kind, point.text): point for point in verdicts}
    words = [
        verdicts[point] if last_points[point.kind, point.text] == point else REPEATED
        for point in key_points(answered.question)
    ]
    return _score(answered, judgements, words)


def _official_verdicts(judgements: Sequence[Judgement | None]) -> list[bool | None]:
    """Verdicts on the key points of one call; a judge's response is read by position."""
    present = [judgement for judgement in judgements if judgement is not None]
    if present and not present[0].by_rules:
        return read_by_position(present[0].response, len(judgements))
    return [judgement.verdict if judgement else None for judgement in judgements]


def cognition(scored: Sequence[ScoredQuestion], kinds: Sequence[Kind] = KINDS) -> Mean:
    """Cognition Score: the share of key points, of all kinds or some, that are mentioned."""
    return mean(_scored_points(scored, kinds))


def cognition_by_kind() -> dict[str, Measure]:
    """Cognition Score of each kind, named ``cognition_time`` and so on."""
    return {f"cognition_{kind.code}": partial(cognition, kinds=(kind,)) for kind in KINDS}


def _scored_points(
    scored: Sequence[ScoredQuestion], kinds: Sequence[Kind]
) -> Iterator[ScoredPoint]:
    """One point for each verdict on a key point of these kinds; repeated key points have none."""
    for question, score in scored:
        points = key_points(question)
        words = score.answer or (UNREAD,) * len(points)
        # For a bound of the metric, unread verdicts count as all yes or all no.
        if score.unread and score.points is not None:
            bound = YES if score.points else NO
            words = tuple(bound if word == UNREAD else word for word in words)
        for point, word in zip(points, words, strict=True):
            if point.kind in kinds and word != REPEATED:
                yield ScoredPoint({YES: 1.0, NO: 0.0}.get(word), question.cluster)


def _score(
    answered: AnsweredQuestion, judgements: Sequence[Judgement], words: Sequence[str]
) -> Score:
    unread = [
        point.criterion
        for point, word in zip(key_points(answered.question), words, strict=True)
        if word == UNREAD
    ]
    errors = sorted({judgement.error for judgement in judgements if judgement.error})
    notes = [f"no readable verdict on {', '.join(unread)}"] if unread else []
    return Score.of(
        answered.prediction,
        points=None if unread else float(words.count(YES)),
        max_points=float(len(words) - words.count(REPEATED)),
        answer=tuple(words),
        note="; ".join([*notes, *errors]),
    )


def _verdict_word(verdict: bool | None) -> str:
    if verdict is None:
        return UNREAD
    return YES if verdict else NO
