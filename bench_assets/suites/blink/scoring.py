"""Scorers of BLINK: the option a response chooses, read by rules and then by a judge; accuracies.

* ``careful`` reads what a response states (``core.reading``); the rest is left to a second look,
  with the paper's prompt, or without one read from the one option that it names.
* ``official`` applies the authors' rules (appendix A.3), then takes the judge's response verbatim:
  "(C) Point C" is wrong where "(C)" is right.
* ``as_released`` prefers the judge's recorded response, as the published numbers do: for 16
  of the 72,333 released responses it differs from what the authors' rules read.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

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
    last_paragraph = response.rsplit("\n\n", maxsplit=1)[-1]
    for text in (last_paragraph, response):
        mentioned = set(OPTIONS[:n_options]).intersection(text.split())
        if len(mentioned) == 1:
            return mentioned.pop()
    return None


def answer_form(question: Question) -> AnswerForm:
    """Return the form of an answer, a letter, with the paper's prompt for judges."""
    return AnswerForm("choice", question.options, prompt=prompts.judge)


WITH_REASONING = f"{ANSWER}, thoughts included"  # the authors' script does not strip reasoning
NO_OPTION_LETTER = "(Z)"  # the judge's response if no option is chosen


def judge(answered: Sequence[AnsweredQuestion], model: ChatModel) -> list[Judgement]:
    """Ask the judge about each response that one of the scorers leaves unread.

    For ``official``, a response with reasoning is judged with its reasoning. A recorded judge is
    asked about every response.
    """
    recorded = model.signature.startswith(RECORDED_PREFIX)
    requests = [
        answer_form(question).look(question, prediction, prediction.text, ANSWER)
        for question, prediction in answered
        if recorded or _needs_judge(question, prediction)
    ]
    if not recorded:
        requests += [
            answer_form(question).look(question, prediction, prediction.raw_text, WITH_REASONING)
            for question, prediction in answered
            if prediction.has_reasoning and _author_option(question, prediction) is None
        ]
    judgements = look_again(requests, model, prompts.NO_OPTION)
    return list(chain.from_iterable(judgements))


def judge_by_rules(answered: Sequence[AnsweredQuestion]) -> list[Judgement]:
    """Give the verdict "(Z)", no option, to responses that the rules cannot read."""
    return [
        Judgement.of(
            prediction, judge=RULES, criterion=ANSWER, verdict=False, response=NO_OPTION_LETTER
        )
        for question, prediction in answered
        if _needs_judge(question, prediction) or _author_option(question, prediction) is None
    ]


def score_carefully(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Score the option that a response states; if only rules have judged, also one it only names.

    Unscored if it states none, and rules have not judged.
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
    option = _author_option(*answered)
    if option is None:
        first = first_judgements(judgements)
        with_reasoning = [row for row in first if row.criterion == WITH_REASONING]
        relevant = with_reasoning or first
        if fault := judge_fault(relevant):
            return Score.of(answered.prediction, points=None, note=fault)
        option = strip_reasoning(relevant[0].response)
    return _score_option(answered, option)


def score_as_released(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Score the response of a model judge verbatim; without one, score as ``official``."""
    by_model = [row for row in first_judgements(judgements) if not (row.by_rules or row.error)]
    responses = [row.response for row in by_model if row.criterion != WITH_REASONING]
    if len(responses) != 1:
        return score_officially(answered, judgements)
    return _score_option(answered, strip_reasoning(responses[0]))


def chance(scored: Sequence[ScoredQuestion]) -> Mean:
    """Return the expected accuracy of random options: 38.10 % as the mean over all 14 tasks."""
    chances_by_task: dict[str, list[float]] = defaultdict(list)
    for question, _ in scored:
        chances_by_task[question.category].append(1 / len(question.options))
    if not chances_by_task:
        return mean([])
    task_means = [sum(chances) / len(chances) for chances in chances_by_task.values()]
    value = sum(task_means) / len(task_means)
    return Mean(value, low=value, high=value, n_scored=len(scored), n_unscored=0)


def _needs_judge(question: Question, prediction: Prediction) -> bool:
    """Whether a scorer needs a judgement of the response without its reasoning."""
    if not answer_form(question).is_stated(prediction.text):
        return True
    return _author_option(question, prediction) is None and not prediction.has_reasoning


def _author_option(question: Question, prediction: Prediction) -> str | None:
    """Read the option by the authors' rules, from the reasoning too if there is any."""
    response = prediction.raw_text if prediction.has_reasoning else prediction.text
    return official_option(response, len(question.options))


def _score_option(answered: AnsweredQuestion, option: str) -> Score:
    """Score an option in brackets; anything else chooses no option."""
    letter = option.strip("()") if option in OPTIONS else None
    return _score(answered, letter, option)


def _score(answered: AnsweredQuestion, letter: str | None, note: str) -> Score:
    answer = () if letter is None else (letter,)
    is_right = answer == answered.question.answer
    return Score.of(answered.prediction, points=float(is_right), answer=answer, note=note)
