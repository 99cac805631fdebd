"""How far a form is, and when it will be finished at the speed of the last days."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bench_assets.annotation.answers.resolution import open_items
from bench_assets.annotation.tasks.forms import Answer, Unit
from bench_assets.annotation.tasks.identifiers import moment

_DAYS = 3  # that speed is taken of


@dataclass(frozen=True, slots=True, kw_only=True)
class FormProgress:
    """How far one form is."""

    form: str
    items: int  # attention checks not among them
    done: int  # with as many answers as they need
    in_work: int  # with some, and not enough
    untouched: int
    answers: int  # that count
    refused: int  # that do not, skips among them
    lacking: int  # answers
    people: tuple[str, ...]  # whose answers count
    per_day: float  # answers, in the last three days or since the first; 0: none came
    finished_at: str  # at this speed; "": done, or nobody answers


def progress_of(
    form: str, items: Sequence[Unit], answers: Sequence[Answer], now: datetime
) -> FormProgress:
    """Say how far a form is.

    Args:
        form: Its name.
        items: Those that are asked.
        answers: All, those that do not count with their complaints.
        now: With its zone.
    """
    counted = [one for one in answers if not one.complaint]
    wanted = [item for item in items if not item.gold]
    lacking = open_items(items, counted)
    started = sum(_started(item, lacking) for item in wanted)
    speed = _per_day(counted, now)
    missing = sum(lacking.values())
    rest = timedelta(days=missing / speed) if speed and missing else None
    return FormProgress(
        form=form,
        items=len(wanted),
        done=len(wanted) - len(lacking),
        in_work=started,
        untouched=len(lacking) - started,
        answers=len(counted),
        refused=len(answers) - len(counted),
        lacking=missing,
        people=tuple(sorted({one.person for one in counted})),
        per_day=speed,
        finished_at=moment(now + rest) if rest is not None and rest.days < 36500 else "",
    )


def _started(item: Unit, lacking: Mapping[str, int]) -> bool:
    return 0 < lacking.get(item.item_id, 0) < item.needed


def _per_day(counted: Sequence[Answer], now: datetime) -> float:
    """Answers a day: in the last days, or since the first of them where that is later."""
    since = moment(now - timedelta(days=_DAYS))
    recent = sorted(one.at for one in counted if one.at and one.at >= since)
    if not recent:
        return 0.0
    first = datetime.fromisoformat(recent[0]).astimezone(UTC)
    answered_before = any(one.at < since for one in counted if one.at)
    days = _DAYS if answered_before else max((now - first) / timedelta(days=1), 1 / 1440)
    return len(recent) / days
