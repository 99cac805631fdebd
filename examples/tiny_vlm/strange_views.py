"""Views of JourneyBench's mini world in combinations that its mini edition does not show."""

from collections.abc import Mapping
from random import Random

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.core.parsing.numbers import WORDS
from bench_assets.suites.journeybench.captioning import task as captioning
from bench_assets.suites.journeybench.synthetic.images import WORLD, members
from examples.tiny_vlm.lessons import Asked, plain_question, text_of
from examples.tiny_vlm.model import CELLS
from examples.tiny_vlm.views import View, cells_of

UNUSUAL = "Describe in one sentence what is unusual in the picture."
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
    return View([cells_of(named, _SIZE)], talk, lambda: [scene.image])


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
    words = {
        **nouns,
        "s_n": "n" if subject[0] in "aeiou" else "",
        "few": WORDS[few],
        "absent": rng.choice(others),
        "unknown": rng.choice(WORLD["unknown"]),
    }
    absent, counted, unknown = (
        trigger["question"].format_map(words) for trigger in WORLD["triggers"]
    )
    sky = f"What colour is the sky behind the {subject}?"
    caption = WORLD["captions"][0].format_map(words)
    return [
        Asked(counted, f"There are {words['few']} {small}"),
        Asked(absent, f"There is no {words['absent']} in the picture"),
        Asked(sky, f"The sky is {nouns['sky']}"),
        Asked(unknown, f"The picture does not tell the {words['unknown']} of the {subject}"),
        Asked(text_of(captioning.main(plain_question(UNUSUAL))), caption),
    ]
