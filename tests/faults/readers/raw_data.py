import json
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench_assets.suites.blink import dataset as blink
from bench_assets.suites.blink import released_outputs
from bench_assets.suites.blink.builders.raw_files import read_arrays
from bench_assets.suites.codis import dataset as codis
from bench_assets.suites.cogbench.dataset import source as cogbench
from bench_assets.suites.cogbench.dataset.reasoning import KINDS
from bench_assets.suites.journeybench.captioning.dataset import read_captioned_images
from bench_assets.suites.journeybench.hallucination_vqa.dataset import read_trigger_questions
from bench_assets.suites.journeybench.mcot.dataset import read_mcot
from bench_assets.suites.journeybench.mcot.problems import read_problems
from bench_assets.suites.journeybench.multi_image_vqa.dataset import read_multi_image
from bench_assets.suites.journeybench.retrieval.dataset import read_samples
from bench_assets.suites.multi.dataset import source as multi
from bench_assets.suites.multi.dataset.source import find_release, read_hard_list
from tests.fakes.codis_source import entry
from tests.faults.readers.reader import from_file, row

_VOTE = {"submission": "0", "annotator": "a", "correct": True, "different": True,
         "within_rules": True}  # fmt: skip
_JOURNEY = {
    "": "1", "split": "eval", "image type": "real", "hallucination type": "visual challenge",
    "url": "https://x/a.png", "url1": "https://x/a.png", "url2": "https://x/b.png",
    "caption": '1. "A cat."', "captions": '1. "A cat."', "categories": "unusual food",
    "question": "How many?", "answer": "3", "groundtruth responses": "3; three",
    "question type": "false premise", "image name": "a.png", "annotation": "1+1=2\n#### 2",
    "distractor_url": ["https://x/c.png"], "id": "1", "cot": "1+1=2", "category": "x",
}  # fmt: skip
_PROBLEM = {
    "problem_content": "1+1=?", "problem_content_list": ["[MASK]"], "problem_type_list": ["单选"],
    "problem_answer_list": ["B"], "problem_analysis_list": [""], "img_paths": [],
    "knowledge": [], "education": "高中", "subject": "数学", "difficulty": "3", "quality": "4",
}  # fmt: skip
_OUTPUT = {"idx": "val_Jigsaw_1", "answer": "(A)", "full_prediction": "(A)", "prediction": "(A)"}
_STORY = {"Image Name": "a.png", "Entities": ["cat"], "Description": ["A cat."]} | {
    kind.field: ["A cat. -> A home."] for kind in KINDS
}
_COGBENCH_ROW = {"img_id": "1", "category": "event", "question": "?", "choice_a": "a",
          "choice_b": "b", "choice_c": "c", "choice_d": "d", "answer": "A"}  # fmt: skip


def _release(name: str, read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    """A reader of a source folder with images, of which one file is the input."""

    def read_bytes(data: bytes, folder: Path) -> object:
        (folder / "images").mkdir(exist_ok=True)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        return read(folder)

    return read_bytes


def _codis(read: Callable[[codis.CodisRelease], object]) -> Callable[[Path], object]:
    def read_folder(folder: Path) -> object:
        (folder / "images" / "a.png").touch()
        if (folder / "votes.json").exists():
            (folder / "submissions.json").write_text("[]", encoding="utf-8")
        return read(codis.find_release(folder))

    return read_folder


def _cogbench(*reads: Callable[[cogbench.CogBenchRelease], object]) -> Callable[[Path], object]:
    return lambda folder: [read(cogbench.find_release(folder)) for read in reads]


def _read_samples(file: Path) -> object:
    return read_samples({"retrieval": file, "image_distractors": file})


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


RAW_DATA = [
    row("codis data.json", "json", _release("data.json", _codis(codis.read_pairs)),
         _json([entry()])),
    row("codis votes.json", "json", _release("votes.json", _codis(codis.read_votes)),
         _json([_VOTE])),
    row("codis captions", "lines",
         from_file("captions.jsonl", codis.read_captions),
         _json({"image_id": "a", "caption": "A cat."}), _json({"image_id": "b", "caption": ""})),
    row("cogbench stories", "json", _release(cogbench.DESCRIPTIONS, _cogbench(
        cogbench.read_stories, cogbench.read_chains)), _json({"1": _STORY})),
    row("cogbench questions", "json", _release(
        cogbench.QUESTIONS, _cogbench(cogbench.read_questions)), _json([_COGBENCH_ROW])),
    row("cogbench annotations", "json", _release(
        cogbench.ANNOTATIONS, _cogbench(cogbench.read_annotations)),
         _json([{"image": "a.png", "annotator": "a", "annotation": "x"}])),
    *(
        row(f"journeybench {name}, {end}", kind, from_file(f"t.{end}", read), seed)
        for name, read in (
            ("captioning", read_captioned_images),
            ("hallucination_vqa", read_trigger_questions),
            ("mcot", read_mcot),
            ("multi_image_vqa", read_multi_image),
            ("retrieval", _read_samples),
        )
        for end, kind, seed in (
            ("json", "json", _json([_JOURNEY])),
            ("jsonl", "lines", _json(_JOURNEY)),
            ("csv", "bytes", ",".join(_JOURNEY).encode() + b"\n" + b",".join(
                b'"%s"' % str(v).replace('"', '""').encode() for v in _JOURNEY.values()) + b"\n"),
        )
    ),
    row("journeybench problems of GSM8K", "lines", from_file("p.jsonl", read_problems),
         _json({"question": "1+1?", "answer": "<<1+1=2>>2\n#### 2"})),
    row("multi problems", "json", _release("problem_v1.json", lambda folder: multi.read_items(
        find_release(folder))), _json({"a_1": _PROBLEM}),
         _json([_PROBLEM | {"problem_id": "a_1"}])),
    row("multi a list of ids", "json", from_file("hard_list.json", read_hard_list), b'["a_1_0"]'),
    row("multi image texts", "bytes", from_file("captions.csv", multi.read_image_texts),
         b"images/a.png,A cat, a dog.\nb.png,x\n"),
    row("blink a key", "json", from_file(
        "key.json", blink.read_key), b'{"val_Jigsaw_1": "(A)"}'),
    row("blink saved outputs", "json", _release(
        "out/Jigsaw.json", lambda folder: released_outputs.read_outputs(folder / "out")),
         _json({"val": [_OUTPUT]})),
    row("blink a pickle of arrays", "bytes", from_file("a.pkl", read_arrays),
         pickle.dumps({"a": np.arange(4), "b": [1.5, "x"]}, 2), pickle.dumps(np.float64(1), 4)),
]  # fmt: skip
