"""The mini edition: raw material as galleries, annotators and chat models would have left it.

Images are drawn from ``world.json``, problems come from ``problems.json``. ``responses.jsonl`` has
the responses of the models. Faults are planted: images that nobody finds unusual, a torn file,
wrong captions, true statements, unreadable responses.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from bench_assets.core.tables.source_folder import write_files
from bench_assets.suites.journeybench.published_files import problem_id
from bench_assets.suites.journeybench.raw_material import CRITERIA
from bench_assets.suites.journeybench.synthetic.images import (
    WORLD,
    Member,
    crop_border,
    draw_sprites,
    members,
)

_Line: TypeAlias = dict[str, Any]

_PROBLEMS = Path(__file__).with_name("problems.json")
_ANNOTATORS = ("ana", "bo", "cem", "dai")
_WRITERS = range(1, 9)  # of the captions of an image
_WRONG_WRITER = 7  # number of the writer whose captions are wrong; one verifier accepts them
_PARSE_FAILURE, _ROUND_LIMIT, _SECOND_TRY = range(3)  # images whose dialogues go wrong
_ROUNDS = 4  # rounds of a dialogue, the default of the setting
_TRIES = 3  # tries of a request, the default of the setting


def write(folder: Path, seed: int = 0) -> None:
    """Write the mini edition's raw material: 60 imaginary images and what belongs to them.

    The same seed writes the same bytes. Unchanged files are not written again.
    """
    rng = Random(seed)
    all_members = members()
    material = json.loads(_PROBLEMS.read_text(encoding="utf-8"))
    images = {member.image: member.draw(rng) for member in all_members}
    images |= _planted_images(images[all_members[0].image], rng) | _knowledge_images(rng)
    tables: dict[str, Iterable[Mapping[str, Any]]] = {
        "gallery": _gallery(all_members),
        "filter_votes": _filter_votes(all_members, rng),
        "categories": _categories(all_members),
        "captions": _captions(all_members),
        "caption_votes": _caption_votes(all_members, rng),
        "statement_votes": _statement_votes(all_members, rng),
        "look_alike_votes": _look_alike_votes(all_members),
        "trigger_votes": _trigger_votes(all_members),
        "gsm8k": [{k: p[k] for k in ("question", "answer")} for p in _problems(material)],
        "copa": [{k: v for k, v in event.items() if k != "images"} for event in material["copa"]],
        "knowledge": _knowledge(),
        "solver_responses": _solver_responses(material["solver_responses"]),
        "responses": [
            *_writer_responses(all_members),
            *_dialogue_responses(all_members),
            *_problem_responses(material),
        ],
    }
    write_files(folder / "images", images)
    for name, lines in tables.items():
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        write_files(folder, {f"{name}.jsonl": text.encode()})


def _planted_images(first_image: bytes, rng: Random) -> dict[str, bytes]:
    images = {
        image["name"]: draw_sprites(dict.fromkeys(image["scene"].values(), 1), "beige", rng)
        for image in WORLD["planted"]
    }
    return images | {"torn.png": b"Not a picture.", "again.png": crop_border(first_image)}


def _gallery(all_members: Sequence[Member]) -> Iterator[_Line]:
    for member in all_members:
        yield {"image": member.image, "query": member.query, "prompt": member.prompt}
    for planted in WORLD["planted"]:
        yield {"image": planted["name"], "query": "tiny animal", "prompt": planted["prompt"]}
    for name in ("again.png", "torn.png"):
        yield {"image": name, "query": "flying animal", "prompt": all_members[0].prompt}


def _filter_votes(all_members: Sequence[Member], rng: Random) -> Iterator[_Line]:
    """Yield the votes on every image; a planted one fails a criterion or lacks votes."""
    planted_faults = {image["name"]: image["against"] for image in WORLD["planted"]}
    for name in [*(m.image for m in all_members), *planted_faults, "again.png", "torn.png"]:
        dissenter = _draw_annotator(rng, probability=0.2)
        disputed = rng.choice(CRITERIA)
        fault = planted_faults.get(name, "")
        for annotator in _ANNOTATORS[:2] if fault == "votes" else _ANNOTATORS:
            vote = dict.fromkeys(CRITERIA, True)
            if annotator == dissenter:
                vote[disputed] = False
            if fault in CRITERIA:
                vote[fault] = annotator == "ana"
            yield {"image": name, "annotator": annotator, **vote}


def _draw_annotator(rng: Random, *, probability: float) -> str:
    """Draw an annotator who votes against the others; "" if there is none."""
    return rng.choice(_ANNOTATORS) if rng.random() < probability else ""


def _categories(all_members: Sequence[Member]) -> Iterator[_Line]:
    for member in all_members:
        first, second = member.categories
        yield {"image": member.image, "category1": first, "category2": second}


def _captions(all_members: Sequence[Member]) -> Iterator[_Line]:
    for member in all_members:
        texts = [member.fill_template(template) for template in WORLD["captions"]]
        repetition = texts[3].lower().rstrip(".")
        texts += [member.fill_template(WORLD["wrong_caption"]), repetition]
        for number, text in zip(_WRITERS, texts, strict=True):
            yield {"image": member.image, "writer": f"writer {number}", "caption": text}


def _caption_votes(all_members: Sequence[Member], rng: Random) -> Iterator[_Line]:
    for member in all_members:
        for number in _WRITERS:
            strict_verifier = _draw_annotator(rng, probability=0.15)
            for verifier in _ANNOTATORS:
                sees_fault = number == _WRONG_WRITER and verifier != "ana"
                accepts = not sees_fault and verifier != strict_verifier
                fields = {"image": member.image, "writer": f"writer {number}"}
                yield {**fields, "verifier": verifier, "accepts": accepts}


def _statement_votes(all_members: Sequence[Member], rng: Random) -> Iterator[_Line]:
    conflicting = [*WORLD["statements"], *(_statement(turn) for turn in WORLD["dialogue"])]
    for member in all_members:
        for template in [*conflicting, WORLD["entailed"], _statement(WORLD["unsure"])]:
            lenient_annotator = _draw_annotator(rng, probability=0.1)
            for annotator in _ANNOTATORS[:3]:
                yield {
                    "image": member.image,
                    "statement": member.fill_template(template),
                    "annotator": annotator,
                    "conflicts": template in conflicting and annotator != lenient_annotator,
                }


def _look_alike_votes(all_members: Sequence[Member]) -> Iterator[_Line]:
    for member, candidate in permutations(all_members, 2):
        if candidate.family == member.family:
            fields = {"image": member.image, "candidate": candidate.image}
            for annotator in _ANNOTATORS[:3]:
                yield {**fields, "annotator": annotator, "alike": True, "conflicts": True}


def _trigger_votes(all_members: Sequence[Member]) -> Iterator[_Line]:
    for member in all_members:
        question = member.fill_template(_trigger(member)["question"])
        for annotator in _ANNOTATORS[:3]:
            fields = {"image": member.image, "question": question}
            yield {**fields, "annotator": annotator, "accepts": True}


def _writer_responses(all_members: Sequence[Member]) -> Iterator[_Line]:
    """Yield the responses of the writer model: statements and trigger questions."""
    for member in all_members:
        templates = [*WORLD["statements"], WORLD["entailed"]]
        statements = [{"statement": member.fill_template(template)} for template in templates]
        yield _response(f"{member.image}/statements", f"```json\n{json.dumps(statements)}\n```")
        trigger = _trigger(member)
        question = {
            "trigger": trigger["trigger"],
            "question": member.fill_template(trigger["question"]),
            "answers": [member.fill_template(answer) for answer in trigger["answers"]],
        }
        yield _response(f"{member.image}/triggers", json.dumps([question]))


def _dialogue_responses(all_members: Sequence[Member]) -> Iterator[_Line]:
    for member_index, member in enumerate(all_members):
        if member_index == _PARSE_FAILURE:
            for attempt in range(_TRIES):
                yield _response(f"{member.image}/dialogue/1/asker", WORLD["unreadable"], attempt)
            continue
        turns = list(WORLD["dialogue"])
        if member_index == _ROUND_LIMIT:
            turns = turns[:1] + [WORLD["unsure"]] * (_ROUNDS - 1)
        for round_number, turn in enumerate(turns, 1):
            request_id = f"{member.image}/dialogue/{round_number}"
            yield _response(f"{request_id}/asker", member.fill_template(turn["asker"]))
            for number, answer in enumerate(turn["answerer"], 1):
                yield _response(f"{request_id}/answerer/{number}", member.fill_template(answer))
            is_retried = member_index == _SECOND_TRY and round_number == 1
            if is_retried:
                yield _response(f"{request_id}/reasoner", WORLD["unreadable"])
            yield _response(f"{request_id}/reasoner", _reasoning(member, turn), int(is_retried))


def _problem_responses(material: Mapping[str, Any]) -> Iterator[_Line]:
    for problem in _problems(material):
        text = problem.get("response") or json.dumps(problem["proposals"])
        yield _response(f"{problem_id(problem['question'])}/quantities", text)
    for event in material["copa"]:
        images = [event["images"]] if event["images"] else []
        yield _response(f"copa-{event['idx']}/images", json.dumps(images))


def _solver_responses(entries: Iterable[Mapping[str, Any]]) -> Iterator[_Line]:
    """Yield the responses of two solvers, by which one number is rejected and one pair is open."""
    for entry in entries:
        for number, answer in enumerate(entry["answers"], 1):
            line = _response(entry["question_id"], f"#### {answer}")
            yield {**line, "model": f"solver-{number}"}


def _knowledge() -> Iterator[_Line]:
    for number, (*_, question, answer) in enumerate(WORLD["knowledge"], 1):
        images = {f"image{side}": f"knowledge-{number}-{side}.png" for side in (1, 2)}
        yield {"id": f"knowledge-{number}", **images, "question": question, "answer": answer}


def _knowledge_images(rng: Random) -> dict[str, bytes]:
    images = {}
    for number, (first, n_first, second, n_second, *_) in enumerate(WORLD["knowledge"], 1):
        images[f"knowledge-{number}-1.png"] = draw_sprites({first: n_first}, "ivory", rng)
        images[f"knowledge-{number}-2.png"] = draw_sprites({second: n_second}, "ivory", rng)
    return images


def _problems(material: Mapping[str, Any]) -> list[_Line]:
    return [*material["problems"], *material["planted"]]


def _trigger(member: Member) -> _Line:
    triggers: list[_Line] = WORLD["triggers"]
    return triggers[(member.family + member.index) % len(triggers)]


def _statement(turn: Mapping[str, Any]) -> str:
    """Template of the statement in a reasoner's turn."""
    return str(turn["reasoner"].split("Statement: ")[1].split("\n")[0])


def _reasoning(member: Member, turn: Mapping[str, Any]) -> str:
    """Text of a reasoner's turn, with its statement filled in."""
    statement = _statement(turn)
    return str(turn["reasoner"].replace(statement, member.fill_template(statement)))


def _response(request_id: str, text: str, sample: int = 0) -> _Line:
    return {"question_id": request_id, "text": text, "sample": sample}
