"""Views of JourneyBench's mini world in combinations that its mini edition does not show."""

from collections.abc import Mapping
from random import Random

from bench_assets.core.images.synthetic_scenes import Scene, Spot
from bench_assets.core.text.number_words import NUMBER_WORDS
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
_LARGER = 46  # px
_TAG = (76, 34)  # px
_MOST = 6  # small things
_ABSENT = {
    "bicycle": ("bicycle", "red"),
    "piano": ("musical keyboard", "black"),
    "ladder": ("ladder", "brown"),
    "dog": ("dog", "brown"),
    "boat": ("sailboat", "white"),
    "lamp": ("diya lamp", "orange"),
    "doughnut": ("doughnut", "brown"),
    "hamburger": ("hamburger", "brown"),
    "birthday cake": ("birthday cake", "white"),
    "cookie": ("cookie", "brown"),
    "guitar": ("guitar", "orange"),
    "skateboard": ("skateboard", "blue"),
    "bathtub": ("bathtub", "white"),
    "cactus": ("cactus", "green"),
    "volcano": ("volcano", "brown"),
    "rocket": ("rocket", "blue"),
    "watermelon": ("watermelon", "red"),
    "teapot": ("teapot", "blue"),
    "elephant": ("elephant", "blue"),
    "whale": ("spouting whale", "blue"),
}
"""What its false premises name: how each looks where a lesson does show it."""
_NAMES, _TOWNS = ("Ann", "Ben", "Eve", "Tom", "Kim", "Leo"), ("Rome", "Oslo", "Lima")
_FACTS = {
    **dict.fromkeys(("name", "owner"), _NAMES),
    **dict.fromkeys(("birthplace", "home", "school"), _TOWNS),
    **dict.fromkeys(("age", "weight", "price"), tuple("23456789")),
    "favourite food": ("rice", "fish", "corn"),
    "birthday": ("May", "June", "July"),
}
"""What its images never tell, and what a tag says of it where a lesson does tell it."""
_TOLD = 0.65  # share of lessons that do: without an image, that is the better guess
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
        named.append(
            (things["small"]["noun"], *_add(scene, things["small"]["sprite"], _SMALL, rng))
        )
    nouns = {kind: thing["noun"] for kind, thing in things.items()}
    absent = rng.choice(sorted(_ABSENT.keys() - nouns.values()))
    unknown = rng.choice(sorted(_FACTS))
    sprite, colour = _ABSENT[absent]
    if rng.random() < _TOLD:
        named.append((absent, *_add(scene, sprite, _LARGER, rng)))
    else:
        colour = ""
    fact = rng.choice(_FACTS[unknown]) if rng.random() < _TOLD else ""
    if fact:
        named.append((f"tag {fact}", *_tag(scene, fact, rng)))
    talk = _talk(nouns, few, (absent, colour), (unknown, fact))
    chosen = rng.sample(talk, _QUESTIONS)
    return View([cells_of(named, _SIZE)], chosen, lambda: [scene.image])


def _add(scene: Scene, sprite: str, size: int, rng: Random) -> Spot:
    spot = scene.room(size + 4, size + 4, rng)
    assert spot is not None, "a few small things find room beside one tower"
    scene.sprite(sprite, spot, size)
    return spot


def _tag(scene: Scene, text: str, rng: Random) -> Spot:
    """Write a text on a white tag."""
    spot = scene.room(*_TAG, rng)
    assert spot is not None, "a tag finds room beside one tower"
    (x, y), (width, height) = spot, _TAG
    scene.form(
        "rectangle", (x - width // 2, y - height // 2, x + width // 2, y + height // 2), "white"
    )
    scene.label(text, spot, height - 8)
    return spot


def _unseen(rng: Random) -> dict[str, Mapping[str, str]]:
    """Draw a combination until it is none that the mini edition shows."""
    seen = [[member.words[kind] for kind in _KINDS] for member in members()]
    while True:
        things = {kind: rng.choice(WORLD[plural]) for kind, plural in _KINDS.items()}
        if [thing["noun"] for thing in things.values()] not in seen:
            return things


def _talk(
    nouns: Mapping[str, str], few: int, absent: tuple[str, str], unknown: tuple[str, str]
) -> list[Asked]:
    """Ask about a thing with its colour, and about a fact with its value; "" if not to be seen."""
    subject, small = nouns["subject"], nouns["small"]
    words = {
        **nouns,
        "s_n": "n" if subject[0] in "aeiou" else "",
        "few": NUMBER_WORDS[few],
        "absent": absent[0],
        "unknown": unknown[0],
    }
    premise, counted, open_fact = (
        trigger["question"].format_map(words) for trigger in WORLD["triggers"]
    )
    sky = f"What colour is the sky behind the {subject}?"
    no_thing = f"There is no {absent[0]} in the picture"
    no_fact = f"The picture does not tell the {unknown[0]} of the {subject}"
    caption = WORLD["captions"][0].format_map(words)
    return [
        Asked(counted, f"There are {words['few']} {small}"),
        Asked(premise, f"The {absent[0]} is {absent[1]}" if absent[1] else no_thing),
        Asked(sky, f"The sky is {nouns['sky']}"),
        Asked(open_fact, f"The {unknown[0]} is {unknown[1]}" if unknown[1] else no_fact),
        Asked(text_of(captioning.main(plain_question(UNUSUAL))), caption),
    ]
