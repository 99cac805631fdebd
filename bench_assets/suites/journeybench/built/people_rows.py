"""What people answered, as JourneyBench's own rows of votes and captions."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

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

Row = TypeVar("Row")


def _votes(
    row: Callable[..., Row], who: str, about: Sequence[str], asked: Sequence[str]
) -> Callable[[Sequence[Answer]], list[Row]]:
    """Make what reads answers to a form as votes.

    Args:
        row: Makes one vote.
        who: Its field for the person.
        about: Its fields for what the item is, by the parts of the item's id.
        asked: Its fields for what is answered with yes or no; the form's are called the same.
    """

    def read(answers: Sequence[Answer]) -> list[Row]:
        return [
            row(
                **dict(zip(about, parts_of(one.item_id), strict=True)),
                **{who: one.person},
                **{name: one.values[name] == ("yes",) for name in asked},
                **_told(one),
            )
            for one in answers
        ]

    return read


filter_votes = _votes(
    FilterVote, "annotator", ["picture"], ["unusual", "fictional", "comprehensible"]
)
caption_votes = _votes(CaptionVote, "verifier", ["picture", "writer"], ["accepts"])
statement_votes = _votes(StatementVote, "annotator", ["picture", "statement"], ["conflicts"])
look_alike_votes = _votes(
    LookAlikeVote, "annotator", ["picture", "candidate"], ["alike", "conflicts"]
)
trigger_votes = _votes(TriggerVote, "annotator", ["picture", "question"], ["accepts"])


def written(answers: Sequence[Answer]) -> list[WrittenCaption]:
    """Read captions."""
    return [
        WrittenCaption(
            picture=picture, writer=one.person, caption=one.values["caption"][0], **_told(one)
        )
        for one in answers
        for (picture,) in [parts_of(one.item_id)]
    ]


def _told(answer: Answer) -> dict[str, Any]:
    """What every row tells of how it was said."""
    return {"seconds": answer.seconds, "at": answer.at, "tool": answer.tool}
