"""Mini edition, objects in scenes: depth, spatial relations, counts and boxes."""

import json
from random import Random

import numpy as np
from PIL import Image

from bench_assets.core.images.synthetic_scenes import Scene, Spot
from bench_assets.suites.blink.synthetic.surfaces import as_jpeg, noise

_SIZE = (400, 300)  # px
_SPOTS = [(x, y) for x in range(30, 400, 48) for y in (35, 100, 200, 265)]  # of small objects
_PLURALS = {  # by sprite
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


def objects_at_depths(rng: Random, n: int) -> dict[str, bytes]:
    """Write Depth in the Wild: objects on a plain, smaller and higher up the farther they are.

    One extra image, with both points on one object, must be rejected.
    """
    files: dict[str, bytes] = {}
    lines = []
    for index in range(n + 1):
        scene = _random_scene(rng)
        horizon = rng.randint(60, 130)
        scene.backdrop((0, horizon, _SIZE[0], _SIZE[1]), rng.choice(("tan", "olive", "darkgreen")))
        near, far = rng.uniform(1.0, 1.6), rng.uniform(2.6, 4.5)  # distances
        far_name, near_name = rng.sample(sorted(_PLURALS), 2)
        far_column, near_column = rng.sample((80, 200, 320), 2)
        far_spot = _place_on_plain(scene, far_name, far_column, horizon, far)
        near_spot = _place_on_plain(scene, near_name, near_column, horizon, near)
        (x_a, y_a), (x_b, y_b), relation = near_spot, far_spot, "<"
        if rng.random() < 0.5:
            (x_a, y_a), (x_b, y_b), relation = far_spot, near_spot, ">"
        if index == n:
            x_b, y_b = x_a + 4, y_a
        path = f"DIW_test/{index:04}.jpg"
        files[path] = as_jpeg(np.asarray(scene.image))
        coordinates = f"{y_a + 1},{x_a + 1},{y_b + 1},{x_b + 1}"  # rows first, from 1
        lines += [f"./{path}", f"{coordinates},{relation},{_SIZE[0]},{_SIZE[1]}"]
    return files | {"DIW_test.csv": ("\n".join(lines) + "\n").encode()}


def claims(rng: Random, n: int) -> dict[str, bytes]:
    """Write Visual Spatial Reasoning: false and true claims in turn.

    One extra claim, on which validators disagree, must be rejected.
    """
    files: dict[str, bytes] = {}
    lines = []
    for index in range(n + 1):
        scene = _random_scene(rng)
        first, second = rng.sample(sorted(_PLURALS), 2)
        relation = rng.choice(("left of", "right of", "above", "below"))
        first_spot, second_spot = _related_spots(rng, relation)
        is_true = index % 2 == 1
        if not is_true:
            first_spot, second_spot = second_spot, first_spot
        scene.sprite(first, first_spot, rng.randint(80, 110))
        scene.sprite(second, second_spot, rng.randint(80, 110))
        name = f"{index:012}.jpg"
        files[f"images/{name}"] = as_jpeg(np.asarray(scene.image))
        agreeing = [2, 6]  # ids of validators
        dissenting = [9] if index == n else []
        lines.append(
            {
                "image": name,
                "caption": f"The {first} is {relation} the {second}.",
                "label": int(is_true),
                "relation": relation,
                "vote_true_validator_id": agreeing if is_true else dissenting,
                "vote_false_validator_id": dissenting if is_true else agreeing,
            }
        )
    content = "".join(json.dumps(line) + "\n" for line in lines)
    return files | {"all_vsr_validated_data.jsonl": content.encode()}


def counted_objects(rng: Random, n: int) -> dict[str, bytes]:
    """Write TallyQA: objects of three kinds around a line, one kind counted on one side.

    Four consecutive images have four different counts: 0 to 3, 1 to 4 or 2 to 5. One extra
    question, marked as simple, must be rejected.
    """
    files: dict[str, bytes] = {}
    entries = []
    counts: list[int] = []
    for group in range(n // 4 + 1):
        counts += rng.sample(range(group % 3, group % 3 + 4), 4)
    for index, count in enumerate(counts[: n + 1]):
        scene = _random_scene(rng)
        scene.backdrop((0, 148, _SIZE[0], 152), "black")
        counted, *others = rng.sample(sorted(_PLURALS), 3)
        above = rng.random() < 0.5
        for name, (x, y) in _scatter_objects(rng, counted, others, count, above=above):
            scene.sprite(name, (x + rng.randint(-4, 4), y + rng.randint(-8, 8)), 40)
        side = "above" if above else "below"
        path = f"VG_100K/{index:04}.jpg"
        files[path] = as_jpeg(np.asarray(scene.image))
        entries.append(
            {
                "image": path,
                "question": f"How many {_PLURALS[counted]} are {side} the line?",
                "answer": count,
                "question_id": 4000 + index,
                "issimple": index == n,
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
    for index in range(n + 1):
        scene, name = _random_scene(rng), rng.choice(_SOLID)
        has_two = index == n
        columns = (110, 290) if has_two else (rng.randint(120, 280),)
        for column in columns:
            size = 140 if has_two else rng.randint(165, 215)
            box, area = _place_with_mask(scene, name, (column, rng.randint(110, 190)), size)
            annotations.append(
                {
                    "id": 100 + len(annotations),
                    "category_id": _SOLID.index(name),
                    "image_id": index,
                    "bbox": box,
                    "area": area,
                }
            )
        path = f"val2017/{index:012}.jpg"
        files[path] = as_jpeg(np.asarray(scene.image))
        url = f"http://images.cocodataset.org/{path}"
        images.append({"id": index, "coco_url": url, "width": _SIZE[0], "height": _SIZE[1]})
    categories = [
        {"id": category_id, "name": name.replace(" ", "_")}
        for category_id, name in enumerate(_SOLID)
    ]
    content = {"images": images, "annotations": annotations, "categories": categories}
    return files | {"lvis_v1_val.json": (json.dumps(content) + "\n").encode()}


def _scatter_objects(
    rng: Random, counted: str, others: list[str], count: int, *, above: bool
) -> list[tuple[str, Spot]]:
    """Choose spots of objects of three kinds; of the counted kind, ``count`` lie on one side."""
    spots = rng.sample(_SPOTS, len(_SPOTS))
    same_side = [(x, y) for x, y in spots if (y < 150) == above]
    other_side = [spot for spot in spots if spot not in same_side]
    least_on_other_side = 1 if count == 0 else 0  # so that the counted kind is in the image
    occupied = same_side[:count] + other_side[: rng.randint(least_on_other_side, 3)]
    free = iter([spot for spot in spots if spot not in occupied])
    placed = [(counted, spot) for spot in occupied]
    for name in others:
        placed += [(name, next(free)) for _ in range(rng.randint(1, 5))]
    return placed


def _place_with_mask(scene: Scene, name: str, spot: Spot, size: int) -> tuple[list[int], int]:
    """Place an object; return its box (left, top, width, height) and its number of px."""
    image_without = np.asarray(scene.image).copy()
    left, top, right, bottom = scene.sprite(name, spot, size).box
    mask = (np.asarray(scene.image) != image_without).any(axis=2)
    return [left, top, right - left, bottom - top], int(mask.sum())


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
    """Draw spots of two objects, of which the first is in the relation to the second."""
    near, far = rng.randint(70, 110), rng.randint(280, 320)
    low, high = rng.randint(215, 235), rng.randint(65, 85)
    match relation:
        case "left of":
            return (near, rng.randint(130, 170)), (far, rng.randint(130, 170))
        case "right of":
            return (far, rng.randint(130, 170)), (near, rng.randint(130, 170))
        case "above":
            return (rng.randint(180, 220), high), (rng.randint(180, 220), low)
        case "below":
            return (rng.randint(180, 220), low), (rng.randint(180, 220), high)
    raise ValueError(relation)
