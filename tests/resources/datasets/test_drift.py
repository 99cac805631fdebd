"""Tables that lost rows, or reject more than before: not written, until somebody accepts them."""

import pytest

from bench_assets.core.schema.rows import Question, Rejection
from bench_resources.datasets.drift import DriftError, accept_drift, base_of, check_drift
from bench_resources.tables.parquet import TableFiles
from tests.quiz import quiz

QUESTIONS, REJECTIONS = ["quiz", "questions"], ["quiz", "rejections"]
LIMIT = 0.05


@pytest.fixture
def tables(tmp_path):
    return TableFiles(folder=str(tmp_path / "tables"))


def rejections(n):
    return [Rejection(entry=f"line {number}", reason="no image") for number in range(n)]


def build(tables, rows, key=QUESTIONS, row_type=Question, settings="s"):
    """Write a table as a step does."""
    base = check_drift(tables, key, rows, row_type, settings, LIMIT)
    tables.write(key, rows, row_type, footer=base)


def test_a_first_build_has_nothing_to_compare_with(tables):
    build(tables, quiz(1))
    assert base_of(tables, QUESTIONS).rows == 1


@pytest.mark.parametrize(("n", "passes"), [(96, True), (95, True), (94, False), (0, False)])
def test_up_to_five_percent_fewer_rows_pass(tables, n, passes):
    build(tables, quiz(100))
    if passes:
        build(tables, quiz(n))
        return
    with pytest.raises(DriftError, match=rf"quiz/questions: {n} rows \(100 before\)"):
        build(tables, quiz(n))
    assert len(tables.read(QUESTIONS, Question)) == 100


def test_small_losses_add_up(tables):
    for n in (100, 96):
        build(tables, quiz(n))
    with pytest.raises(DriftError, match=r"94 rows \(100 before\)"):
        build(tables, quiz(94))


def test_a_drifted_table_is_refused_again_and_again(tables):
    build(tables, quiz(100))
    for _ in range(2):
        with pytest.raises(DriftError):
            build(tables, quiz(50))


def test_an_accepted_table_passes_once_and_is_the_new_base(tables):
    build(tables, quiz(100))
    accepted_by = accept_drift(tables, QUESTIONS)
    build(tables, quiz(50))
    assert base_of(tables, QUESTIONS) == (50, "s", accepted_by)
    with pytest.raises(DriftError, match=r"10 rows \(50 before\)"):
        build(tables, quiz(10))


def test_a_change_of_settings_is_no_drift(tables):
    build(tables, quiz(100))
    build(tables, quiz(10), settings="others")
    assert base_of(tables, QUESTIONS).rows == 10


def test_more_rejections_are_refused_with_the_commonest_reason_and_an_example(tables):
    build(tables, quiz(100))
    build(tables, rejections(2), REJECTIONS, Rejection)
    build(tables, rejections(7), REJECTIONS, Rejection)
    with pytest.raises(DriftError, match=r"20 rejected rows \(7 before\), mostly: no image \(such"):
        build(tables, rejections(20), REJECTIONS, Rejection)
    build(tables, rejections(0), REJECTIONS, Rejection)


def test_a_table_that_was_never_built_cannot_be_accepted(tables):
    with pytest.raises(Exception, match="quiz/questions: no table yet"):
        accept_drift(tables, QUESTIONS)
