"""The mini edition is the same wherever it is written, and nothing answers it but its images."""

from bench_assets.suites.codis.synthetic import write
from tests.fakes.fair_exam import unfair
from tests.suites.codis.assets.test_questions import Bench


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}


def test_the_same_bytes_are_written_again(tmp_path):
    for name in ("one", "two"):
        write(tmp_path / name)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_no_category_can_be_passed_without_its_images(tmp_path):
    bench = Bench(tmp_path)
    bench.build()
    questions = bench.questions()
    for category in {question.category for question in questions}:
        exam = [question for question in questions if question.category == category]
        assert unfair([exam]) == {}, category
