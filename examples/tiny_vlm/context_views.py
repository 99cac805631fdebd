"""Views of the scenes of CODIS's mini edition, in variations that it does not show."""

import calendar
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from random import Random
from typing import Any, TypeAlias

from PIL import Image

from bench_assets.core.text.number_words import NUMBER_WORDS
from bench_assets.suites.codis import prompts, synthetic
from examples.tiny_vlm.lessons import Asked, decoded, plain_question, text_of
from examples.tiny_vlm.views import View, cells_of

Variation: TypeAlias = dict[str, Any]

_SIZE = (384, 288)  # px
_TESTED_SEED = 0  # of the mini edition

_WALKERS = (
    "horse", "cow", "dog", "pig", "goat", "ewe", "camel", "rabbit", "tiger", "ox",
    "elephant", "rhinoceros", "leopard", "ram", "water buffalo",
)  # fmt: skip
_RUNNERS = ("pig", "rabbit", "kangaroo", "snail", "dog", "cat", "horse", "turtle", "tiger", "ram")
_WORKERS = (
    "cook", "judge", "pilot", "mechanic", "teacher", "farmer", "scientist", "artist",
    "firefighter", "astronaut", "singer",
)  # fmt: skip
_COLOURS = ("red", "blue", "green", "purple", "orange", "gray")
_MONTHS = tuple(calendar.month_name)[1:]
_NAMES = ("Ann", "Ben", "Eve", "Tom", "Kim", "Leo")


def scene(rng: Random) -> View:
    """Draw a scene in a variation that the mini edition does not have."""
    name = rng.choice(sorted(_VARIATIONS))
    variation = _VARIATIONS[name](rng)
    while _key(name, variation) in held_out_variations():
        variation = _VARIATIONS[name](rng)
    described = _scenes()[name]
    talk = list(_talk(described, variation, rng))
    image = synthetic._SceneImage(name, described, variation)
    draw = partial(_drawn, image, rng.getrandbits(32))
    return View([cells_of(_named(described, variation), _SIZE)], talk, draw)


@cache
def held_out_variations() -> frozenset[str]:
    """What the images of the mini edition show."""
    rng = Random(_TESTED_SEED)
    return frozenset(
        _key(image.scene["name"], image.variation)
        for described in _material()["scenes"]
        for image in synthetic._images(described, rng)
    )


def _key(name: str, variation: Mapping[str, Any]) -> str:
    """A variation by what is drawn: questions may differ."""
    parts = synthetic._fill_placeholders(_scenes()[name]["parts"], variation)
    return f"{name} {json.dumps(parts)}"


@cache
def _material() -> Any:  # noqa: ANN401
    return json.loads(synthetic._MATERIAL.read_text(encoding="utf-8"))


@cache
def _scenes() -> dict[str, Any]:
    return {one["name"]: one for one in _material()["scenes"]}


def _drawn(image: Any, seed: int) -> list[Image.Image]:  # noqa: ANN401
    return [decoded(synthetic._draw_image(image, Random(seed)))]


def _talk(described: Mapping[str, Any], variation: Variation, rng: Random) -> Iterator[Asked]:
    """Ask every question in one of its contexts: the answer in the other would follow from it."""
    for asked in rng.sample(described["questions"], len(described["questions"])):
        said = synthetic._fill_placeholders(
            {key: asked[key] for key in synthetic._TEXTS}, variation
        )
        half = rng.randrange(2)
        context, other = said["contexts"][half], said["contexts"][1 - half]
        prompt = text_of(prompts.main(plain_question(said["question"], context=context)))
        key = _differing(context, other)
        nth = described["questions"].index(asked)
        chain = variation["chains"][nth][half] if "chains" in variation else variation["seen"]
        reasoning = f"{key}: {chain}" if "chains" in variation else f"{chain} {key}."
        yield Asked(prompt, f"{reasoning}\n{said['answers'][half]}")


def _differing(context: str, other: str) -> str:
    """The first word that the other context does not have in its place.

    >>> _differing("The photographer is facing north.", "The photographer is facing south.")
    'north'
    """
    pairs = zip(context.split(), other.split(), strict=False)
    return next(one for one, another in pairs if one != another).strip(".,")


def _named(
    described: Mapping[str, Any], variation: Variation
) -> Iterator[tuple[str, float, float]]:
    """The parts of a scene, by their names, colours and texts."""
    for part in synthetic._fill_placeholders(described["parts"], variation):
        for time in range(part.get("times", 1)):
            x, y = (time * step for step in part.get("step", (0, 0)))
            match part:
                case {"sprite": name, "at": (left, top)}:
                    word = f"{name} mirrored" if part.get("mirrored") else name
                    yield word, left + x, top + y
                case {"label": str(text), "at": (left, top)} if " : " in text:
                    one, other = text.split(" : ")
                    yield from ((one, left - 46, top), (other, left + 46, top))
                case {"label": text, "at": (left, top)}:
                    yield text, left + x, top + y
                case {"form": form, "box": (left, top, right, bottom), "colour": "deepskyblue"}:
                    yield f"level {(bottom - top) // 20}", (left + right) / 2, top
                case {"form": form, "box": (left, top, right, bottom), "colour": colour}:
                    yield f"{colour} {form}", (left + right) / 2 + x, (top + bottom) / 2 + y


Chains: TypeAlias = list[tuple[str, str]]  # for each question, in each of its contexts


def _turned(seen: str, cases: tuple[str, str], said: tuple[str, str]) -> tuple[str, str]:
    """What both cases mean in a context, in the other context the reverse, and which one is seen.

    >>> _turned("left", ("left", "right"), ("west", "east"))
    ('left west, right east. left: west.', 'left east, right west. left: east.')
    """
    one, other = (dict(zip(cases, words, strict=True)) for words in (said, said[::-1]))
    first, second = (
        f"{', '.join(f'{case} {word}' for case, word in meant.items())}. {seen}: {meant[seen]}."
        for meant in (one, other)
    )
    return first, second


def _animal(rng: Random) -> Variation:
    mirrored = rng.random() < 0.5
    seen, sides = ("right" if mirrored else "left"), ("left", "right")
    north, south = ("East", "West") if mirrored else ("West", "East")
    towards = ("Away from it", "Towards it") if mirrored else ("Towards it", "Away from it")
    chains = [_turned(seen, sides, said) for said in (("west", "east"), ("towards", "away"))]
    return {
        "chains": chains,
        "animal": rng.choice(_WALKERS), "mirrored": mirrored, "north": north, "south": south,
        "if_left": towards[0], "if_right": towards[1],
    }  # fmt: skip


def _shadow(rng: Random) -> Variation:
    thing = rng.choice(
        ("deciduous tree", "house", "evergreen tree", "snowman", "cactus", "palm tree")
    )
    left = rng.random() < 0.5
    times = ("Morning", "Afternoon") if left else ("Afternoon", "Morning")
    chain = _turned("left" if left else "right", ("left", "right"), ("morning", "afternoon"))
    return {
        "chains": [chain],
        "thing": thing,
        "box": [72, 176, 204, 200] if left else [180, 176, 312, 200],
        "north": times[0],
        "south": times[1],
    }


def _season(rng: Random) -> Variation:
    halves = ["first", "second"]
    thing, south = rng.choice(
        (("fallen leaf", 0), ("maple leaf", 0), ("cherry blossom", 1), ("tulip", 1), ("blossom", 1))
    )
    return {
        "seen": f"A {thing}.",
        "thing": thing,
        "south": halves[south],
        "north": halves[1 - south],
    }


def _tank(rng: Random) -> Variation:
    n = rng.randint(2, 8)
    a, b = n - rng.randint(1, min(n, 3)), n + rng.randint(1, 3)
    water = [143, 240 - 20 * n, 258, 240]
    fill = {"first": "filled", "second": "emptied"}
    if rng.random() < 0.5:
        a, b, fill = b, a, {"first": "emptied", "second": "filled"}
    return {
        "seen": f"{n} l.",
        "n": n,
        "water": water,
        "a": a,
        "b": b,
        "less": n - 1,
        "more": n + 1,
        **fill,
    }


def _race(rng: Random) -> Variation:
    front, back = rng.sample(_RUNNERS, 2)
    a, b = sorted((front, back))
    seen = f"ahead {front}, behind {back}"
    chains = [(f"{seen}. ahead: {front}.", f"{seen}. behind: {back}.")]
    return {"chains": chains, "a": a, "b": b, "front": front, "back": back}


def _road(rng: Random) -> Variation:
    vehicle = rng.choice(("automobile", "bus", "taxi", "police car"))
    if rng.random() < 0.5:
        return {
            "seen": "Lane 1.",
            "vehicle": vehicle,
            "at": [140, 150],
            "japan": "No",
            "germany": "Yes",
        }
    return {
        "seen": "Lane 2.",
        "vehicle": vehicle,
        "at": [244, 150],
        "japan": "Yes",
        "germany": "No",
    }


def _lift(rng: Random) -> Variation:
    n = rng.randint(1, 9)
    words = {k: ("Zero" if k == 0 else NUMBER_WORDS[k].capitalize()) for k in (n - 1, n)}
    return {"seen": f"Display {n}.", "n": str(n), "us": words[n - 1], "uk": words[n]}


def _beside(a: str, b: str, rng: Random) -> Variation:
    """Two things beside each other, of which the first context prefers a, the other one b."""
    left, right = rng.sample((a, b), 2)
    sides = {left: "left", right: "right"}
    seen = f"{left} left, {right} right"
    return {
        "chains": [(f"{seen}. {a}: {sides[a]}.", f"{seen}. {b}: {sides[b]}.")],
        "left": left, "right": right, "a": a, "b": b, "first": sides[a], "second": sides[b],
    }  # fmt: skip


def _seesaw(rng: Random) -> Variation:
    a, b = rng.sample(_COLOURS, 2)
    return _beside(a, b, rng)


def _mother(rng: Random) -> Variation:
    a, b = rng.sample(_WORKERS, 2)
    return _beside(a, b, rng)


def _magnets(rng: Random) -> Variation:
    ends = ["royalblue", "red"]
    one, other = rng.randrange(2), rng.randrange(2)
    words = ("attract", "repel") if one == other else ("repel", "attract")
    seen = "other" if one == other else "same"
    facing = f"{ends[1 - one]} faces {ends[other]}. "
    chain = _turned(seen, ("same", "other"), ("repel", "attract"))
    return {
        "chains": [(facing + chain[0], facing + chain[1])],
        "ll": ends[one], "l": ends[1 - one], "r": ends[other], "rr": ends[1 - other],
        "both": words[0], "crossed": words[1],
    }  # fmt: skip


def _switch(rng: Random) -> Variation:
    colour = rng.choice(("black", "crimson", "navy", "darkgreen", "purple", "brown"))
    if rng.random() < 0.5:
        return {
            "seen": "Lever up.",
            "colour": colour,
            "box": [176, 88, 208, 140],
            "up": "On",
            "down": "Off",
        }
    return {
        "seen": "Lever down.",
        "colour": colour,
        "box": [176, 148, 208, 200],
        "up": "Off",
        "down": "On",
    }


def _gears(rng: Random) -> Variation:
    n = rng.randint(1, 6)
    words = ["Clockwise", "Counter-clockwise"]
    return {
        "seen": f"{n} gears.",
        "n": n,
        "at": [192 - 31 * (n - 1), 144],
        "cw": words[(n - 1) % 2],
        "ccw": words[n % 2],
    }


def _family(rng: Random) -> Variation:
    parent, child, other = rng.sample(_NAMES, 3)
    swapped = rng.random() < 0.5
    me = (other, parent) if swapped else (parent, other)
    kin = ("sibling", "child") if swapped else ("child", "sibling")
    number = ("None", "Two") if swapped else ("Two", "None")
    roles = {parent: "parent", child: "child", other: "child"}
    seen = ", ".join(f"{name} {role}" for name, role in roles.items())
    chain = f"{seen}. {me[0]}: {roles[me[0]]}.", f"{seen}. {me[1]}: {roles[me[1]]}."
    return {
        "chains": [chain, chain],
        "parent": parent, "child": child, "other": other, "me_1": me[0], "me_2": me[1],
        "first": kin[0], "second": kin[1], "n_1": number[0], "n_2": number[1],
    }  # fmt: skip


def _score(rng: Random) -> Variation:
    a, b = rng.sample(range(7), 2)
    moods = ("Happy", "Sad") if a > b else ("Sad", "Happy")
    seen = f"{a} : {b}. Lions {moods[0]}, Tigers {moods[1]}"
    chains = [(f"{seen}. Lions: {moods[0]}.", f"{seen}. Tigers: {moods[1]}.")]
    return {"chains": chains, "a": a, "b": b, "lions": moods[0], "tigers": moods[1]}


def _shop(rng: Random) -> Variation:
    night = rng.random() < 0.5
    chain = _turned("night" if night else "day", ("day", "night"), ("closed", "open"))
    begins, ends = rng.randint(7, 10), rng.randint(3, 6)
    hours = f"{begins} pm - {ends} am" if night else f"{begins} am - {ends} pm"
    return {
        "chains": [chain],
        "hour": rng.choice(("ten", "two", "eleven", "one")),
        "place": rng.choice(("Night bar", "Dance hall") if night else ("Bakery", "Library")),
        "hours": hours,
        "dark": "Open" if night else "Closed",
        "light": "Closed" if night else "Open",
    }


def _ticket(rng: Random) -> Variation:
    one, other = sorted(rng.sample(range(1, 13), 2))
    first, last = rng.sample((one, other), 2)
    names = {number: _MONTHS[number - 1] for number in (one, other)}
    mark = rng.choice((".", ","))
    months = f"{first:02}, {last:02}. {first:02} {names[first]}, {last:02} {names[last]}"
    price = _turned("point" if mark == "." else "comma", ("point", "comma"), ("thousand", "ten"))
    date = f"{months}. first: {names[first]}.", f"{months}. last: {names[last]}."
    prices = ("More than a thousand", "Less than ten")
    us_price, de = prices if mark == "," else prices[::-1]
    return {
        "chains": [date, price],
        "date": f"{first:02}/{last:02}/2025",
        "price": f"{rng.randint(1, 9)}{mark}{rng.choice((250, 500, 750))}",
        "months": f"{names[one]} or in {names[other]}",
        "us": names[first], "uk": names[last], "de": de, "us_price": us_price,
    }  # fmt: skip


_VARIATIONS: Mapping[str, Callable[[Random], Variation]] = {
    "animal": _animal,
    "shadow": _shadow,
    "season": _season,
    "tank": _tank,
    "race": _race,
    "road": _road,
    "lift": _lift,
    "seesaw": _seesaw,
    "magnets": _magnets,
    "switch": _switch,
    "gears": _gears,
    "mother": _mother,
    "family": _family,
    "score": _score,
    "shop": _shop,
    "ticket": _ticket,
}
