"""Annotation forms: annotate images (Figure 6) and review merged items (section 2.2, appendix A).

Written questions are reviewed by ``vqa.annotation``. The instructions are the paper's rules in
our words.
"""

import re
from collections.abc import Sequence

from bench_assets.annotation.answers.values import by_unit, most_said, word, words
from bench_assets.annotation.tasks import (
    AnnotationTask,
    Answer,
    Field,
    SuiteAnnotationTask,
    TableOf,
    Unit,
    parts_of,
    unit_id,
)
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.cogbench.construction.annotation_files import (
    DESCRIPTION,
    ENTITIES,
    AnnotatedItem,
    Review,
)
from bench_assets.suites.cogbench.construction.merging import MergedItem
from bench_assets.suites.cogbench.dataset.reasoning import KINDS
from bench_assets.suites.cogbench.dataset.source import RawAnnotation

_ANNOTATORS = 3  # of each image (section 2.2)
_IN_BRACKETS = re.compile(r"(?:\[[^\[\]]*\]\s*)+")  # as Figure 6 has chains, several too

_KIND_LABELS = {
    "time": "The special time of the story, such as a festival or a season, where it takes"
    " reasoning: daylight alone does not, a lamp or a clock may",
    "location": "Where the story happens, such as near a school",
    "character": "What the people in it are, such as a teacher or a doctor",
    "character_relationship": "How they stand to each other, such as friends",
    "event": "What happens or has happened, as far as it means more than what is seen: stealing"
    " biscuits, not taking them",
    "event_relationship": "Which event is the cause of which, or comes before it; events that are"
    " simply seen count here, too",
    "next_event": "What will happen next, if that is nearly certain; no guesses",
    "mental": "What each of them thinks or feels, unless they show nothing",
}
"""What is asked of each kind of reasoning, by its code."""

_ANNOTATION = AnnotationTask(
    name="cogbench/annotation",
    title="The story of an image",
    about="section 2.2, appendix A, Figure 6",
    instructions=(
        "Each image tells a story. First list everything that can be seen in it, as much as you"
        " can; leave out what is hard to recognise. Then write down how the story is understood:"
        " one chain of reasoning a line, clue + clue -> what follows. A chain has at least one"
        " clue and exactly one conclusion: write A -> B -> C as two chains, and never a conclusion"
        " alone. Leave a kind of reasoning empty if the image does not take it. At last tell the"
        " story in one paragraph, with all that you listed."
    ),
    fields=(
        Field(name="entities", kind="texts", label="People, animals and things in the image"),
        *(
            Field(
                name=kind.code,
                kind="texts",
                label=f"{kind.name}. {_KIND_LABELS[kind.code]}",
                required=False,
            )
            for kind in KINDS
        ),
        Field(
            name="description",
            kind="text",
            label="The image and its story, in a paragraph",
            most=5000,
        ),
    ),
)

_KEEP, _DROP = "keep it", "leave it out"
_SAME = "the same as: "

_MERGE_REVIEW = AnnotationTask(
    name="cogbench/merge_review",
    title="What one annotator saw",
    about="section 2.2, merging by majority vote",
    instructions=(
        "Three people annotated the image. What two of them gave is taken; this is what one"
        " gave. If somebody else said the same in other words, choose that. If not, keep it if it"
        " is reasonable: it can be seen in the image, or follows from what can be seen. Of a"
        " description: keep the one that tells the story best; leave out those that misunderstand"
        " the image."
    ),
    fields=(
        Field(
            name="decision",
            kind="choice",
            label="What is to be done with it?",
            choices=(_KEEP, _DROP),
        ),
    ),
)


def annotation_items(images: Sequence[StoredImage]) -> list[Unit]:
    """Make one unit an image, for three annotators."""
    return [
        Unit(
            task=_ANNOTATION.name,
            unit_id=image.name,
            images={"Image": image.sha256},
            needed=_ANNOTATORS,
        )
        for image in images
    ]


def raw_annotations(answers: Sequence[Answer]) -> list[RawAnnotation]:
    """Write answers in the form of Figure 6, for ``annotation_files.read_annotations``.

    Each section is one line, so that no text starts a section. Entities are separated by commas;
    square brackets inside a chain become round ones.
    """
    return [
        RawAnnotation(
            image=answer.unit_id,
            annotator=answer.person,
            annotation="\n".join(f"[{name}]: {text}" for name, text in _sections(answer).items()),
        )
        for answer in answers
    ]


def merge_review_items(
    to_review: Sequence[MergedItem],
    annotations: Sequence[AnnotatedItem],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Make units of waiting items, each with its nearest items and without annotators' names."""
    digests = {image.name: image.sha256 for image in images}
    return [
        Unit(
            task=_MERGE_REVIEW.name,
            unit_id=unit_id(one.image, one.field, one.text),
            shown={"Section": one.field, "One annotator wrote": one.text, **_others(beside)},
            images={"Image": digests[one.image]},
            choices={"decision": (_KEEP, _DROP, *(_SAME + text for text in same))},
        )
        for one in to_review
        if one.image in digests
        for beside in [_near_texts(one, annotations)]
        for same in [() if one.field == DESCRIPTION else beside]  # stories are told once each
    ]


def reviews(answers: Sequence[Answer]) -> list[Review]:
    """Aggregate answers by majority; a tied item still waits."""
    found = []
    for name, about in by_unit(answers).items():
        image, field, text = parts_of(name)
        decision = most_said([word(answer, "decision") for answer in about])
        if decision:
            same_as = decision.removeprefix(_SAME) if decision.startswith(_SAME) else ""
            accept = None if same_as else decision == _KEEP
            found.append(
                Review(image=image, field=field, text=text, accept=accept, same_as=same_as)
            )
    return found


def _sections(answer: Answer) -> dict[str, str]:
    chains = {kind.field: " ".join(map(_bracketed, words(answer, kind.code))) for kind in KINDS}
    entities = ", ".join(entity.strip("[]") for entity in words(answer, "entities"))
    told = " ".join(word(answer, "description").split())
    return {
        ENTITIES: f"[{entities}]",
        **{k: text or "None" for k, text in chains.items()},
        DESCRIPTION: told,
    }


def _bracketed(chain: str) -> str:
    if _IN_BRACKETS.fullmatch(chain):
        return chain
    return f"[{chain.replace('[', '(').replace(']', ')')}]"


def _others(texts: Sequence[str]) -> dict[str, str]:
    return {f"Another one wrote ({number})": text for number, text in enumerate(texts, 1)}


def _near_texts(one: MergedItem, annotations: Sequence[AnnotatedItem]) -> tuple[str, ...]:
    """Nearest items as annotated; the queue adds cosines and reasons to their texts."""
    if one.field == DESCRIPTION:
        return tuple(dict.fromkeys(one.near))
    place = one.image, one.field
    texts = {other.text for other in annotations if (other.image, other.field) == place}
    longest_first = sorted(texts, key=lambda text: (-len(text), text))
    said = [entry.partition(" ")[2] for entry in one.near]
    found = [
        next((text for text in longest_first if f"{entry} (".startswith(f"{text} (")), "")
        for entry in said
    ]
    return tuple(dict.fromkeys(text for text in found if text))


ANNOTATION = SuiteAnnotationTask(
    task=_ANNOTATION,
    reads={"images": TableOf("cogbench/images", StoredImage)},
    units=annotation_items,
    row=RawAnnotation,
    to_rows=raw_annotations,
)

MERGE_REVIEW = SuiteAnnotationTask(
    task=_MERGE_REVIEW,
    reads={
        "to_review": TableOf("cogbench/to_review", MergedItem),
        "annotations": TableOf("cogbench/annotations", AnnotatedItem),
        "images": TableOf("cogbench/images", StoredImage),
    },
    units=merge_review_items,
    row=Review,
    to_rows=reviews,
)
