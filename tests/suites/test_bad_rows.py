"""One bad row of a released file is a rejection with its place; the rows beside it are read."""

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
TWO = {"url1": "https://a/1.png", "url2": "https://a/2.png", "question": "How?", "answer": "3"}
CAPTION = {"url": "https://a/1.png", "captions": "A cat drives. A cat at the wheel."}
TEXT = {"url": "https://a/1.png", "hypothesis": "A cat drives."}
PIECE = {"knowledge_content": "水是氢氧化物", "knowledge_images": []}
HALO_ROW = HALOQUEST.splitlines()[1]


def in_lines(name, read):
    def run(folder, rows):
        file = folder / f"{name}.jsonl"
        file.write_text(
            "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)
        )
        return read(file)

    return run


def raw(name, row_type):
    return in_lines(name, lambda file: read_raw_rows(file.parent, row_type))


def in_table(folder, rows):
    (folder / "haloquest-eval.csv").write_text("\n".join([HALOQUEST.splitlines()[0], *rows, ""]))
    return read_trigger_questions(folder / "haloquest-eval.csv")


def problems(folder, rows):
    (folder / "problem_v1.json").write_text(json.dumps(dict(zip("abc", rows, strict=True))))
    table = read_items(find_release(folder))
    return replace(table, rows=table.rows[::2])


def pieces(folder, rows):
    (folder / "problem_v1.json").write_text("{}")
    (folder / "knowledge_v1.json").write_text(json.dumps(dict(zip("abc", rows, strict=True))))
    return read_knowledge(find_release(folder))


def hard(folder, rows):
    (folder / "problem_v1.json").write_text("{}")
    (folder / "hard_list_v1.json").write_text(json.dumps(rows))
    return read_hard_list(find_release(folder))


def image_texts(folder, rows):
    (folder / "captions_v1_blip.csv").write_text("".join(f"{row}\n" for row in rows))
    return read_image_texts(folder / "captions_v1_blip.csv")


def described(read):
    def run(folder, rows):
        stories.write_release(folder, dict(zip("abc", rows, strict=True)))
        table = read(cogbench.find_release(folder))
        return replace(table, rows=list(dict.fromkeys(row.image_id for row in table.rows)))

    return run


def question_rows(folder, rows):
    stories.write_release(folder, {}, rows)
    return cogbench.read_questions(cogbench.find_release(folder))


def annotated(folder, rows):
    (folder / "images").mkdir()
    (folder / "annotations.json").write_text(json.dumps(rows))
    return cogbench.read_annotations(cogbench.find_release(folder))


def decided(name, read):
    def run(folder, rows):
        (folder / f"{name}.json").write_text(json.dumps(rows))
        return read(folder)

    return run


CHAIN = {"Event Reasoning": ["A girl + a kite -> she plays."]}
STORY = stories.description_entry(**CHAIN)
NOTES = [{"image": f"{n}.png", "annotator": "ana", "annotation": "x"} for n in range(2)]
SHOWN = {"image": "a.png", "query": "cat", "prompt": "a cat that drives"}
VOTE = {"image": "a.png", "annotator": "ana"}
ALIKE = VOTE | {"candidate": "c.png", "alike": True, "conflicts": True}
FITS = VOTE | {"question": "Which dog?", "accepts": True}
B = {"image": "b.png"}
SUM = {"question": "1 + 1?", "answer": "<<1+1=2>>2\n#### 2"}
AGAIN = {"question": "What is 1 + 1?"}
COUNT = {"image": "a.png", "annotator": "ana", "count": 3}
EVENT = {"premise": "It rained.", "choice1": "It is wet.", "choice2": "It is dry."} | {
    "question": "effect", "label": 0, "idx": 1
}  # fmt: skip
EXPERT = {"id": "k", "image1": "a.png", "image2": "b.png", "question": "Legs?", "answer": "8"}
gallery = raw("gallery", GalleryImage)
sums, counts = in_lines("gsm8k", read_problems), in_lines("image_counts", read_counts)
copa = in_lines("copa", image_pairs.read_copa)
experts = in_lines("knowledge", image_pairs.read_knowledge)
NOTE = {"item": "a_0", "round": 1, "annotator": "ana"}
DROP = {"question_id": "q", "action": "drop"}
notes = decided("annotations", lambda at: read_annotations(at / "annotations.json"))
refinements = decided("refinements", read_refinements)
mcot, two = in_lines("mcot", read_mcot), in_lines("multi_image_vqa", read_multi_image)
captions = in_lines("caption", read_captioned_images)
texts = in_lines("i2t", lambda file: read_samples({"text_positives": file}))
OTHER = MCOT | {"url": "https://a/2.png"}


@pytest.mark.parametrize(
    ("read", "rows"),
    [
        pytest.param(mcot, (MCOT, MCOT | {"answer": 3}, OTHER), id="MCOT, an answer"),
        pytest.param(two, (TWO, TWO | {"url2": None}, TWO), id="multi-image, an address is null"),
        pytest.param(captions, (CAPTION, CAPTION | {"captions": ""}, CAPTION), id="no caption"),
        pytest.param(
            texts, (TEXT, {"hypothesis": "x"}, TEXT | {"url": "https://a/2.png"}), id="retrieval"
        ),
        pytest.param(
            in_table,
            (HALO_ROW, HALO_ROW.replace("false premises", "?"), HALO_ROW.replace("0", "2", 1)),
            id="HaloQuest, a type",
        ),
        pytest.param(
            problems, (PROBLEM, PROBLEM | {"problem_type_list": ["?", "填空"]}, PROBLEM), id="MULTI"
        ),
        pytest.param(pieces, (PIECE, {"knowledge_content": 3}, PIECE), id="MULTI-Extend"),
        pytest.param(hard, ("a_1_0", 5, "a_2_0"), id="MULTI-Elite"),
        pytest.param(image_texts, ("a.png,a cat", "b.png", "c.png,a dog"), id="MULTI, captions"),
        pytest.param(
            described(cogbench.read_stories),
            (STORY, STORY | {"Entities": "girl"}, STORY),
            id="CogBench, entities",
        ),
        pytest.param(
            described(cogbench.read_stories),
            (STORY, STORY | {"Event Reasoning": [5]}, STORY),
            id="CogBench, a chain costs its story",
        ),
        pytest.param(
            described(cogbench.read_chains), (STORY, STORY | {"Description": 1}, STORY), id="chains"
        ),
        pytest.param(
            question_rows,
            (stories.vqa_row(), stories.vqa_row(choice_b=None), stories.vqa_row()),
            id="CogBench's questions",
        ),
        pytest.param(annotated, (NOTES[0], NOTES[0], NOTES[1]), id="an annotation twice"),
        pytest.param(gallery, (SHOWN, SHOWN, SHOWN | B), id="gallery, an image twice"),
        pytest.param(
            raw("look_alike_votes", LookAlikeVote), (ALIKE, ALIKE | {"alike": "no"}, ALIKE | B),
            id="a vote on a look-alike",
        ),
        pytest.param(
            raw("trigger_votes", TriggerVote), (FITS, [FITS], FITS | B), id="a vote on a question"
        ),
        pytest.param(sums, (SUM, SUM, SUM | AGAIN), id="GSM8K, a problem twice"),
        pytest.param(counts, (COUNT, COUNT | {"count": "3"}, COUNT | B), id="a count"),
        pytest.param(copa, (EVENT, EVENT, EVENT | {"idx": 2}), id="COPA, a number twice"),
        pytest.param(experts, (EXPERT, EXPERT, EXPERT | {"id": "l"}), id="experts, an id twice"),
        pytest.param(notes, (NOTE, NOTE, NOTE | {"round": 2}), id="MULTI, annotated twice"),
        pytest.param(refinements, (DROP, DROP | {"action": "replace"}, DROP), id="no new question"),
    ],
)  # fmt: skip
def test_a_bad_row_costs_one_row_and_says_where(tmp_path, read, rows):
    table = read(tmp_path, rows)
    assert len(table.rows) == 2
    (bad,) = table.rejections
    assert re.match(r"[\w-]+\.\w+, (line [23]|entry (2|b|'b'))", bad.entry)
    assert bad.reason
    with pytest.raises(SourceError, match=r"line|entry"):
        table.require()


def test_a_release_with_a_bad_row_is_an_edition_of_its_own_with_a_rejection(tmp_path):
    source = write_release(tmp_path / "source")
    with (source / "haloquest-eval.csv").open("a") as file:
        file.write("2,3\n")
    bench = Bench(tmp_path / "home", source)
    assert bench.build("hallucination_vqa").success
    assert {q.edition for q in bench.rows("hallucination_vqa/questions", Question)} == {"own"}
    (bad,) = bench.rows("hallucination_vqa/rejections", Rejection)
    assert (bad.entry, bad.reason) == ("haloquest-eval.csv, line 4", "2 cells, expected 8")


def test_a_byte_order_mark_changes_nothing_that_is_read(tmp_path):
    """Editors on Windows put it before a text."""
    (tmp_path / "val_answers.json").write_text('{"val_Jigsaw_1": "(A)"}', encoding="utf-8-sig")
    assert read_key(tmp_path / "val_answers.json").require() == [("val_Jigsaw_1", "A")]
    (tmp_path / "captions_v1_blip.csv").write_text("a.png,a cat\n", encoding="utf-8-sig")
    texts = read_image_texts(tmp_path / "captions_v1_blip.csv")
    assert texts.require() == [("a.png", "a cat")]
