"""The forms that every task has: about what models reply to it.

They are asked where bench.toml names them: ``[people.forms."codis/verdicts"]``.
"""

from functools import cache, partial

from bench_assets.core.rows import Judgement, Prediction, Question, Score
from bench_assets.people.mistakes import (
    CodeBook,
    CodeCount,
    CodedMistake,
    coded_mistakes,
    count_codes,
    mistake_form,
    mistake_items,
)
from bench_assets.people.preferences import (
    Preference,
    WinRate,
    preference_form,
    preference_items,
    preferences,
    win_rates,
)
from bench_assets.people.results import RightByPeople, right_shares
from bench_assets.people.suite_form import SuiteForm, Summary, TableOf
from bench_assets.people.verdicts import ReplyVerdict, reply_verdicts, verdict_form, verdict_items


def verdicts_form(task: str, title: str, *, judged: bool) -> SuiteForm:
    """Whether a reply is right.

    Args:
        task: Its name.
        title: As the paper spells it.
        judged: Whether somebody judges its replies, beside whom people's verdicts are laid.
    """
    form = verdict_form(task, title)
    reads = {"judgements": TableOf(f"{task}/judgements", Judgement)} if judged else {}
    return SuiteForm(
        form=form,
        reads={**_replies(task), **reads},
        items=partial(verdict_items, form),
        row=ReplyVerdict,
        to_rows=reply_verdicts,
        summary=Summary(
            "right",
            "the share of a model's replies that people call right",
            RightByPeople,
            right_shares,
        ),
    )


def preferences_form(task: str, title: str) -> SuiteForm:
    """Which of two replies is better."""
    form = preference_form(task, title)
    return SuiteForm(
        form=form,
        reads=_replies(task),
        items=partial(preference_items, form),
        row=Preference,
        to_rows=preferences,
        summary=Summary(
            "rates", "how often people prefer one model to another", WinRate, win_rates
        ),
    )


def mistakes_form(task: str, title: str, book: CodeBook) -> SuiteForm:
    """What went wrong in a reply."""
    form = mistake_form(task, title, book)
    return SuiteForm(
        form=form,
        reads={**_replies(task), "scores": TableOf(f"{task}/scores", Score)},
        items=partial(mistake_items, form),
        row=CodedMistake,
        to_rows=coded_mistakes,
        summary=Summary(
            "counts", "how many mistakes are of one kind", CodeCount, partial(count_codes, book)
        ),
    )


@cache  # the same forms for the same task: what is made of them is made once
def reply_forms(
    task: str, title: str, book: CodeBook, *, judged: bool
) -> tuple[SuiteForm, SuiteForm, SuiteForm]:
    """Verdicts, preferences and mistakes."""
    return (
        verdicts_form(task, title, judged=judged),
        preferences_form(task, title),
        mistakes_form(task, title, book),
    )


def _replies(task: str) -> dict[str, TableOf]:
    return {
        "questions": TableOf(f"{task}/questions", Question),
        "predictions": TableOf(f"{task}/predictions", Prediction),
    }
