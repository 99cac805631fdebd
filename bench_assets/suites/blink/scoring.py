"""Scores BLINK: which option a reply chooses, by rules and after them a judge; accuracies.

Three readings. ``careful`` reads the usual forms (``core.choices``) and leaves a reply unread that
names two options. ``official`` is the authors': their rules, and after them the judge's reply word
for word, so that "(C) Point C" is wrong where "(C)" is right. ``as_released`` takes the judge's
word first where it was recorded, as the authors' files have it: for eight replies of the released
models that is not what their rules read, and their published numbers are of the files.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial

from bench_assets.core.asking import RECORDED, Asked, ask_for_verdicts, at_first, at_last
from bench_assets.core.chat import ChatModel, Reply
from bench_assets.core.choices import read_choice
from bench_assets.core.reasoning import without_reasoning
from bench_assets.core.rows import Judgement, Prediction, Question, Score
from bench_assets.core.stats import Mean, Point, macro_mean, mean
from bench_assets.core.verdicts import NO_OPTION, cut_off, read_option
from bench_assets.suites.blink import prompts
from bench_assets.suites.blink.reading import OPTIONS, official_option
from bench_assets.task import RULES, Answered, Scored

CRITERION = "option"
WITH_THOUGHTS = "option, thoughts included"  # their script takes nothing off a reply
FAILED = "(Z)"  # what a judge says of a reply that chooses no option


def judge(answered: Sequence[Answered], model: ChatModel) -> list[Judgement]:
    """Ask which option is meant by each reply that one of the readings leaves unread.

    A reply that came with thoughts is shown with them for ``official``. Of a judge whose words are
    recorded, all are taken.
    """
    recorded = model.signature.startswith(RECORDED)
    texts = [
        (pair, CRITERION, pair.prediction.text)
        for pair in answered
        if recorded or _needs_judge(*pair)
    ]
    texts += [
        (pair, WITH_THOUGHTS, pair.prediction.raw_text)
        for pair in answered
        if not recorded and _thinks(pair.prediction) and _as_the_authors(*pair) is None
    ]
    asked = [
        Asked(
            *pair, prompts.judge(pair.question, text), partial(_verdict, pair.question), criterion
        )
        for pair, criterion, text in texts
    ]
    return [row for rows in ask_for_verdicts(asked, model, prompts.NO_OPTION) for row in rows]


def judge_by_rules(answered: Sequence[Answered]) -> list[Judgement]:
    """Take what the rules do not read as an answer that chooses no option."""
    return [
        Judgement.of(pair.prediction, judge=RULES, criterion=CRITERION, verdict=False, reply=FAILED)
        for pair in answered
        if _needs_judge(*pair) or _as_the_authors(*pair) is None
    ]


def score_carefully(answered: Answered, judgements: Sequence[Judgement]) -> Score:
    """Give a point if the option that the reply commits to, or that the judge finds, is right.

    Unscored if the judge is needed and says neither an option nor "(Z)".
    """
    question, prediction = answered
    choice = read_choice(prediction.text, question.options)
    if choice.letter is not None:
        return _score(answered, choice.letter, choice.why)
    about = _without_thoughts(at_last(judgements))
    if (unjudged := _unjudged(about)) is not None:
        return Score.of(prediction, points=None, note=f"{choice.why}; {unjudged}")
    said = about[0].reply
    note = f"{choice.why}; the judge says {without_reasoning(said)}"
    letter = read_option(said, question.options)
    if letter is None:
        return Score.of(prediction, points=None, note=note)
    return _score(answered, None if letter == NO_OPTION else letter, note)


def score_officially(answered: Answered, judgements: Sequence[Judgement]) -> Score:
    """Give a point if the authors' rules, or else the judge word for word, say the right option.

    Their script asks once: what the judge said at first counts. What a model thinks aloud is part
    of what it says.
    """
    said = at_first(judgements)
    option = _as_the_authors(*answered)
    if option is None:
        about = [one for one in said if one.criterion == WITH_THOUGHTS] or said
        if (unjudged := _unjudged(about)) is not None:
            return Score.of(answered.prediction, points=None, note=unjudged)
        option = without_reasoning(about[0].reply)
    letter = option[1] if option in OPTIONS else None
    return _score(answered, letter, option)


def score_as_released(answered: Answered, judgements: Sequence[Judgement]) -> Score:
    """Give a point if the judge word for word, or where it says nothing the rules, are right."""
    said = [one.reply for one in _without_thoughts(at_first(judgements)) if not one.error]
    if len(said) != 1:
        return score_officially(answered, judgements)
    option = without_reasoning(said[0])
    return _score(answered, option[1] if option in OPTIONS else None, option)


def accuracy(scored: Sequence[Scored]) -> Mean:
    """Average the accuracies of the tasks, each counting the same (Table 1)."""
    return macro_mean(_by_task(scored).values())


def accuracy_micro(scored: Sequence[Scored]) -> Mean:
    """Share of all questions answered correctly; the paper does not print it."""
    return mean(point for points in _by_task(scored).values() for point in points)


def chance(scored: Sequence[Scored]) -> Mean:
    """What picking an option at random gives on average: 38.10 % over the 14 tasks."""
    shares: dict[str, list[float]] = defaultdict(list)
    for question, _ in scored:
        shares[question.category].append(1 / len(question.options))
    if not shares:
        return mean([])
    value = sum(sum(of_task) / len(of_task) for of_task in shares.values()) / len(shares)
    return Mean(value, value, value, len(scored), 0)


def _by_task(scored: Iterable[Scored]) -> dict[str, list[Point]]:
    tasks: dict[str, list[Point]] = defaultdict(list)
    for question, score in scored:
        tasks[question.category].append(Point(score.points, question.cluster))
    return tasks


def _needs_judge(question: Question, prediction: Prediction) -> bool:
    unread = _as_the_authors(question, prediction) is None and not _thinks(prediction)
    return unread or read_choice(prediction.text, question.options).letter is None


def _thinks(prediction: Prediction) -> bool:
    return prediction.raw_text.strip() not in ("", prediction.text.strip())


def _as_the_authors(question: Question, prediction: Prediction) -> str | None:
    whole = prediction.raw_text if _thinks(prediction) else prediction.text
    return official_option(whole, len(question.options))


def _without_thoughts(judgements: Iterable[Judgement]) -> list[Judgement]:
    return [one for one in judgements if one.criterion != WITH_THOUGHTS]


def _verdict(question: Question, reply: Reply) -> bool | None:
    """Whether the judge finds the right option; None if it says neither an option nor "(Z)"."""
    letter = None if cut_off(reply) else read_option(reply.said.answer, question.options)
    return None if letter is None else (letter,) == question.answer


def _unjudged(judgements: Sequence[Judgement]) -> str | None:
    """Say why there is no word of the judge, if there is none."""
    if len(judgements) != 1:
        return f"{len(judgements)} judgements instead of one"
    error = judgements[0].error
    return f"the judge gave no reply: {error}" if error else None


def _score(answered: Answered, letter: str | None, note: str) -> Score:
    answer = () if letter is None else (letter,)
    right = answer == answered.question.answer
    return Score.of(answered.prediction, points=float(right), answer=answer, note=note)
