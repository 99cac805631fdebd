"""The mini edition: drawn images in raw form, with votes, revisions and planted faults.

``scenes.json`` holds the scenes. Placeholders in braces differ between the variations of a scene;
drawing, caption and questions are filled from the same variation, and so agree. Variations come in
pairs with opposite answers: no context gives the answer alone. A question may have a ``draft``, an
earlier version that was voted down and that it revises; ``against`` counts the votes against a
condition, ``silent`` the missing votes. ``planted`` are faulty submissions: the first question
about a scene, with some fields replaced.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.core.tables.source_folder import format_json, write_files

_MATERIAL = Path(__file__).with_name("scenes.json")
_SIZE = (384, 288)  # px
_SHIFT = 8  # px: largest random offset of a scene
_TEXTS = ("question", "contexts", "answers")
_CONDITIONS = ("correct", "different", "within_rules")


class _SceneImage(NamedTuple):
    name: str  # of the file
    scene: Mapping[str, Any]
    variation: Mapping[str, Any]


class _Submission(NamedTuple):
    entry: Mapping[str, Any]  # as submissions.json has it
    votes: Mapping[str, Any]  # how the others will vote on it: against, silent, comment


def write(folder: Path, seed: int = 0) -> None:
    """Write the raw material of the mini edition: 40 good pairs about 32 images, and faulty ones.

    The same seed writes the same bytes. Files that already hold them are not touched.
    """
    rng = Random(seed)
    material = json.loads(_MATERIAL.read_text(encoding="utf-8"))
    images = [image for scene in material["scenes"] for image in _images(scene, rng)]
    submissions = _submissions(material, images)
    annotators = material["annotators"]
    votes = [vote for submission in submissions for vote in _votes(submission, annotators, rng)]
    files = {f"images/{image.name}": _draw_image(image, rng) for image in images}
    files |= {f"images/{name}": text.encode() for name, text in material["torn"].items()}
    files["submissions.json"] = format_json([submission.entry for submission in submissions])
    files["votes.json"] = format_json(material["stray_votes"] + votes)
    files["captions.jsonl"] = b"".join(_caption_line(image) for image in images)
    write_files(folder, files)


def _images(scene: Mapping[str, Any], rng: Random) -> list[_SceneImage]:
    """Choose one pair of the scene's variations, and make an image of each of the two."""
    variations = scene["variations"]
    start = 2 * rng.randrange((len(variations) + 1) // 2)
    return [
        _SceneImage(name=f"{scene['name']}-{number}.png", scene=scene, variation=variation)
        for number, variation in enumerate(variations[start : start + 2], 1)
    ]


def _draw_image(image: _SceneImage, rng: Random) -> bytes:
    scene = Scene(*_SIZE, background=image.scene["background"])
    shift_x, shift_y = rng.randint(-_SHIFT, _SHIFT), rng.randint(-_SHIFT, _SHIFT)
    for part in _fill_placeholders(image.scene["parts"], image.variation):
        step_x, step_y = part.get("step", (0, 0))
        for copy in range(part.get("times", 1)):
            _draw_part(scene, part, shift_x + copy * step_x, shift_y + copy * step_y)
    return scene.png()


def _draw_part(scene: Scene, part: Mapping[str, Any], dx: int, dy: int) -> None:
    """Draw a part, moved by ``dx`` and ``dy`` px; a backdrop stays where it is."""
    match part:
        case {"backdrop": (left, top, right, bottom), "colour": colour}:
            scene.backdrop((left, top, right, bottom), colour)
        case {"sprite": name, "at": (x, y), "size": size}:
            scene.sprite(name, (x + dx, y + dy), size, mirrored=part.get("mirrored", False))
        case {"form": form, "box": (left, top, right, bottom), "colour": colour}:
            scene.form(form, (left + dx, top + dy, right + dx, bottom + dy), colour)
        case {"line": points, "colour": colour, "width": width}:
            scene.line([(x + dx, y + dy) for x, y in points], colour, width)
        case {"label": text, "at": (x, y), "size": size}:
            scene.label(text, (x + dx, y + dy), size, part.get("colour", "black"))


def _submissions(material: Mapping[str, Any], images: Sequence[_SceneImage]) -> list[_Submission]:
    """Submissions of all questions and faults, each draft before the version that revises it."""
    first_images: dict[str, _SceneImage] = {}
    for image in images:
        first_images.setdefault(image.scene["name"], image)
    questions = [(image, question) for image in images for question in image.scene["questions"]]
    for fault in material["planted"]:
        image = first_images[fault["scene"]]
        template = {key: image.scene["questions"][0][key] for key in _TEXTS}
        questions.append((image, template | fault))
    submissions: list[_Submission] = []
    for index, (image, question) in enumerate(questions):
        annotator = material["annotators"][index % len(material["annotators"])]
        versions = [question]
        if "draft" in question and image is first_images[image.scene["name"]]:
            versions = [question | question["draft"], question]
        revises = None
        for version in versions:
            name = f"s{len(submissions) + 1:03}"
            origin = {"annotator": annotator, "revises": revises}
            submissions.append(_submission(name, image, version, origin))
            revises = name
    return submissions


def _submission(
    name: str, image: _SceneImage, question: Mapping[str, Any], origin: Mapping[str, Any]
) -> _Submission:
    """Fill in one version of a question about an image."""
    filled = _fill_placeholders(question, image.variation)
    entry = {
        "id": name,
        "image_id": filled.get("image", image.name),
        "question": filled["question"],
        "context": {f"context_{half}": text for half, text in enumerate(filled["contexts"], 1)},
        "answer": {f"answer_{half}": text for half, text in enumerate(filled["answers"], 1)},
        "category": filled.get("category", image.scene["category"]),
        **origin,
    }
    return _Submission(entry, filled)


def _votes(submission: _Submission, annotators: Sequence[str], rng: Random) -> list[dict[str, Any]]:
    """Votes of the other annotators on a submission, except of those who stay silent."""
    voters = [name for name in annotators if name != submission.entry["annotator"]]
    n_against = submission.votes.get("against", {})
    against = {
        condition: rng.sample(voters, n_against.get(condition, 0)) for condition in _CONDITIONS
    }
    silent = rng.sample(voters, submission.votes.get("silent", 0))
    votes = []
    for voter in voters:
        vote = {condition: voter not in against[condition] for condition in _CONDITIONS}
        comment = {} if all(vote.values()) else {"comment": submission.votes["comment"]}
        if voter not in silent:
            origin = {"submission": submission.entry["id"], "annotator": voter}
            votes.append({**origin, **vote, **comment})
    return votes


def _caption_line(image: _SceneImage) -> bytes:
    """The line of an image in captions.jsonl."""
    caption = _fill_placeholders(image.scene["caption"], image.variation)
    line = json.dumps({"image_id": image.name, "caption": caption}, ensure_ascii=False)
    return f"{line}\n".encode()


def _fill_placeholders(value: Any, variation: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Fill in the placeholders; a text that is one placeholder becomes the value itself."""
    if isinstance(value, str):
        name = value.removeprefix("{").removesuffix("}")
        is_placeholder = value == f"{{{name}}}" and name in variation
        return variation[name] if is_placeholder else value.format_map(variation)
    if isinstance(value, list):
        return [_fill_placeholders(item, variation) for item in value]
    if isinstance(value, dict):
        return {key: _fill_placeholders(item, variation) for key, item in value.items()}
    return value
