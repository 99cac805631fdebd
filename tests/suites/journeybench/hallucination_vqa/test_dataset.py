"""HaloQuest's CSV: the authors' own counts, and what is wrong with files that are not like it."""

from collections import Counter

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.journeybench.hallucination_vqa.dataset import (
    read_trigger_questions,
    to_questions,
)
from bench_assets.suites.journeybench.hallucination_vqa.task import TASK
from tests.fakes.rows import stored

HEADER = ",image_name,url,image type,hallucination type,question,groundtruth responses,split\n"
LINE = (
    '0,,https://a/cat.png,generated,false premises,"Whose\nhat?",No hat; There is no hat ;,eval\n'
)


@pytest.fixture
def entries(shared_data):
    return read_trigger_questions(shared_data / "haloquest" / "haloquest-eval.csv").require()


def test_the_evaluation_split_has_the_counts_of_its_readme(entries):
    assert len(entries) == TASK.counts["all"] == 608
    cells = Counter((entry.image_source, entry.trigger) for entry in entries)
    assert cells == {
        ("generated", "false premises"): 208,
        ("generated", "insufficient context"): 73,
        ("generated", "visual challenge"): 110,
        ("real", "false premises"): 96,
        ("real", "insufficient context"): 48,
        ("real", "visual challenge"): 73,
    }
    by_trigger = Counter(entry.trigger for entry in entries)
    assert by_trigger == {name: n for name, n in TASK.counts.items() if name != "all"}
    assert Counter(len(entry.answers) for entry in entries) == {1: 103, 2: 1, 3: 484, 4: 17, 5: 3}
    assert len({entry.image for entry in entries}) == 376


def test_entries_without_a_image_are_listed_and_left_out(entries):
    there = {entry.image: stored(entry.image) for entry in entries[:300]}
    table = to_questions(entries, there)
    questions, rejections = table.rows, table.rejections
    assert len(questions) + len(rejections) == 608
    assert rejections[0].reason.startswith("no image: https://")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        pytest.param(
            HEADER + LINE.replace("false premises", "wrong premises"),
            r"line 3: hallucination type is 'wrong premises', expected one of false premises",
            id="an unknown trigger",
        ),
        pytest.param(
            HEADER + LINE + LINE,
            "line 5: entry_id 'eval_0' is that of .*line 3; keep one",
            id="a number twice",
        ),
        pytest.param(
            HEADER + LINE.replace("No hat; There is no hat ;", ";"),
            "line 3: expected an address, a question and an answer",
            id="no answer",
        ),
        pytest.param(
            HEADER.replace("url", "link") + LINE, "no field 'url'; it has", id="a column missing"
        ),
        pytest.param(HEADER + '0,"cat', "not CSV in UTF-8", id="an open quotation mark"),
    ],
)
def test_bad_files_are_refused_with_file_and_line(tmp_path, content, complaint):
    with pytest.raises(SourceError, match=complaint) as error:
        read_trigger_questions(written(tmp_path, content)).require()
    assert "haloquest-eval.csv" in str(error.value)


def written(folder, content):
    file = folder / "haloquest-eval.csv"
    file.write_text(content, encoding="utf-8")
    return file
