"""Scorers of BLINK: the option a response chooses, read by rules and then by a judge; accuracies.

* ``careful`` reads what a response states (``core.reading``); the rest is left to a second look,
  with the paper's prompt, or without one read from the one option that it names.
* ``official`` applies the authors' rules (appendix A.3), then takes the judge's response verbatim:
  "(C) Point C" is wrong where "(C)" is right.
* ``as_released`` prefers the judge's recorded response, as the published numbers do: for eight
  responses of the released models it differs from what the authors' rules read.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from bench_assets.core.judging.second_look import ANSWER, AnswerForm, look_again
from bench_assets.core.judging.verdict_requests import RECORDED_PREFIX, first_judgements
from bench_assets.core.judging.verdicts import judge_fault
from bench_assets.core.reading.readings import UNREAD
from bench_assets.core.reading.reasoning import strip_reasoning
from bench_assets.core.schema.chat import ChatModel
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score
from bench_assets.core.stats.means import Mean, mean
from bench_assets.evaluation.task import RULES, AnsweredQuestion, ScoredQuestion
from bench_assets.suites.blink import prompts

_LETTERS = ("A", "B", "C", "D", "E")
OPTIONS = tuple(f"({letter})" for letter in _LETTERS)
"""Options that the authors' rules can read; for ``official``, all a judge may respond."""


def official_option(response: str, n_options: int) -> str | None:
    r"""Read an option by the authors' ``analyze_answer``; None if the judge must decide.

    1. The whole response is a letter from A to E, offered or not. Blanks are not stripped.
    2. The whole response is such a letter in brackets.
    3. Exactly one offered letter in brackets is a word, between blanks, of the last paragraph, or
       else of the whole response. "(A)." and "A" do not match.

    >>> official_option("B", 2), official_option("(E)", 2), official_option("It is (A) left", 2)
    ('(B)', '(E)', '(A)')
    >>> official_option("(A) or (B)?\n\nThe answer is (B) right", 2), official_option(" B", 2)
    ('(B)', None)
    """
    if response in _LETTERS:
        return f"({response})"
    if response in OPTIONS:
        return response
    offered = OPTIONS[:n_options]
    last = _separate_letters(response.rsplit("\n\n", maxsplit=1)[-1], offered)
    letters = _separate_letters(response, offered)
    if len(last) == 1:
        return last.pop()
    return letters.pop() if len(letters) == 1 else None


def _separate_letters(text: str, offered: Sequence[str]) -> set[str]:
    return set(offered) & set(text.split())


def answer_form(question: Question) -> AnswerForm:
    """A letter; readers are asked for it with the paper's prompt."""
    return AnswerForm("choice", question.options, prompt=prompts.judge)


WITH_REASONING = f"{ANSWER}, thoughts included"  # the authors' script does not strip reasoning
NO_OPTION_LETTER = "(Z)"  # the judge's response if no option is chosen


def judge(answered: Sequence[AnsweredQuestion], model: ChatModel) -> list[Judgement]:
    """Ask the judge about each response that one of the scorers leaves unread.

    For ``official``, a response with reasoning is judged with its reasoning. A recorded judge is
    asked about every response.
    """
    recorded = model.signature.startswith(RECORDED_PREFIX)
    texts = [
        (pair, ANSWER, pair.prediction.text) for pair in answered if recorded or _needs_judge(*pair)
    ]
    texts += [
        (pair, WITH_REASONING, pair.prediction.raw_text)
        for pair in answered
        if not recorded and _has_reasoning(pair.prediction) and _author_option(*pair) is None
    ]
    looks = [
        answer_form(pair.question).look(*pair, text, criterion) for pair, criterion, text in texts
    ]
    return [row for rows in look_again(looks, model, prompts.NO_OPTION) for row in rows]


def judge_by_rules(answered: Sequence[AnsweredQuestion]) -> list[Judgement]:
    """Give the verdict "(Z)", no option, to responses that the rules cannot read."""
    return [
        Judgement.of(
            pair.prediction,
            judge=RULES,
            criterion=ANSWER,
            verdict=False,
            response=NO_OPTION_LETTER,
        )
        for pair in answered
        if _needs_judge(*pair) or _author_option(*pair) is None
    ]


def score_carefully(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Score the option that a response states; without a second look, the one that it names.

    Unscored if it states none, and neither a judge nor rules have judged.
    """
    reading = answer_form(answered.question).read(answered.prediction.text)
    by_rules = [judgement for judgement in judgements if judgement.by_rules and not judgement.error]
    if reading is not None and (by_rules or not reading.named):
        return _score(answered, reading.value, reading.note)
    if not by_rules:
        return Score.of(answered.prediction, points=None, note=judge_fault([]))
    return _score(answered, None, UNREAD)


def score_officially(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Score the option that the authors' rules read, or else the judge's response verbatim.

    As in the authors' script, the judge's first response counts, and a model's reasoning is part
    of its response.
    """
    first = first_judgements(judgements)
    option = _author_option(*answered)
    if option is None:
        relevant = [
            judgement for judgement in first if judgement.criterion == WITH_REASONING
        ] or first
        if unjudged := judge_fault(relevant):
            return Score.of(answered.prediction, points=None, note=unjudged)
        option = strip_reasoning(relevant[0].response)
    letter = option[1] if option in OPTIONS else None
    return _score(answered, letter, option)


def score_as_released(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Score the judge's response verbatim; without one, score as ``official``."""
    responses = [
        judgement.response
        for judgement in _without_reasoning(first_judgements(judgements))
        if not judgement.error
    ]
    if len(responses) != 1:
        return score_officially(answered, judgements)
    option = strip_reasoning(responses[0])
    return _score(answered, option[1] if option in OPTIONS else None, option)


def chance(scored: Sequence[ScoredQuestion]) -> Mean:
    """Expected accuracy of a random option: 38.10 % over the 14 tasks."""
    shares: dict[str, list[float]] = defaultdict(list)
    for question, _ in scored:
        shares[question.category].append(1 / len(question.options))
    if not shares:
        return mean([])
    value = sum(sum(of_task) / len(of_task) for of_task in shares.values()) / len(shares)
    return Mean(value, value, value, len(scored), 0)


def _needs_judge(question: Question, prediction: Prediction) -> bool:
    unread = _author_option(question, prediction) is None and not _has_reasoning(prediction)
    return unread or not answer_form(question).is_stated(prediction.text)


def _has_reasoning(prediction: Prediction) -> bool:
    return prediction.raw_text.strip() not in ("", prediction.text.strip())


def _author_option(question: Question, prediction: Prediction) -> str | None:
    response = prediction.raw_text if _has_reasoning(prediction) else prediction.text
    return official_option(response, len(question.options))


def _without_reasoning(judgements: Iterable[Judgement]) -> list[Judgement]:
    return [judgement for judgement in judgements if judgement.criterion != WITH_REASONING]


def _score(answered: AnsweredQuestion, letter: str | None, note: str) -> Score:
    answer = () if letter is None else (letter,)
    right = answer == answered.question.answer
    return Score.of(answered.prediction, points=float(right), answer=answer, note=note)
