"""The mini edition: drawn story pictures, three annotators who differ, and a writer that errs.

``mini_stories.json`` holds the stories. In each, words in braces stand for what differs between its
variations. An entity or a conclusion may have a wording for each annotator; ``by`` names those who
noted it, where not all did. ``misunderstood`` is a picture that each annotator takes for another
story, ``torn`` a file that is no picture.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from bench_assets.cogbench.chains import Chain
from bench_assets.cogbench.kinds import KINDS
from bench_assets.cogbench.mini_writer import Picture, refinements, replies
from bench_assets.cogbench.source import ANNOTATIONS, REFINEMENTS, REVIEWS, WRITER_REPLIES
from bench_assets.core.scene import Scene

_MATERIAL = Path(__file__).with_name("mini_stories.json")
_SIZE = (384, 288)  # px
_SHIFT = 6  # px that things may lie off their place


def write(folder: Path, seed: int = 0) -> None:
    """Write the raw material of the mini edition: 24 stories in pictures, and two to be dropped.

    The same seed writes the same bytes. Files that hold them already are left alone.

    Args:
        folder: A folder of its own; made if need be.
        seed: Draws where things lie and which letters the writer makes right.
    """
    rng = Random(seed)
    material = json.loads(_MATERIAL.read_text(encoding="utf-8"))
    pictures = [
        Picture(f"{story['name']}-{number}", _filled({**story, "variations": []}, variation))
        for story in material["stories"]
        for number, variation in enumerate(story["variations"], 1)
    ]
    people = material["annotators"]
    riddle = material["misunderstood"]
    files = {f"images/{p.name}.png": _drawn(p.story, rng) for p in pictures}
    files[f"images/{riddle['name']}.png"] = _drawn(riddle, rng)
    files |= {f"images/{name}": text.encode() for name, text in material["torn"].items()}
    files[ANNOTATIONS] = _json(
        [entry for n, p in enumerate(pictures) for entry in _annotations(n, p, people)]
        + [
            _entry(f"{riddle['name']}.png", *one)
            for one in zip(people, riddle["annotations"], strict=True)
        ]
        + [
            _entry(name, person, _annotation(pictures[0].story, who))
            for name in material["torn"]
            for who, person in enumerate(people)
        ]
    )
    files[REVIEWS] = _json(_reviews(pictures))
    files[REFINEMENTS] = _json(refinements(pictures))
    files[WRITER_REPLIES] = "".join(replies(pictures, rng)).encode()
    for name, data in files.items():
        _write(folder / name, data)


def _drawn(story: Mapping[str, Any], rng: Random) -> bytes:
    scene = Scene(*_SIZE, background=story["background"])
    for part in story["parts"]:
        match part:
            case {"backdrop": (left, top, right, bottom), "colour": colour}:
                scene.backdrop((left, top, right, bottom), colour)
            case {"sprite": name, "at": (x, y), "size": size}:
                spot = x + rng.randint(-_SHIFT, _SHIFT), y + rng.randint(-_SHIFT, _SHIFT)
                scene.sprite(name, spot, size)
    return scene.png()


def _annotations(number: int, picture: Picture, people: Sequence[str]) -> Iterator[dict[str, str]]:
    """Three annotations; every third picture has one that breaks a rule of Figure 6."""
    for who, name in enumerate(people):
        text = _annotation(picture.story, who)
        if number % 3 == who and who == number % 2:
            text = _FAULTS[number % len(_FAULTS)](text)
        yield _entry(f"{picture.name}.png", name, text)


def _annotation(story: Mapping[str, Any], who: int) -> str:
    entities = [_worded(entity, who) for entity in story["entities"] if _noted(entity, who)]
    lines = [f"[Entities]: [{', '.join(entities)}]"]
    told = [story["opening"][who]]
    for kind in KINDS:
        chains = [
            Chain(tuple(chain["clues"]), chain["so"][who % len(chain["so"])])
            for chain in story["chains"]
            if chain["kind"] == kind.code and _noted(chain, who)
        ]
        # Some people write brackets, some write one chain a line.
        written = [str(chain) if who == 2 else f"[{chain}]" for chain in chains]
        lines.append(f"[{kind.field}]: " + ("\n".join(written) or "None"))
        told += [text for chain in chains for text in (*chain.premises, chain.conclusion)]
    return "\n".join([*lines, f"[Description]: {' '.join(dict.fromkeys(told))}"])


def _conclusion_only(text: str) -> str:
    return text.replace("[Event Reasoning]: ", "[Event Reasoning]: [Something happens.]\n")


def _two_arrows(text: str) -> str:
    return text.replace("[Location Reasoning]: ", "[Location Reasoning]: [A -> B -> C]\n")


def _section_missing(text: str) -> str:
    return text.replace("[Special Time Reasoning]: None\n", "")


def _twice(text: str) -> str:
    return text.replace("[Entities]: [", "[Entities]: [floor, floor, ")


_FAULTS = (_conclusion_only, _two_arrows, _section_missing, _twice)


def _reviews(pictures: Sequence[Picture]) -> list[dict[str, object]]:
    """Decisions on some of the entities that one annotator noted, and one that decides nothing."""
    alone = [
        (picture, entity["is"][0])
        for picture in pictures
        for entity in picture.story["entities"]
        if not isinstance(entity, str) and len(entity.get("by", "all")) == 1
    ]
    return [
        {"image": f"{p.name}.png", "field": "Entities", "text": text, "accept": n % 3 > 0}
        for n, (p, text) in enumerate(alone[::2])
    ] + [{"image": "treat-1.png", "field": "Entities", "text": "unicorn", "accept": True}]


def _noted(item: str | Mapping[str, Any], who: int) -> bool:
    return isinstance(item, str) or who in item.get("by", (0, 1, 2))


def _worded(entity: str | Mapping[str, Any], who: int) -> str:
    return entity if isinstance(entity, str) else str(entity["is"][who % len(entity["is"])])


def _entry(image: str, annotator: str, annotation: str) -> dict[str, str]:
    return {"image": image, "annotator": annotator, "annotation": annotation}


def _filled(value: Any, variation: Mapping[str, Any]) -> Any:  # noqa: ANN401
    if isinstance(value, str):
        return value.format_map(variation)
    if isinstance(value, list):
        return [_filled(item, variation) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, variation) for key, item in value.items()}
    return value


def _json(entries: Sequence[Mapping[str, Any]]) -> bytes:
    return (json.dumps(entries, ensure_ascii=False, indent=1) + "\n").encode()


def _write(path: Path, data: bytes) -> None:
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
