import json
import re
from dataclasses import replace

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Question, Rejection
from bench_assets.suites.blink.dataset import read_key
from bench_assets.suites.cogbench.dataset import source as cogbench
from bench_assets.suites.cogbench.vqa.refinement import read_refinements
from bench_assets.suites.journeybench.captioning.dataset import read_captioned_images
from bench_assets.suites.journeybench.hallucination_vqa.dataset import read_trigger_questions
from bench_assets.suites.journeybench.mcot.dataset import read_mcot
from bench_assets.suites.journeybench.mcot.planned_images import read_counts
from bench_assets.suites.journeybench.mcot.problems import read_problems
from bench_assets.suites.journeybench.multi_image_vqa import image_pairs
from bench_assets.suites.journeybench.multi_image_vqa.dataset import read_multi_image
from bench_assets.suites.journeybench.raw_material import (
    GalleryImage,
    LookAlikeVote,
    TriggerVote,
    read_raw_rows,
)
from bench_assets.suites.journeybench.retrieval.dataset import read_samples
from bench_assets.suites.multi.construction.decisions import read_annotations
from bench_assets.suites.multi.dataset.source import (
    find_release,
    read_hard_list,
    read_image_texts,
    read_items,
    read_knowledge,
)
from tests.suites.cogbench import release as stories
from tests.suites.journeybench.published_bench import Bench
from tests.suites.journeybench.release import HALOQUEST, write_release
from tests.suites.multi.dataset.test_source import PROBLEM

MCOT = {"index": "1", "url": "https://a/1.png", "question": "How many?", "answer": "3"}
PAIR = {"url1": "https://a/1.png", "url2": "https://a/2.png", "question": "How?", "answer": "3"}
CAPTION = {"url": "https://a/1.png", "captions": "A cat drives. A cat at the wheel."}
TEXT = {"url": "https://a/1.png", "hypothesis": "A cat drives."}
KNOWLEDGE = {"knowledge_content": "水是氢氧化物", "knowledge_images": []}
HALO_ROW = HALOQUEST.splitlines()[1]


# Readers write rows to a source file in a folder and read them back as a table.


def lines_reader(name, read_file):
    def write_and_read(folder, rows):
        lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
        file = folder / f"{name}.jsonl"
        file.write_text("".join(f"{line}\n" for line in lines))
        return read_file(file)

    return write_and_read


def raw_reader(name, row_type):
    return lines_reader(name, lambda file: read_raw_rows(file.parent, row_type))


def json_reader(name, read_folder):
    def write_and_read(folder, rows):
        (folder / f"{name}.json").write_text(json.dumps(rows))
        return read_folder(folder)

    return write_and_read


def cogbench_reader(read_release):
    """Return a reader of stories whose table has the image of each story once."""

    def write_and_read(folder, rows):
        stories.write_release(folder, dict(zip("abc", rows, strict=True)))
        table = read_release(cogbench.find_release(folder))
        return replace(table, rows=list(dict.fromkeys(row.image_id for row in table.rows)))

    return write_and_read


def read_haloquest(folder, rows):
    (folder / "haloquest-eval.csv").write_text("\n".join([HALOQUEST.splitlines()[0], *rows, ""]))
    return read_trigger_questions(folder / "haloquest-eval.csv")


def read_multi_problems(folder, rows):
    """Read problems of two items each; the table has the first of them."""
    (folder / "problem_v1.json").write_text(json.dumps(dict(zip("abc", rows, strict=True))))
    table = read_items(find_release(folder))
    return replace(table, rows=table.rows[::2])


def read_multi_knowledge(folder, rows):
    (folder / "problem_v1.json").write_text("{}")
    (folder / "knowledge_v1.json").write_text(json.dumps(dict(zip("abc", rows, strict=True))))
    return read_knowledge(find_release(folder))


def read_multi_hard_list(folder, rows):
    (folder / "problem_v1.json").write_text("{}")
    (folder / "hard_list_v1.json").write_text(json.dumps(rows))
    return read_hard_list(find_release(folder).hard_list)


def read_multi_captions(folder, rows):
    (folder / "captions_v1_blip.csv").write_text("".join(f"{row}\n" for row in rows))
    return read_image_texts(folder / "captions_v1_blip.csv")


def read_cogbench_questions(folder, rows):
    stories.write_release(folder, {}, rows)
    return cogbench.read_questions(cogbench.find_release(folder))


def read_cogbench_annotations(folder, rows):
    (folder / "images").mkdir()
    (folder / "annotations.json").write_text(json.dumps(rows))
    return cogbench.read_annotations(cogbench.find_release(folder))


CHAIN = {"Event Reasoning": ["A girl + a kite -> she plays."]}
STORY = stories.description_entry(**CHAIN)
NOTE = {"image": "a.png", "annotator": "ana", "annotation": "x"}
IMAGE = {"image": "a.png", "query": "cat", "prompt": "a cat that drives"}
VOTE = {"image": "a.png", "annotator": "ana"}
LOOK_ALIKE = VOTE | {"candidate": "c.png", "alike": True, "conflicts": True}
TRIGGER = VOTE | {"question": "Which dog?", "accepts": True}
OTHER_IMAGE = {"image": "b.png"}
SUM = {"question": "1 + 1?", "answer": "<<1+1=2>>2\n#### 2"}
OTHER_SUM = {"question": "What is 1 + 1?"}
COUNT = VOTE | {"count": 3}
EVENT = {"premise": "It rained.", "choice1": "It is wet.", "choice2": "It is dry."} | {
    "question": "effect", "label": 0, "idx": 1
}  # fmt: skip
EXPERT = {"id": "k", "image1": "a.png", "image2": "b.png", "question": "Legs?", "answer": "8"}
gallery = raw_reader("gallery", GalleryImage)
gsm8k = lines_reader("gsm8k", read_problems)
counts = lines_reader("image_counts", read_counts)
copa = lines_reader("copa", image_pairs.read_copa)
experts = lines_reader("knowledge", image_pairs.read_knowledge)
ANNOTATION = {"item": "a_0", "round": 1, "annotator": "ana"}
DROP = {"question_id": "q", "action": "drop"}
multi_annotations = json_reader(
    "annotations", lambda folder: read_annotations(folder / "annotations.json")
)
refinements = json_reader("refinements", read_refinements)
mcot = lines_reader("mcot", read_mcot)
pairs = lines_reader("multi_image_vqa", read_multi_image)
captions = lines_reader("caption", read_captioned_images)
texts = lines_reader("i2t", lambda file: read_samples({"text_positives": file}))
OTHER_MCOT = MCOT | {"url": "https://a/2.png"}


@pytest.mark.parametrize(
    ("write_and_read", "rows"),
    [
        pytest.param(mcot, (MCOT, MCOT | {"answer": 3}, OTHER_MCOT), id="MCOT, an answer"),
        pytest.param(
            pairs, (PAIR, PAIR | {"url2": None}, PAIR), id="multi-image, an address is null"
        ),
        pytest.param(captions, (CAPTION, CAPTION | {"captions": ""}, CAPTION), id="no caption"),
        pytest.param(
            captions, (CAPTION, CAPTION | {"captions": "A \ud83d"}, CAPTION), id="half a character"
        ),
        pytest.param(
            texts, (TEXT, {"hypothesis": "x"}, TEXT | {"url": "https://a/2.png"}), id="retrieval"
        ),
        pytest.param(
            read_haloquest,
            (HALO_ROW, HALO_ROW.replace("false premises", "?"), HALO_ROW.replace("0", "2", 1)),
            id="HaloQuest, a type",
        ),
        pytest.param(
            read_multi_problems,
            (PROBLEM, PROBLEM | {"problem_type_list": ["?", "填空"]}, PROBLEM),
            id="MULTI",
        ),
        pytest.param(
            read_multi_knowledge,
            (KNOWLEDGE, {"knowledge_content": 3}, KNOWLEDGE),
            id="MULTI-Extend",
        ),
        pytest.param(read_multi_hard_list, ("a_1_0", 5, "a_2_0"), id="MULTI-Elite"),
        pytest.param(
            read_multi_captions, ("a.png,a cat", "b.png", "c.png,a dog"), id="MULTI, captions"
        ),
        pytest.param(
            cogbench_reader(cogbench.read_stories),
            (STORY, STORY | {"Entities": "girl"}, STORY),
            id="CogBench, entities",
        ),
        pytest.param(
            cogbench_reader(cogbench.read_stories),
            (STORY, STORY | {"Event Reasoning": [5]}, STORY),
            id="CogBench, a chain costs its story",
        ),
        pytest.param(
            cogbench_reader(cogbench.read_chains),
            (STORY, STORY | {"Description": 1}, STORY),
            id="chains",
        ),
        pytest.param(
            read_cogbench_questions,
            (stories.vqa_row(), stories.vqa_row(choice_b=None), stories.vqa_row()),
            id="CogBench's questions",
        ),
        pytest.param(
            read_cogbench_annotations, (NOTE, NOTE, NOTE | OTHER_IMAGE), id="an annotation twice"
        ),
        pytest.param(gallery, (IMAGE, IMAGE, IMAGE | OTHER_IMAGE), id="gallery, an image twice"),
        pytest.param(
            raw_reader("look_alike_votes", LookAlikeVote),
            (LOOK_ALIKE, LOOK_ALIKE | {"alike": "no"}, LOOK_ALIKE | OTHER_IMAGE),
            id="a vote on a look-alike",
        ),
        pytest.param(
            raw_reader("trigger_votes", TriggerVote),
            (TRIGGER, [TRIGGER], TRIGGER | OTHER_IMAGE),
            id="a vote on a question",
        ),
        pytest.param(gsm8k, (SUM, SUM, SUM | OTHER_SUM), id="GSM8K, a problem twice"),
        pytest.param(counts, (COUNT, COUNT | {"count": "3"}, COUNT | OTHER_IMAGE), id="a count"),
        pytest.param(copa, (EVENT, EVENT, EVENT | {"idx": 2}), id="COPA, a number twice"),
        pytest.param(experts, (EXPERT, EXPERT, EXPERT | {"id": "l"}), id="experts, an id twice"),
        pytest.param(
            multi_annotations,
            (ANNOTATION, ANNOTATION, ANNOTATION | {"round": 2}),
            id="MULTI, annotated twice",
        ),
        pytest.param(refinements, (DROP, DROP | {"action": "replace"}, DROP), id="no new question"),
    ],
)
def test_a_bad_row_is_a_rejection_that_names_its_line_or_entry(tmp_path, write_and_read, rows):
    table = write_and_read(tmp_path, rows)
    assert len(table.rows) == 2
    (rejection,) = table.rejections
    assert re.match(r"[\w-]+\.\w+, (line [23]|entry (2|b|'b'))", rejection.entry)
    assert rejection.reason
    with pytest.raises(SourceError, match=r"line|entry"):
        table.require()


def test_a_release_with_a_bad_row_is_an_own_edition_with_a_rejection(tmp_path):
    source = write_release(tmp_path / "source")
    with (source / "haloquest-eval.csv").open("a") as file:
        file.write("2,3\n")
    bench = Bench(tmp_path / "home", source)
    assert bench.build("hallucination_vqa").success
    assert {q.edition for q in bench.rows("hallucination_vqa/questions", Question)} == {"own"}
    (rejection,) = bench.rows("hallucination_vqa/rejections", Rejection)
    assert rejection.entry == "haloquest-eval.csv, line 4"
    assert rejection.reason == "2 cells, expected 8"


# Editors on Windows put a byte order mark before a text.


def test_a_byte_order_mark_before_json_is_ignored(tmp_path):
    (tmp_path / "val_answers.json").write_text('{"val_Jigsaw_1": "(A)"}', encoding="utf-8-sig")
    assert read_key(tmp_path / "val_answers.json").require() == [("val_Jigsaw_1", "A")]


def test_a_byte_order_mark_before_csv_is_ignored(tmp_path):
    (tmp_path / "captions_v1_blip.csv").write_text("a.png,a cat\n", encoding="utf-8-sig")
    texts = read_image_texts(tmp_path / "captions_v1_blip.csv")
    assert texts.require() == [("a.png", "a cat")]
