"""Raw files and tables that lost rows, or reject more than before: not written until accepted."""

from dataclasses import replace

import pytest

from bench_assets.core.schema.rows import Question, Rejection
from bench_resources.datasets.drift import DriftError, DriftGuard
from bench_resources.tables.parquet import TableFiles
from tests.quiz import quiz

QUESTIONS, REJECTIONS = ["quiz", "questions"], ["quiz", "rejections"]


@pytest.fixture
def guard(tmp_path):
    tables = TableFiles(folder=str(tmp_path / "tables"))
    source = {"quiz.jsonl": "1"}
    return DriftGuard(tables=tables, suite="quiz", settings="s", source=source, limit=0.05)


def rejections(n):
    return [Rejection(entry=f"line {number}", reason="no image") for number in range(n)]


def build(guard, rows, key=QUESTIONS, row_type=Question):
    """Write a table as a step does."""
    base = guard.check(key, rows, row_type)
    guard.tables.write(key, rows, row_type)
    guard.keep(key, base)


@pytest.mark.parametrize(("n", "passes"), [(96, True), (95, True), (94, False), (0, False)])
def test_up_to_five_percent_fewer_rows_pass(guard, n, passes):
    build(guard, quiz(100))
    if passes:
        build(guard, quiz(n))
        return
    with pytest.raises(DriftError, match=rf"quiz: table questions: {n} rows \(100 before\)"):
        build(guard, quiz(n))
    assert len(guard.tables.read(QUESTIONS, Question)) == 100


def test_small_losses_add_up(guard):
    for n in (100, 96):
        build(guard, quiz(n))
    with pytest.raises(DriftError, match=r"94 rows \(100 before\)"):
        build(guard, quiz(94))


def test_a_drifted_table_is_refused_again_and_again_also_when_the_old_one_is_gone(guard, tmp_path):
    build(guard, quiz(100))
    guard.tables.path(QUESTIONS).unlink()
    changed = replace(guard, source={"quiz.jsonl": "2"})
    for _ in range(2):
        with pytest.raises(DriftError, match=r"before\); since then: quiz.jsonl has changed\. "):
            build(changed, quiz(50))


def test_what_is_accepted_passes_once_and_is_the_new_base(guard):
    build(guard, quiz(100))
    guard.accept()
    guard.check(QUESTIONS, quiz(50), Question)  # the build fails before it is written
    build(guard, quiz(50))
    assert guard.base("questions").rows == 50
    with pytest.raises(DriftError, match=r"10 rows \(50 before\)"):
        build(guard, quiz(10))


def test_only_the_source_that_was_accepted_passes(guard):
    build(guard, quiz(100))
    guard.accept()
    with pytest.raises(DriftError):
        build(replace(guard, source={"quiz.jsonl": "2"}), quiz(50))


def test_a_run_that_accepts_passes(guard):
    build(guard, quiz(100))
    build(replace(guard, accepted="run 1"), quiz(50))
    assert guard.base("questions").accepted == "run 1"
    with pytest.raises(DriftError):
        build(guard, quiz(10))


def test_a_change_of_settings_is_no_drift(guard):
    build(guard, quiz(100))
    build(replace(guard, settings="others"), quiz(10))
    assert guard.base("questions").rows == 10


def test_more_rejections_are_refused_with_the_commonest_reason_and_an_example(guard):
    build(guard, quiz(100))
    for n in (2, 7):
        build(guard, rejections(n), REJECTIONS, Rejection)
    message = r"20 of 120 rows are rejected \(2 before\), mostly: no image \(such as line 0\)"
    with pytest.raises(DriftError, match=message):
        build(guard, rejections(20), REJECTIONS, Rejection)
    build(guard, rejections(0), REJECTIONS, Rejection)


@pytest.mark.parametrize(
    ("edition", "n", "passes"),
    [("own", 5, True), ("own", 6, False), ("published", 6, False), ("built", 60, True)],
)
def test_a_first_table_is_judged_by_its_rejections_unless_people_reject(guard, edition, n, passes):
    build(guard, rejections(n), REJECTIONS, Rejection)
    questions = [replace(question, edition=edition) for question in quiz(95)]
    if passes:
        build(guard, questions)
        return
    with pytest.raises(DriftError, match=rf"questions: {n} of 101 rows are rejected \(0 before\)"):
        build(guard, questions)
    guard.accept()
    build(guard, questions)


def test_a_first_table_is_judged_by_the_expected_rows(guard):
    guard = replace(guard, expected={"questions": 100})
    with pytest.raises(DriftError, match=r"questions: 94 rows \(100 expected\)"):
        build(guard, quiz(94))
    build(guard, quiz(95))


def test_a_folder_of_tables_beside_rejections_is_no_table(guard):
    build(guard, quiz(100), key=["quiz", "shuffled", "questions"])
    for _ in range(2):
        build(guard, rejections(0), REJECTIONS, Rejection)
