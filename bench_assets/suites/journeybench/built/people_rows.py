"""What people answered, as JourneyBench's own rows of votes and captions."""

from collections.abc import Sequence
from typing import TypedDict

from bench_assets.people.forms import Answer
from bench_assets.people.item_ids import parts_of
from bench_assets.suites.journeybench.raw import (
    CaptionVote,
    FilterVote,
    LookAlikeVote,
    StatementVote,
    TriggerVote,
    WrittenCaption,
)


class _Told(TypedDict):
    """What every row tells of how it was said."""

    seconds: float | None
    at: str
    tool: str


def filter_votes(answers: Sequence[Answer]) -> list[FilterVote]:
    """Read votes on pictures of the gallery."""
    return [
        FilterVote(
            picture=picture,
            annotator=one.person,
            unusual=_yes(one, "unusual"),
            fictional=_yes(one, "fictional"),
            comprehensible=_yes(one, "comprehensible"),
            **_told(one),
        )
        for one in answers
        for (picture,) in [parts_of(one.item_id)]
    ]


def written(answers: Sequence[Answer]) -> list[WrittenCaption]:
    """Read captions."""
    return [
        WrittenCaption(
            picture=picture,
            writer=one.person,
            caption=one.values["caption"][0],
            **_told(one),
        )
        for one in answers
        for (picture,) in [parts_of(one.item_id)]
    ]


def caption_votes(answers: Sequence[Answer]) -> list[CaptionVote]:
    """Read votes on captions."""
    return [
        CaptionVote(
            picture=picture,
            writer=writer,
            verifier=one.person,
            accepts=_yes(one, "accepts"),
            **_told(one),
        )
        for one in answers
        for picture, writer in [parts_of(one.item_id)]
    ]


def statement_votes(answers: Sequence[Answer]) -> list[StatementVote]:
    """Read votes on statements, by their words."""
    return [
        StatementVote(
            picture=picture,
            statement=statement,
            annotator=one.person,
            conflicts=_yes(one, "conflicts"),
            **_told(one),
        )
        for one in answers
        for picture, statement in [parts_of(one.item_id)]
    ]


def look_alike_votes(answers: Sequence[Answer]) -> list[LookAlikeVote]:
    """Read votes on pairs of pictures."""
    return [
        LookAlikeVote(
            picture=picture,
            candidate=candidate,
            annotator=one.person,
            alike=_yes(one, "alike"),
            conflicts=_yes(one, "conflicts"),
            **_told(one),
        )
        for one in answers
        for picture, candidate in [parts_of(one.item_id)]
    ]


def trigger_votes(answers: Sequence[Answer]) -> list[TriggerVote]:
    """Read votes on questions, by their words."""
    return [
        TriggerVote(
            picture=picture,
            question=question,
            annotator=one.person,
            accepts=_yes(one, "accepts"),
            **_told(one),
        )
        for one in answers
        for picture, question in [parts_of(one.item_id)]
    ]


def _told(answer: Answer) -> _Told:
    return {"seconds": answer.seconds, "at": answer.at, "tool": answer.tool}


def _yes(answer: Answer, field: str) -> bool:
    return answer.values[field] == ("yes",)
