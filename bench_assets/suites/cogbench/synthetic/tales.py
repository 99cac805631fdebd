"""Scenes and questions of the mini edition.

``stories.json`` holds chains of each kind, each with four things that may be drawn. Every image
draws one of them, so that only the image determines the answer. Questions are worded so that, after
shuffling the options by content, no letter is favoured in any kind.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, TypeAlias

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.suites.cogbench.construction.selection import shuffle_options
from bench_assets.suites.cogbench.dataset.source import SourceQuestion

Material: TypeAlias = Mapping[str, Any]

IMAGES = 4  # images of each story
_SIZE = (384, 288)  # px
_HORIZON = 212  # px from the top of an image
_CHILD_CENTRE, _CHILD_SIZE = (168, 170), 86  # px
_SHIFT = 6  # px, largest random offset of a thing


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainQuestion:
    """A question about a chain; its right option is the thing that was drawn."""

    text: str
    options: tuple[str, ...]
    right: int  # index of the right option


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryReasoning:
    """A chain of reasoning about a scene, and its questions."""

    kind: str  # the code of a kind
    clue: str
    conclusions: tuple[str, ...]  # a wording for each annotator
    entities: tuple[str, ...]
    annotators: tuple[int, ...]  # indices of those who noted it
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
    reasonings: tuple[StoryReasoning, ...]


def draw_tales(material: Material, rng: Random) -> list[Tale]:
    """Draw the four images of each story; each answer is right equally often over all."""
    draws = _shuffled_draws(material, rng)
    return [
        _tale(material, story, number, draws, rng)
        for story in material["stories"]
        for number in range(1, IMAGES + 1)
    ]


def draw_scene(background: str, ground: str, parts: Sequence[Material], rng: Random) -> bytes:
    """Draw parts on a background, each at a small random offset."""
    scene = Scene(*_SIZE, background=background)
    scene.backdrop((0, _HORIZON, *_SIZE), ground)
    for part in parts:
        x, y = part["at"]
        centre = x + rng.randint(-_SHIFT, _SHIFT), y + rng.randint(-_SHIFT, _SHIFT)
        scene.sprite(part["sprite"], centre, part["size"])
    return scene.png()


def all_parts(tale: Tale) -> list[Material]:
    """Drawn parts of an image: its child, and the subjects of its chains."""
    child = {"sprite": tale.child, "at": _CHILD_CENTRE, "size": _CHILD_SIZE}
    return [child, *(part for reasoning in tale.reasonings for part in reasoning.parts)]


def _shuffled_draws(material: Material, rng: Random) -> dict[tuple[str, int], list[int]]:
    """For each chain, by kind and variant, the index of a draw for every image with the chain.

    Each index occurs equally often.
    """
    story_chains = [chain for story in material["stories"] for chain in story["chains"].items()]
    draws = {}
    for (kind, variant), n_stories in Counter(story_chains).items():
        n_draws = len(material["chains"][kind][variant]["draws"])
        chain_draws = [index % n_draws for index in range(n_stories * IMAGES)]
        rng.shuffle(chain_draws)
        draws[kind, variant] = chain_draws
    return draws


def _tale(
    material: Material,
    story: Material,
    number: int,
    draws: Mapping[tuple[str, int], list[int]],
    rng: Random,
) -> Tale:
    """Draw an image of a story; the last image has a further chain, by a single annotator.

    The draws that are used are removed from ``draws``.
    """
    cast = {role: rng.choice(names) for role, names in material["cast"].items()}
    reasonings = [
        _reasoning(material["chains"][kind][variant], cast, draws[kind, variant].pop())
        for kind, variant in story["chains"].items()
    ]
    if number == IMAGES:
        other_kind = next(kind for kind in material["chains"] if kind not in story["chains"])
        chain = material["chains"][other_kind][0]
        # It waits for review, so no question is about it.
        further = _reasoning(chain, cast, rng.randrange(len(chain["draws"])))
        reasonings.append(replace(further, annotators=(1,), questions=()))
    return Tale(
        name=f"{story['name']}-{number}",
        background=story["background"],
        ground=story["ground"],
        child=cast["child"],
        openings=tuple(text.format_map(cast) for text in material["openings"]),
        reasonings=tuple(reasonings),
    )


def _reasoning(chain: Material, cast: Mapping[str, str], right: int) -> StoryReasoning:
    """Fill in a chain in which the draw with the index ``right`` is shown."""
    draws = chain["draws"]
    draw = draws[right]
    words = {**cast, "thing": draw["thing"], "is": draw["is"]}
    clues = [option["clue"].format_map({**cast, "thing": option["thing"]}) for option in draws]
    return StoryReasoning(
        kind=chain["kind"],
        clue=clues[right],
        conclusions=tuple(text.format_map(words) for text in chain["so"]),
        entities=(draw["thing"], *(text.format_map(words) for text in chain.get("also", ()))),
        annotators=(0, 1, 2),
        questions=tuple(_questions(chain, cast, clues, right)),
        parts=tuple(
            {**part, "sprite": part["sprite"].format_map(words)}
            for part in (*draw["parts"], *chain.get("parts", ()))
        ),
    )


def _questions(
    chain: Material, cast: Mapping[str, str], clues: Sequence[str], right: int
) -> Iterator[ChainQuestion]:
    options = tuple(draw["option"] for draw in chain["draws"])
    yield ChainQuestion(text=chain["ask"].format_map(cast), options=options, right=right)
    if "why" in chain:
        yield ChainQuestion(text=chain["why"].format_map(cast), options=tuple(clues), right=right)


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
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    chosen = []
    for tale in tales:
        reasonings = []
        for reasoning in tale.reasonings:
            is_left_out = (tale.name, reasoning.kind) in left_out
            letter_counts = Counter[str]() if is_left_out else counts[reasoning.kind]
            reasonings.append(_choose_chain_openings(tale, reasoning, letter_counts))
        chosen.append(replace(tale, reasonings=tuple(reasonings)))
    return chosen


def _choose_chain_openings(
    tale: Tale, reasoning: StoryReasoning, letter_counts: Counter[str]
) -> StoryReasoning:
    """Give each question the opening whose right letter is rarest so far, and count that letter."""
    questions = []
    for question in reasoning.questions:
        wordings = [
            replace(question, text=_with_opening(opening, question.text))
            for opening in _rotated_openings(letter_counts)
        ]
        rarest = min(
            wordings, key=lambda wording: letter_counts[_right_letter(tale, reasoning, wording)]
        )
        letter_counts[_right_letter(tale, reasoning, rarest)] += 1
        questions.append(rarest)
    return replace(reasoning, questions=tuple(questions))


def _rotated_openings(letter_counts: Counter[str]) -> Sequence[str]:
    """The openings, beginning with another one each time."""
    first = letter_counts.total() % len(OPENINGS)
    return (*OPENINGS[first:], *OPENINGS[:first])


def _with_opening(opening: str, text: str) -> str:
    return opening + text[0].lower() + text[1:] if opening else text


def _right_letter(tale: Tale, reasoning: StoryReasoning, question: ChainQuestion) -> str:
    """The right letter of a question after its options are shuffled by content."""
    return shuffle_options(as_source_question(tale, reasoning.kind, question), 0).answer


def as_source_question(tale: Tale, kind: str, question: ChainQuestion) -> SourceQuestion:
    """A question in the form of the authors' file."""
    return SourceQuestion(
        where="",
        image_id=tale.name,
        category=kind,
        text=question.text,
        options=question.options,
        answer=LETTERS[question.right],
    )
