"""Mini edition, objects in scenes: depth, spatial relations, counts and boxes."""

import json
from random import Random

import numpy as np
from PIL import Image

from bench_assets.core.images.synthetic_scenes import Scene, Spot
from bench_assets.suites.blink.synthetic.surfaces import as_jpeg, noise

_SIZE = (400, 300)  # px
_SPOTS = [(x, y) for x in range(30, 400, 48) for y in (35, 100, 200, 265)]  # of small objects
THINGS = {  # sprite: plural
    "dog": "dogs",
    "cat": "cats",
    "red apple": "apples",
    "pear": "pears",
    "rooster": "roosters",
    "turtle": "turtles",
    "bicycle": "bicycles",
    "teapot": "teapots",
    "umbrella": "umbrellas",
    "guitar": "guitars",
    "key": "keys",
    "balloon": "balloons",
}
_SOLID = (  # sprites that fill most of their box
    "dog face", "cat face", "lion", "panda", "bear", "doughnut", "soccer ball",
    "basketball", "red apple", "cookie", "wrapped gift", "television", "tangerine",
)  # fmt: skip


def things_at_depths(rng: Random, n: int) -> dict[str, bytes]:
    """Write Depth in the Wild: objects on a plain, smaller and higher up the farther they are.

    One extra image, with both points on one object, must be rejected.
    """
    files: dict[str, bytes] = {}
    lines = []
    for nth in range(n + 1):
        scene = _random_scene(rng)
        horizon = rng.randint(60, 130)
        scene.backdrop((0, horizon, _SIZE[0], _SIZE[1]), rng.choice(("tan", "olive", "darkgreen")))
        near, far = rng.uniform(1.0, 1.6), rng.uniform(2.6, 4.5)  # distances
        names = rng.sample(sorted(THINGS), 2)
        columns = rng.sample((80, 200, 320), 2)
        far_spot = _place_on_plain(scene, names[0], columns[0], horizon, far)
        near_spot = _place_on_plain(scene, names[1], columns[1], horizon, near)
        a, b, relation = near_spot, far_spot, "<"
        if rng.random() < 0.5:
            a, b, relation = far_spot, near_spot, ">"
        if nth == n:
            b = (a[0] + 4, a[1])
        path = f"DIW_test/{nth:04}.jpg"
        files[path] = as_jpeg(np.asarray(scene.image))
        places = f"{a[1] + 1},{a[0] + 1},{b[1] + 1},{b[0] + 1}"  # rows first, from 1
        lines += [f"./{path}", f"{places},{relation},{_SIZE[0]},{_SIZE[1]}"]
    return files | {"DIW_test.csv": ("\n".join(lines) + "\n").encode()}


def claims(rng: Random, n: int) -> dict[str, bytes]:
    """Write Visual Spatial Reasoning: as many true claims as false ones.

    One extra claim, on which validators disagree, must be rejected.
    """
    files: dict[str, bytes] = {}
    lines = []
    for nth in range(n + 1):
        scene = _random_scene(rng)
        first, second = rng.sample(sorted(THINGS), 2)
        relation = rng.choice(("left of", "right of", "above", "below"))
        spots = _related_spots(rng, relation)
        label = nth % 2
        for name, spot in zip((first, second), spots if label else spots[::-1], strict=True):
            scene.sprite(name, spot, rng.randint(80, 110))
        name = f"{nth:012}.jpg"
        files[f"images/{name}"] = as_jpeg(np.asarray(scene.image))
        votes: list[list[int]] = [[2, 6], [9] if nth == n else []]
        lines.append(
            {
                "image": name,
                "caption": f"The {first} is {relation} the {second}.",
                "label": label,
                "relation": relation,
                "vote_true_validator_id": votes[0] if label else votes[1],
                "vote_false_validator_id": votes[1] if label else votes[0],
            }
        )
    listed = "".join(json.dumps(line) + "\n" for line in lines)
    return files | {"all_vsr_validated_data.jsonl": listed.encode()}


def counted_objects(rng: Random, n: int) -> dict[str, bytes]:
    """Write TallyQA: objects of three kinds around a line, one kind counted on one side.

    Four consecutive images have four different counts: 0 to 3, 1 to 4 or 2 to 5. One extra
    question, marked as simple, must be rejected.
    """
    files: dict[str, bytes] = {}
    entries = []
    rows = [rng.sample(range(nth % 3, nth % 3 + 4), 4) for nth in range(n // 4 + 1)]
    for nth, number in enumerate([number for row in rows for number in row][: n + 1]):
        scene = _random_scene(rng)
        scene.backdrop((0, 148, _SIZE[0], 152), "black")
        kinds = rng.sample(sorted(THINGS), 3)
        counted_kind, above = kinds[0], rng.random() < 0.5
        for kind, (x, y) in _scatter_objects(rng, kinds, number, above):
            scene.sprite(kind, (x + rng.randint(-4, 4), y + rng.randint(-8, 8)), 40)
        side = "above" if above else "below"
        path = f"VG_100K/{nth:04}.jpg"
        files[path] = as_jpeg(np.asarray(scene.image))
        entries.append(
            {
                "image": path,
                "question": f"How many {THINGS[counted_kind]} are {side} the line?",
                "answer": number,
                "question_id": 4000 + nth,
                "issimple": nth == n,
            }
        )
    return files | {"test.json": (json.dumps(entries) + "\n").encode()}


def boxed_objects(rng: Random, n: int) -> dict[str, bytes]:
    """Write LVIS images of one large object, with its box and its mask's area.

    One extra image, with two objects of the kind, must be rejected.
    """
    files: dict[str, bytes] = {}
    images: list[dict[str, object]] = []
    annotations: list[dict[str, object]] = []
    for nth in range(n + 1):
        scene, name = _random_scene(rng), rng.choice(_SOLID)
        for column in (110, 290) if nth == n else (rng.randint(120, 280),):
            size = 140 if nth == n else rng.randint(165, 215)
            box, area = _place_with_mask(scene, name, (column, rng.randint(110, 190)), size)
            kind = {"id": 100 + len(annotations), "category_id": _SOLID.index(name)}
            annotations.append({**kind, "image_id": nth, "bbox": box, "area": area})
        path = f"val2017/{nth:012}.jpg"
        files[path] = as_jpeg(np.asarray(scene.image))
        address = f"http://images.cocodataset.org/{path}"
        images.append({"id": nth, "coco_url": address, "width": _SIZE[0], "height": _SIZE[1]})
    content = {
        "images": images,
        "annotations": annotations,
        "categories": [{"id": n, "name": name.replace(" ", "_")} for n, name in enumerate(_SOLID)],
    }
    return files | {"lvis_v1_val.json": (json.dumps(content) + "\n").encode()}


def _scatter_objects(
    rng: Random, kinds: list[str], number: int, above: bool
) -> list[tuple[str, Spot]]:
    """Place objects of the first kind on both sides of the line, and objects of other kinds."""
    spots = rng.sample(_SPOTS, len(_SPOTS))
    same_side = [spot for spot in spots if (spot[1] < 150) == above]
    other_side = [spot for spot in spots if spot not in same_side]
    occupied = same_side[:number] + other_side[: rng.randint(not number, 3)]
    free = iter([spot for spot in spots if spot not in occupied])
    other_things = [(kind, next(free)) for kind in kinds[1:] for _ in range(rng.randint(1, 5))]
    return [*((kinds[0], spot) for spot in occupied), *other_things]


def _place_with_mask(scene: Scene, name: str, spot: Spot, size: int) -> tuple[list[int], int]:
    """Place an object; return its box (left, top, width, height) and its number of px."""
    before = np.asarray(scene.image).copy()
    left, top, right, bottom = scene.sprite(name, spot, size).box
    changed = (np.asarray(scene.image) != before).any(axis=2)
    return [left, top, right - left, bottom - top], int(changed.sum())


def _random_scene(rng: Random) -> Scene:
    """Start a scene on a random backdrop, so that no two scenes look alike."""
    scene = Scene(*_SIZE)
    light = 90 + 0.55 * noise(rng, *_SIZE, finest=16).astype(np.float32)
    scene.image.paste(Image.fromarray(light.clip(0, 255).astype(np.uint8)))
    return scene


def _place_on_plain(scene: Scene, name: str, column: int, horizon: int, distance: float) -> Spot:
    """Place an object on the plain at a distance from the camera."""
    size = round(160 / distance)
    foot = horizon + round((_SIZE[1] - 20 - horizon) / distance)
    return scene.sprite(name, (column, foot - size // 2), size).centre


def _related_spots(rng: Random, relation: str) -> tuple[Spot, Spot]:
    """Draw spots of two objects that are in a relation."""
    near, far = rng.randint(70, 110), rng.randint(280, 320)
    low, high = rng.randint(215, 235), rng.randint(65, 85)
    match relation:
        case "left of":
            return (near, rng.randint(130, 170)), (far, rng.randint(130, 170))
        case "right of":
            return (far, rng.randint(130, 170)), (near, rng.randint(130, 170))
        case "above":
            return (rng.randint(180, 220), high), (rng.randint(180, 220), low)
    return (rng.randint(180, 220), low), (rng.randint(180, 220), high)
