"""Scorers of MULTI, and the measures over their points (section 4.3)."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from bench_assets.core.extras import require_extra
from bench_assets.core.metrics.captions import longest_common
from bench_assets.core.schema.rows import Judgement, Question, Score
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.evaluation.task import AnsweredQuestion, ScoredQuestion
from bench_assets.suites.multi.dataset.questions import NOT_PUBLISHED
from bench_assets.suites.multi.readers import (
    CURRENT,
    CURRENT_END,
    PAPER,
    Reader,
    careful_reader,
    says_image_is_missing,
)

if TYPE_CHECKING:
    from jieba import Tokenizer

# jieba takes quadratic time for a run of characters without words: long runs are split.
_LONG_RUN = re.compile("([\u4e00-\u9fd5]{2048})(?=[\u4e00-\u9fd5])")

REFUSED = "says that the image is missing"  # note of a score


def score_carefully(answered: AnsweredQuestion, _: Sequence[Judgement]) -> Score:
    """Score the answer that a response states, or the one option that it names."""
    return _score(answered, careful_reader(answered.question), answered.prediction.text)


def score_as_printed(answered: AnsweredQuestion, _: Sequence[Judgement]) -> Score:
    """Score as the authors' script did for the paper's tables."""
    return _score(answered, PAPER, _raw_response(answered))


def score_as_today(answered: AnsweredQuestion, _: Sequence[Judgement]) -> Score:
    """Score as the authors' script does today, by the first letters of a response."""
    return _score(answered, CURRENT, _raw_response(answered))


def score_as_today_from_the_end(answered: AnsweredQuestion, _: Sequence[Judgement]) -> Score:
    """Score as the authors' script does today, by the last letters of a response."""
    return _score(answered, CURRENT_END, _raw_response(answered))


def max_points(question: Question) -> float:
    """Return the most points of a question: 1 for SA and OP, 1 per right option (MA) or blank (FB).

    OP has one point each, as in the paper's results, although Table 9 has 1,205 for 798 questions.
    Questions of type Other, or without a published answer, have none.
    """
    if question.category == "Other" or question.answer == (NOT_PUBLISHED,):
        return 0.0
    return float(len(question.answer)) if question.category in ("MA", "FB") else 1.0


def score_ratio(scored: Sequence[ScoredQuestion]) -> Mean:
    """Points won over points possible (section 4.3); a missing response wins none.

    Missing responses also count in ``n_unscored``, which shows that the value is incomplete.
    """
    return _average_points(
        scored, lambda points, possible: ScoredPoint(points / possible, weight=possible)
    )


def accuracy(scored: Sequence[ScoredQuestion]) -> Mean:
    """Share of questions with all their points: "MA Acc." of Table 4 over the MA questions.

    The authors' ROUGE-L of two equal texts is 0.999999995, which counts as a full point here.
    """
    return _average_points(
        scored, lambda points, possible: ScoredPoint(float(points >= possible * (1 - 1e-6)))
    )


def refusals(scored: Sequence[ScoredQuestion]) -> Mean:
    """Share of the points of questions with images whose response says that they are missing."""
    points = []
    for scored_question in scored:
        question, score = scored_question
        possible = _possible_points(scored_question)
        if question.labels["images"] != "NI" and possible:
            refused = None if score.error else float(score.note == REFUSED)
            points.append(ScoredPoint(refused, question.cluster, weight=possible))
    return mean(points)


def slices(question: Question) -> Sequence[str]:
    """Slices of a question: type, number of images, level, subject, difficulty and quality."""
    labels = question.labels
    named_slices = [
        f"{name} {labels[name]}" for name in ("subject", "difficulty", "quality") if labels[name]
    ]
    columns = (question.category, labels["images"], labels["level"])
    return [*filter(None, columns), *named_slices]


def rouge_l(text: str, reference: str) -> float:
    """ROUGE-L (F1) over Chinese words, as rouge_chinese computes it, in [0, 1].

    Zero if either text is blank.
    """
    if not text.strip() or not reference.strip():
        return 0.0
    text_words, reference_words = _words(text), _words(reference)
    common = longest_common(text_words, reference_words)
    precision, recall = common / len(text_words), common / len(reference_words)
    return 2 * precision * recall / (precision + recall + 1e-8)


def _raw_response(answered: AnsweredQuestion) -> str:
    """Return the whole response with its reasoning, as the authors' scripts get it."""
    return answered.prediction.raw_text or answered.prediction.text


def _score(answered: AnsweredQuestion, reader: Reader, raw: str) -> Score:
    """Score a raw response as a reader reads it; its note is ``REFUSED`` if it is a refusal."""
    question, prediction = answered
    possible = max_points(question)
    if question.answer == (NOT_PUBLISHED,) and question.category != "Other":
        note = "the answer is not published"
        return Score.of(prediction, points=None, max_points=possible, note=note)
    response = reader.clean(raw)
    if reader.refuses(response):
        return Score.of(prediction, points=0.0, max_points=possible, note=REFUSED)
    answer = _read_answer(question, response, reader)
    points = _points(question, answer, reader)
    note = REFUSED if says_image_is_missing(prediction.text) else ""
    return Score.of(prediction, points=points, answer=answer, max_points=possible, note=note)


def _read_answer(question: Question, response: str, reader: Reader) -> tuple[str, ...]:
    """Read the letters, the lines or the text of an answer, by the type of the question."""
    if question.category == "SA":
        return tuple(reader.letter(response))
    if question.category == "MA":
        return tuple(reader.letters(response))
    if question.category == "FB":
        return reader.blanks(response)
    return (response,)


def _points(question: Question, answer: tuple[str, ...], reader: Reader) -> float:
    """Points of an answer, by the type of the question; none for type Other."""
    match question.category:
        case "SA":
            return float(answer == question.answer)
        case "MA":  # one point per right option, none if a wrong one is chosen
            return float(len(answer)) if set(answer) <= set(question.answer) else 0.0
        case "FB":
            pairs = zip(answer, question.answer, strict=False)  # extra lines are ignored
            return float(sum(reader.matches(line, gold) for line, gold in pairs))
        case "OP":
            return rouge_l(answer[0], reader.reference(question.answer[0]))
    return 0.0


def _average_points(
    scored: Sequence[ScoredQuestion], make_point: Callable[[float, float], ScoredPoint]
) -> Mean:
    """Average ``make_point(points, possible points)`` over the questions that have points."""
    points, n_unscored = [], 0
    for scored_question in scored:
        possible = _possible_points(scored_question)
        if not possible:
            continue
        question, score = scored_question
        if score.points is None:
            n_unscored += 1
        points.append(make_point(score.points or 0.0, possible)._replace(cluster=question.cluster))
    return mean(points)._replace(n_scored=len(points) - n_unscored, n_unscored=n_unscored)


def _possible_points(scored_question: ScoredQuestion) -> float:
    """Points that can be won; they are computed for a score with an error, which has none."""
    question, score = scored_question
    return max_points(question) if score.error else score.max_points


def _words(text: str) -> list[str]:
    """Segment a text by lines and sentences as rouge_chinese does, where blank lines are words."""
    require_extra("the points of Chinese texts (MULTI)", "jieba", "rouge_chinese")
    from rouge_chinese import Rouge

    words = (word for run in _LONG_RUN.split(text) if run for word in _segmenter().cut(run))
    lines = Rouge().cut_sent(" ".join(words))
    return [word for line in lines if line for word in line.split() or [""]]


@cache
def _segmenter() -> "Tokenizer":
    """Load jieba's dictionary; its own loader would write a cache outside the home folder."""
    import jieba

    segmenter = jieba.Tokenizer()
    segmenter.FREQ, segmenter.total = segmenter.gen_pfdict(segmenter.get_dict_file())
    segmenter.initialized = True
    return segmenter
