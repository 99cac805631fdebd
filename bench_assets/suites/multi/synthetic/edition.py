"""The mini edition: raw problems with drawn figures, annotations and planted faults.

``problems.json`` holds the problems, written for it, with a figure's description where the
release has an image. They are written out in the raw form that ``source`` reads. Planted are
near-duplicates (ids from 90; 91 only looks like one) and broken problems (80 to 89).
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

from bench_assets.core.tables.source_folder import as_json, write_files
from bench_assets.suites.multi.synthetic import figures as mini_figures

_MATERIAL = Path(__file__).with_name("problems.json")
_ANNOTATORS = ("annotator-1", "annotator-2")  # of the first and the second round
_TORN = b"\x89PNG\r\n\x1a\n torn off"


def write(folder: Path, seed: int = 0) -> None:
    """Write the mini edition's raw material: problems, images, annotations, knowledge, captions.

    The same seed writes the same bytes. Files that hold them already are left alone.

    Args:
        folder: A folder of its own; made if need be.
        seed: Draws what the annotators think of difficulty and quality.
    """
    material = json.loads(_MATERIAL.read_text(encoding="utf-8"))
    problems, knowledge = material["problems"], material["knowledge"]
    files = {
        "raw_problems.json": as_json({one["id"]: _problem(one) for one in problems}),
        "annotations.json": as_json(list(_annotations(problems, Random(seed)))),
        "knowledge_mini.json": as_json({one["name"]: _piece(one) for one in knowledge}),
        "captions_mini_blip.csv": _captions(problems).encode(),
    }
    for one in problems:
        files |= _images(one, _folder(one))
    for one in knowledge:
        files |= _images(one, "knowledge")
    write_files(folder, files)


def _problem(one: Mapping[str, Any]) -> dict[str, Any]:
    parts = one["parts"]
    return {
        "problem_content": one.get("general", ""),
        "problem_content_list": [part["text"] for part in parts],
        "problem_type_list": [part["type"] for part in parts],
        "problem_answer_list": [part["answer"] for part in parts],
        "problem_analysis_list": [part["analysis"] for part in parts],
        # Raw HTML names its own images.
        "img_paths": [] if one.get("format") == "html" else _paths(one, _folder(one)),
        "knowledge": one.get("knowledge", []),
        "education": one["education"],
        "subject": [one["subject"]],
        "format": one.get("format", "markdown"),
    }


def _piece(one: Mapping[str, Any]) -> dict[str, Any]:
    return {"knowledge_content": one["content"], "knowledge_images": _paths(one, "knowledge")}


def _annotations(problems: list[Mapping[str, Any]], rng: Random) -> Iterator[Mapping[str, Any]]:
    """Two rounds for every sub-question; what is noted in the material is about the first one."""
    for round_, annotator in enumerate(_ANNOTATORS, 1):
        for one in problems:
            for number in range(len(one["parts"])):
                notes = [note for note in one.get("notes", ()) if note["round"] == round_]
                yield {
                    "item": f"{one['id']}_{number}",
                    "round": round_,
                    "annotator": annotator,
                    "difficulty": rng.randint(1, 5),
                    "quality": rng.randint(2, 5),
                    **(notes[0] if notes and number == 0 else {}),
                }


def _captions(problems: list[Mapping[str, Any]]) -> str:
    return "".join(
        f"{path},{figure['caption']}\n"
        for one in problems
        for path, figure in zip(_paths(one, _folder(one)), one.get("figures", ()), strict=True)
        if "caption" in figure
    )


def _images(one: Mapping[str, Any], folder: str) -> dict[str, bytes]:
    """Every figure as a file; a lost one is none, a torn one does not decode."""
    paths = [path.removeprefix("../data/") for path in _paths(one, folder)]
    figures = zip(paths, one.get("figures", ()), strict=True)
    return {
        path: _TORN if figure["kind"] == "torn" else mini_figures.draw(figure)
        for path, figure in figures
        if figure["kind"] != "lost"
    }


def _paths(one: Mapping[str, Any], folder: str) -> list[str]:
    """Where the figures lie, written as the release writes it."""
    name = one.get("id", one.get("name", "")).split("_")[-1]
    return [
        f"../data/images/{folder}/{name}_{number}.png"
        for number in range(1, len(one.get("figures", ())) + 1)
    ]


def _folder(one: Mapping[str, Any]) -> str:
    return str(one["id"]).split("_")[0]
