"""Views of JourneyBench's mini world in combinations that its mini edition does not show."""

from collections.abc import Mapping
from random import Random

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.core.parsing.numbers import WORDS
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.rows import Question
from bench_assets.suites.cogbench.vqa import prompts as cogbench
from bench_assets.suites.journeybench.captioning import task as captioning
from bench_assets.suites.journeybench.synthetic.images import WORLD, members
from examples.tiny_vlm.lessons import Asked
from examples.tiny_vlm.model import CELLS
from examples.tiny_vlm.views import View, cells_of

UNUSUAL = "Describe in one sentence what is unusual in the image."
"""What JourneyBench's captioning asks."""

_SIZE = (384, 288)  # px
_KINDS = {
    "subject": "subjects",
    "mount": "mounts",
    "accessory": "accessories",
    "small": "small",
    "sky": "skies",
}
_PLACES = {"mount": (70, 130), "subject": (-30, 100), "accessory": (-98, 46)}  # px down; px long
_SMALL = 34  # px
_MOST = 6  # small things
_QUESTIONS = 4  # about one view


def strange(rng: Random) -> View:
    """Dress an animal and place it on a thing, among small things, under a sky."""
    things = _unseen(rng)
    scene = Scene(*_SIZE, background=things["sky"]["colour"])
    x, y = (side // 2 + rng.randint(-10, 10) for side in _SIZE)
    x += rng.choice((-50, 0, 50))
    named = [(things["sky"]["noun"], (n + 0.5) * _SIZE[0] / CELLS, 0) for n in range(CELLS)]
    for kind, (down, size) in _PLACES.items():
        scene.sprite(things[kind]["sprite"], (x, y + down), size)
        named.append((things[kind]["noun"], x, y + down))
    few = rng.randint(2, _MOST)
    for _ in range(few):
        spot = scene.room(_SMALL + 4, _SMALL + 4, rng)
        assert spot is not None, "six small things find room beside one tower"
        scene.sprite(things["small"]["sprite"], spot, _SMALL)
        named.append((things["small"]["noun"], *spot))
    nouns = {kind: thing["noun"] for kind, thing in things.items()}
    talk = rng.sample(_talk(nouns, few, rng), _QUESTIONS)
    return View(cells_of(named, _SIZE), talk, lambda: scene.image)


def _unseen(rng: Random) -> dict[str, Mapping[str, str]]:
    """Draw a combination until it is none that the mini edition shows."""
    seen = [[member.words[kind] for kind in _KINDS] for member in members()]
    while True:
        things = {kind: rng.choice(WORLD[plural]) for kind, plural in _KINDS.items()}
        if [thing["noun"] for thing in things.values()] not in seen:
            return things


def _talk(nouns: Mapping[str, str], few: int, rng: Random) -> list[Asked]:
    subject, small = nouns["subject"], nouns["small"]
    others = [thing["noun"] for kind in ("subjects", "mounts") for thing in WORLD[kind]]
    others = [noun for noun in (*others, *WORLD["absent"] * 2) if noun not in nouns.values()]
    absent = rng.choice(others)
    article = {"s_n": "n" if subject[0] in "aeiou" else ""}
    caption = WORLD["captions"][0].format_map({**nouns, **article})
    behind = f"behind the {subject}?"
    floating = f"There are {WORDS[few]} {small}"
    return [
        Asked(f"How many {small} float around the {subject}?", floating),
        Asked(f"What colour is the {absent} {behind}", f"There is no {absent} in the image"),
        Asked(f"What colour is the sky {behind}", f"The sky is {nouns['sky']}"),
        Asked(f"What is the name of the {subject}?", "It cannot be told from the image"),
        Asked(_text(captioning.main(_question(UNUSUAL))), caption),
        _lettered(f"What does the {subject} wear?", nouns, "accessory", rng),
        _lettered(f"What does the {subject} stand on?", nouns, "mount", rng),
        _lettered("Which animal is in the image?", nouns, "subject", rng),
    ]


def _lettered(text: str, nouns: Mapping[str, str], kind: str, rng: Random) -> Asked:
    """Ask in the form of CogBench, whose own questions are never taught."""
    wrong = [thing["noun"] for thing in WORLD[_KINDS[kind]] if thing["noun"] != nouns[kind]]
    options = rng.sample([nouns[kind], *rng.sample(wrong, 3)], 4)
    asked = _text(cogbench.main(_question(text, *options)))
    return Asked(asked, "ABCD"[options.index(nouns[kind])])


def _question(text: str, *options: str) -> Question:
    return Question(
        question_id="lesson",
        task="lesson",
        edition="mini",
        kind="text",
        text=text,
        answer=(),
        options=options,
    )


def _text(prompt: Prompt) -> str:
    return "".join(part for part in prompt.turns[-1].parts if isinstance(part, str))
