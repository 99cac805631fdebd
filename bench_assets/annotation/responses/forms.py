"""Annotation forms about model responses that every task has.

They are asked where bench.toml names them: ``[people.forms."codis/verdicts"]``.

What comes of people's answers about models' responses, as tables: shares with their intervals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

from bench_assets.annotation.responses.error_analysis import (
    CodeBook,
    CodeCount,
    CodedMistake,
    coded_mistakes,
    count_codes,
    mistake_form,
    mistake_items,
)
from bench_assets.annotation.responses.preferences import (
    Preference,
    WinRate,
    preference_form,
    preference_items,
    preferences,
    win_rates,
)
from bench_assets.annotation.responses.verdicts import (
    PEOPLE,
    ResponseVerdict,
    response_verdicts,
    right_by_people,
    verdict_form,
    verdict_items,
)
from bench_assets.annotation.tasks.forms import SuiteForm, Summary, TableOf
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class RightByPeople:
    """The share of one model's sampled responses that people call right."""

    model: str
    judge: str
    n: int  # responses that most could judge, and were not divided about
    share: float
    low: float  # of the 95 % interval
    high: float


def right_shares(
    verdicts: Sequence[ResponseVerdict], predictions: Sequence[Prediction]
) -> list[RightByPeople]:
    """Score models by the judge named people, on the sample that people saw."""
    return [
        RightByPeople(
            model=model,
            judge=PEOPLE,
            n=found.n_scored,
            share=found.value,
            low=found.low,
            high=found.high,
        )
        for model, found in right_by_people(verdicts, predictions).items()
    ]


def verdicts_form(task: str, title: str, *, judged: bool) -> SuiteForm:
    """Whether a response is right.

    Args:
        task: Its name.
        title: As the paper spells it.
        judged: Whether somebody judges its responses, beside whom people's verdicts are laid.
    """
    form = verdict_form(task, title)
    reads = {"judgements": TableOf(f"{task}/judgements", Judgement)} if judged else {}
    return SuiteForm(
        form=form,
        reads={**_responses(task), **reads},
        items=partial(verdict_items, form),
        row=ResponseVerdict,
        to_rows=response_verdicts,
        summary=Summary(
            "right",
            "the share of a model's responses that people call right",
            RightByPeople,
            right_shares,
        ),
    )


def preferences_form(task: str, title: str) -> SuiteForm:
    """Which of two responses is better."""
    form = preference_form(task, title)
    return SuiteForm(
        form=form,
        reads=_responses(task),
        items=partial(preference_items, form),
        row=Preference,
        to_rows=preferences,
        summary=Summary(
            "rates", "how often people prefer one model to another", WinRate, win_rates
        ),
    )


def mistakes_form(task: str, title: str, book: CodeBook) -> SuiteForm:
    """What went wrong in a response."""
    form = mistake_form(task, title, book)
    return SuiteForm(
        form=form,
        reads={**_responses(task), "scores": TableOf(f"{task}/scores", Score)},
        items=partial(mistake_items, form),
        row=CodedMistake,
        to_rows=coded_mistakes,
        summary=Summary(
            "counts", "how many mistakes are of one kind", CodeCount, partial(count_codes, book)
        ),
    )


@cache  # the same forms for the same task: what is made of them is made once
def response_forms(
    task: str, title: str, book: CodeBook, *, judged: bool
) -> tuple[SuiteForm, SuiteForm, SuiteForm]:
    """Verdicts, preferences and mistakes."""
    return (
        verdicts_form(task, title, judged=judged),
        preferences_form(task, title),
        mistakes_form(task, title, book),
    )


def _responses(task: str) -> dict[str, TableOf]:
    return {
        "questions": TableOf(f"{task}/questions", Question),
        "predictions": TableOf(f"{task}/predictions", Prediction),
    }
