"""VLMEvalKit's files, read as it reads them: it is not to be had from PyPI."""

import ast
import base64
from dataclasses import replace
from io import BytesIO

import pandas as pd
from PIL import Image

from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.export.formats import FORMATS
from resources.tables.parquet import TableFiles
from tests.export.measured_home import KEY, MODEL, NASTY, leaving, questions

WRITE = FORMATS["vlmevalkit"].write


def load(file):
    return pd.read_csv(file, sep="\t")


def listed(cell):
    """A cell as ``toliststr`` reads it, which runs what stands in brackets."""
    return ast.literal_eval(cell) if cell.startswith("[") and cell.endswith("]") else [cell]


def test_questions_have_their_options_images_and_answer(shown):
    WRITE(leaving(shown, shown / "out"))
    frame = load(shown / "out/quiz-mini.tsv")
    assert frame["index"].tolist() == [1, 2, 3, 4]
    assert frame["question"][3] == f"What is 3? {NASTY}"
    assert (frame["A"][0], frame["B"][0], frame["answer"][0]) == (NASTY, "- minus", "A")
    assert (frame["hint"][0], frame["category"][0]) == ("@context", "kind")
    assert [len(listed(cell)) for cell in frame["image"]] == [1, 2, 2, 2]
    assert [len(listed(cell)) for cell in frame["image_path"]] == [1, 2, 2, 2]
    with Image.open(BytesIO(base64.b64decode(listed(frame["image"][1])[1]))) as image:
        assert image.size == (20, 20)


def test_a_question_without_a_response_is_left_out_and_the_indices_stay(shown):
    WRITE(leaving(shown, shown / "out"))
    frame = load(shown / f"out/{MODEL.replace('/', '%2F')}_quiz-mini.tsv")
    assert frame["index"].tolist() == [1, 2, 4]
    assert KEY not in frame["prediction"][1]


def test_a_question_whose_image_is_lost_is_left_out_and_said(shown):
    (file,) = [path for path in (shown / "images").rglob("*") if path.is_file()]
    file.write_bytes(b"other")
    leaves = leaving(shown, shown / "out")
    WRITE(leaves)
    assert load(shown / "out/quiz-mini.tsv").empty
    assert [line.partition(":")[0] for line in leaves.gathered.left_out] == [
        f"quiz/{number}" for number in range(4)
    ]


def test_an_answer_that_looks_like_code_is_a_text_in_a_list(shown):
    tables = TableFiles(folder=str(shown / "tables"))
    asked = [
        replace(one, kind="text", options=(), answer=("[print('run')]",))
        for one in questions("mini")
    ]
    tables.write(["quiz", "questions"], asked, Question)
    WRITE(leaving(shown, shown / "out"))
    frame = load(shown / "out/quiz-mini.tsv")
    assert listed(frame["answer"][0]) == ["[print('run')]"]
    assert frame["question"][0] == f"@context\nWhat is 0? {NASTY}"


def test_rankings_are_left_out_and_said(home):
    tables = TableFiles(folder=str(home / "tables"))
    asked = [replace(one, kind="ranking") for one in questions("mini")]
    tables.write(["quiz", "questions"], asked, Question)
    tables.write(["quiz", "predictions"], [], Prediction, MODEL)
    leaves = leaving(home, home / "out")
    assert WRITE(leaves) == []
    assert "quiz-mini: VLMEvalKit has no word for rankings" in leaves.gathered.left_out
