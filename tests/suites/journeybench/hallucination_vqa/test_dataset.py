from collections import Counter

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.journeybench.hallucination_vqa.dataset import read_trigger_questions
from bench_assets.suites.journeybench.hallucination_vqa.task import TASK

HEADER = ",image_name,url,image type,hallucination type,question,groundtruth responses,split\n"
LINE = (
    '0,,https://a/cat.png,generated,false premises,"Whose\nhat?",No hat; There is no hat ;,eval\n'
)


@pytest.fixture
def trigger_questions(shared_data):
    return read_trigger_questions(shared_data / "haloquest" / "haloquest-eval.csv").require()


def test_the_evaluation_split_has_the_counts_of_its_readme(trigger_questions):
    assert len(trigger_questions) == TASK.counts["all"] == 608
    assert Counter((row.image_source, row.trigger) for row in trigger_questions) == {
        ("generated", "false premises"): 208,
        ("generated", "insufficient context"): 73,
        ("generated", "visual challenge"): 110,
        ("real", "false premises"): 96,
        ("real", "insufficient context"): 48,
        ("real", "visual challenge"): 73,
    }
    assert Counter(row.trigger for row in trigger_questions) + Counter(all=608) == TASK.counts


def test_the_evaluation_split_has_one_to_five_answers_a_question(trigger_questions):
    assert {len(row.answers) for row in trigger_questions} == {1, 2, 3, 4, 5}


def test_the_evaluation_split_asks_about_some_images_more_than_once(trigger_questions):
    assert len({row.image for row in trigger_questions}) < len(trigger_questions)


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
            "line 5: entry_id 'eval_0' as in .*line 3; keep one",
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
def test_an_invalid_file_is_refused_with_its_name_and_line(tmp_path, content, complaint):
    file = tmp_path / "haloquest-eval.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(SourceError, match=rf"haloquest-eval\.csv.*{complaint}"):
        read_trigger_questions(file).require()
