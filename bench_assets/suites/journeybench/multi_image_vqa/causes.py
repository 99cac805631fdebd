"""Turns COPA's causes and effects into pairs of pictures (section 3.5).

COPA in the layout of SuperGLUE: a premise, two alternatives, which of them is asked for ("cause" or
"effect" of the premise), and the label of the right one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bench_assets.core.chat import Prompt
from bench_assets.core.errors import SourceError
from bench_assets.core.json_entries import field, read_lines
from bench_assets.core.rows import Rejection
from bench_assets.suites.journeybench.multi_image_vqa.pairs import Pairs, PlannedPair
from bench_assets.suites.journeybench.multi_image_vqa.source import CAUSE
from bench_assets.suites.journeybench.source import CAUSE_ANSWERS
from bench_assets.suites.journeybench.writing import Written, json_objects, text_fields

_DRAW = """\
Cause: {cause}
Effect: {effect}

Can each of these two events be seen in a picture of its own? If so, print a JSON list with one \
object and nothing else; print [] if not. The object has two fields, "cause" and "effect": prompts \
for an image generator, each for a picture of one event that shows nothing of the other."""

_QUESTION = (
    "One of the two pictures shows what made happen what the other one shows. Which picture shows "
    "the {asked}?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseAndEffect:
    """Two events, one of which is why the other happened."""

    event_id: str  # "copa-17": COPA's own number
    cause: str
    effect: str


def read_copa(file: Path) -> list[CauseAndEffect]:
    """Read a file of COPA in its order.

    Raises:
        SourceError: If it cannot be read, or an entry asks for neither cause nor effect or has no
            label.
    """
    found = []
    for entry, where in read_lines(file):
        asked = field(entry, "question", str, where)
        label = field(entry, "label", int, where)
        if asked not in ("cause", "effect") or label not in (0, 1):
            raise SourceError(
                f"{where}: question is {asked!r} and label {label}, expected 'cause' or 'effect' "
                "and 0 or 1"
            )
        premise = field(entry, "premise", str, where).strip()
        right = field(entry, f"choice{label + 1}", str, where).strip()
        cause, effect = (right, premise) if asked == "cause" else (premise, right)
        event_id = f"copa-{field(entry, 'idx', int, where)}"
        found.append(CauseAndEffect(event_id=event_id, cause=cause, effect=effect))
    return found


def prompts(events: Iterable[CauseAndEffect]) -> dict[str, Prompt]:
    """Ask how the two events could be seen, by request id."""
    return {
        f"{event.event_id}/pictures": Prompt.of(
            _DRAW.format(cause=event.cause, effect=event.effect)
        )
        for event in events
    }


def plan_causes(events: Sequence[CauseAndEffect], replies: Sequence[Written]) -> Pairs:
    """Plan two pictures for every pair of events that can be seen.

    Which picture comes first and which event is asked for is drawn from the event's id.

    Args:
        events: All that were asked about.
        replies: One for each of them, in order.
    """
    planned = Pairs([], [])
    for event, reply in zip(events, replies, strict=True):
        proposals = None if reply.error else json_objects(reply.text)
        texts = text_fields(proposals[0], ("cause", "effect")) if proposals else None
        if texts is None:
            reason = reply.error or ("cannot be seen" if proposals == [] else "unreadable reply")
            planned.rejections.append(Rejection(entry=reply.request_id, reason=reason))
            continue
        planned.pairs.append(_pair(event, texts, Random(event.event_id)))
    return planned


def _pair(event: CauseAndEffect, texts: dict[str, str], rng: Random) -> PlannedPair:
    order = rng.sample(["cause", "effect"], 2)
    asked = rng.choice(["cause", "effect"])
    return PlannedPair(
        item_id=event.event_id,
        question=_QUESTION.format(asked=asked),
        answer=CAUSE_ANSWERS[order.index(asked)],
        category=CAUSE,
        solution="",
        pictures=tuple(f"{event.event_id}-{n}.png" for n in (1, 2)),
        prompts=tuple(texts[name] for name in order),
        seeds=(rng.randrange(2**31), rng.randrange(2**31)),
    )
