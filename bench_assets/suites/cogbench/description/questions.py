"""Turns stories into one question per image, with everything that its description is scored by.

The labels of a question hold its entities, one per line, under ``"Entities"``, and its chains of
each kind, one per line, under the authors' name of the field, such as ``"Event Reasoning"``.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bench_assets.core.schema.rows import Edition, Question, StoredImage
from bench_assets.suites.cogbench.dataset.reasoning import (
    EVENT_RELATIONSHIP,
    KINDS,
    Kind,
    conclusion,
)
from bench_assets.suites.cogbench.dataset.source import Story, StoryChain

INSTRUCTION = "Describe this image in detail."  # section 3.3
_ENTITIES = "Entities"


class KeyPoint(NamedTuple):
    """Something that a description should mention (section 3.2)."""

    kind: Kind
    number: int  # from 1, within image and kind
    text: str  # the conclusion of a chain; for event relationships the whole chain

    @property
    def criterion(self) -> str:
        """Its name within a question, such as ``event/2``."""
        return f"{self.kind.code}/{self.number}"


def to_questions(
    stories: Iterable[Story],
    chains: Iterable[StoryChain],
    images: Mapping[str, StoredImage],
    edition: Edition,
) -> list[Question]:
    """Make one description question per image; the annotated description is the answer."""
    fields = {kind.name: kind.field for kind in KINDS}
    chain_texts: dict[str, dict[str, list[str]]] = {}
    for chain in chains:
        by_field = chain_texts.setdefault(chain.image_id, {})
        by_field.setdefault(fields[chain.kind], []).append(chain.text)
    return [
        Question(
            question_id=f"cogbench/description/{story.image_id}",
            task="cogbench/description",
            edition=edition,
            kind="text",
            text=INSTRUCTION,
            answer=(story.description,),
            images=(images[story.image].sha256,),
            group_id=story.image_id,
            labels={
                _ENTITIES: "\n".join(story.entities),
                **{
                    name: "\n".join(texts)
                    for name, texts in chain_texts.get(story.image_id, {}).items()
                },
            },
        )
        for story in stories
    ]


def entities(question: Question) -> list[str]:
    """List the annotated entities of an image, in order."""
    return question.labels.get(_ENTITIES, "").splitlines()


def key_points(question: Question) -> list[KeyPoint]:
    """List all key points of an image in the order of Table 1, including repeated ones."""
    return [
        KeyPoint(
            kind=kind,
            number=number,
            text=chain if kind == EVENT_RELATIONSHIP else conclusion(chain),
        )
        for kind in KINDS
        for number, chain in enumerate(question.labels.get(kind.field, "").splitlines(), 1)
    ]
