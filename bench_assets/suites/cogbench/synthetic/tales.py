"""Scenes and questions of the mini edition.

``stories.json`` holds chains of each kind, each with four things that may be drawn. Every image
draws one of them, so that only the image determines the answer. Questions are worded so that, after
shuffling the options by content, no letter is favoured in any kind.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, TypeAlias

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.suites.cogbench.construction.selection import shuffle_options
from bench_assets.suites.cogbench.dataset.source import SourceQuestion

Material: TypeAlias = Mapping[str, Any]

IMAGES = 4  # of each story
_SIZE = (384, 288)  # px
_HORIZON = 212  # px
_CHILD = (168, 170), 86  # place and size, px
_SHIFT = 6  # px, largest random offset of a thing


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainQuestion:
    """A question about a chain; its right option is the thing that was drawn."""

    text: str
    options: tuple[str, ...]
    right: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryReasoning:
    """A chain of reasoning about a scene, and its questions."""

    kind: str  # the code of a kind
    clue: str
    conclusions: tuple[str, ...]  # a wording for each annotator
    things: tuple[str, ...]  # entities
    by: tuple[int, ...]  # the annotators who noted it
    questions: tuple[ChainQuestion, ...]
    parts: tuple[Material, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tale:
    """An image of the mini edition."""

    name: str
    background: str
    ground: str
    child: str
    openings: tuple[str, ...]  # a wording for each annotator
    told: tuple[StoryReasoning, ...]


def tales(material: Material, rng: Random) -> list[Tale]:
    """Draw the four images of each story; each answer is right equally often over all."""
    decks = _decks(material, rng)
    return [
        _tale(material, story, number, decks, rng)
        for story in material["stories"]
        for number in range(1, IMAGES + 1)
    ]


def draw_scene(background: str, ground: str, parts: Sequence[Material], rng: Random) -> bytes:
    """Draw parts on a background, each at a small random offset."""
    scene = Scene(*_SIZE, background=background)
    scene.backdrop((0, _HORIZON, *_SIZE), ground)
    for part in parts:
        x, y = part["at"]
        spot = x + rng.randint(-_SHIFT, _SHIFT), y + rng.randint(-_SHIFT, _SHIFT)
        scene.sprite(part["sprite"], spot, part["size"])
    return scene.png()


def all_parts(tale: Tale) -> list[Material]:
    """Drawn parts of an image: its child, and the subjects of its chains."""
    corner, size = _CHILD
    child = {"sprite": tale.child, "at": corner, "size": size}
    return [child, *(part for reasoning in tale.told for part in reasoning.parts)]


def _decks(material: Material, rng: Random) -> dict[tuple[str, int], list[int]]:
    """For each chain, the shuffled draws of the images that have it, equally often each."""
    used = [chain for story in material["stories"] for chain in story["chains"].items()]
    decks = {}
    for kind, variant in dict.fromkeys(used):
        times = used.count((kind, variant)) * IMAGES
        n_draws = len(material["chains"][kind][variant]["draws"])
        decks[kind, variant] = [number % n_draws for number in range(times)]
        rng.shuffle(decks[kind, variant])
    return decks


def _tale(
    material: Material,
    story: Material,
    number: int,
    decks: Mapping[tuple[str, int], list[int]],
    rng: Random,
) -> Tale:
    cast = {role: rng.choice(names) for role, names in material["cast"].items()}
    reasonings = [
        _reasoning(material["chains"][kind][variant], cast, decks[kind, variant].pop())
        for kind, variant in story["chains"].items()
    ]
    if number == IMAGES:
        other_kind = next(kind for kind in material["chains"] if kind not in story["chains"])
        chain = material["chains"][other_kind][0]
        reasonings.append(
            _single_annotator(_reasoning(chain, cast, rng.randrange(len(chain["draws"]))))
        )
    return Tale(
        name=f"{story['name']}-{number}",
        background=story["background"],
        ground=story["ground"],
        child=cast["child"],
        openings=tuple(text.format_map(cast) for text in material["openings"]),
        told=tuple(reasonings),
    )


def _reasoning(chain: Material, cast: Mapping[str, str], right: int) -> StoryReasoning:
    draw = chain["draws"][right]
    words = {**cast, "thing": draw["thing"], "is": draw["is"]}
    clues = [_fill(draw["clue"], {**cast, "thing": draw["thing"]}) for draw in chain["draws"]]
    return StoryReasoning(
        kind=chain["kind"],
        clue=clues[right],
        conclusions=tuple(_fill(text, words) for text in chain["so"]),
        things=(draw["thing"], *(_fill(text, words) for text in chain.get("also", ()))),
        by=(0, 1, 2),
        questions=tuple(_questions(chain, cast, clues, right)),
        parts=tuple(
            {**part, "sprite": _fill(part["sprite"], words)}
            for part in (*draw["parts"], *chain.get("parts", ()))
        ),
    )


def _questions(
    chain: Material, cast: Mapping[str, str], clues: Sequence[str], right: int
) -> Iterator[ChainQuestion]:
    options = tuple(draw["option"] for draw in chain["draws"])
    yield ChainQuestion(text=_fill(chain["ask"], cast), options=options, right=right)
    if "why" in chain:
        yield ChainQuestion(text=_fill(chain["why"], cast), options=tuple(clues), right=right)


def _single_annotator(reasoning: StoryReasoning) -> StoryReasoning:
    """A chain by a single annotator: it waits for review, and no question is about it."""
    return replace(reasoning, by=(1,), questions=())


def _fill(text: str, words: Mapping[str, str]) -> str:
    return text.format_map(words)


LETTERS = "ABCD"
OPENINGS = (
    *("", "In this picture, ", "Look closely: ", "Going by what is drawn, "),
    *("As the picture has it, ", "From what can be seen, ", "Judging by the picture, "),
    *("According to the picture, ", "From the picture: ", "To judge by the scene, "),
)


def choose_openings(
    tales: Sequence[Tale], left_out: Collection[tuple[str, str]] = ()
) -> list[Tale]:
    """Choose an opening for every question that evens out the right letters of its kind.

    ``left_out`` are tales and kinds whose questions will be dropped; their letters do not count.
    """
    counts: dict[str, Counter[str]] = {}
    return [
        replace(
            tale,
            told=tuple(
                _choose_chain_openings(
                    tale, reasoning, {} if (tale.name, reasoning.kind) in left_out else counts
                )
                for reasoning in tale.told
            ),
        )
        for tale in tales
    ]


def _choose_chain_openings(
    tale: Tale, reasoning: StoryReasoning, counts: dict[str, Counter[str]]
) -> StoryReasoning:
    count = counts.setdefault(reasoning.kind, Counter())
    questions = []
    for question in reasoning.questions:
        opening_question = min(
            (
                replace(question, text=_with_opening(opening, question.text))
                for opening in _rotated_openings(count)
            ),
            key=lambda way: count[_letter(tale, reasoning, way)],
        )
        count[_letter(tale, reasoning, opening_question)] += 1
        questions.append(opening_question)
    return replace(reasoning, questions=tuple(questions))


def _rotated_openings(count: Mapping[str, int]) -> Sequence[str]:
    """The openings, beginning with another one each time."""
    first = sum(count.values()) % len(OPENINGS)
    return (*OPENINGS[first:], *OPENINGS[:first])


def _with_opening(opening: str, text: str) -> str:
    return opening + text[0].lower() + text[1:] if opening else text


def _letter(tale: Tale, reasoning: StoryReasoning, question: ChainQuestion) -> str:
    written = SourceQuestion(
        where="",
        image_id=tale.name,
        category=reasoning.kind,
        text=question.text,
        options=question.options,
        answer=LETTERS[question.right],
    )
    return shuffle_options(written, 0).answer
