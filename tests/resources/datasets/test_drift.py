"""Raw files and tables that lost rows, or reject more than before: not written until accepted."""

from dataclasses import replace

import pytest

from bench_assets.core.schema.rows import Question, Rejection
from bench_assets.core.tables.read_rows import FileRows
from bench_resources.datasets.drift import DriftError, DriftGuard
from bench_resources.tables.parquet import TableFiles
from tests.fakes.quiz import quiz

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
    bases = guard.check_table(key, rows, row_type)
    guard.tables.write(key, rows, row_type)
    guard.keep(bases)


def read(guard, n, *, rejected=0, fields=("id", "text")):
    """Read a raw file as a step does."""
    wheres = [f"/data/quiz.jsonl, line {number}" for number in range(1, n + 1)]
    reasons = dict.fromkeys(wheres[:rejected], "no field 'id'")
    guard.keep(guard.check_files({"quiz.jsonl": FileRows(dict.fromkeys(wheres, fields), reasons)}))


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
    guard.check_table(QUESTIONS, quiz(50), Question)  # the build fails before it is written
    build(guard, quiz(50))
    assert guard.base("tables/questions").rows == 50
    with pytest.raises(DriftError, match=r"10 rows \(50 before\)"):
        build(guard, quiz(10))


def test_a_run_that_accepts_passes(guard):
    build(guard, quiz(100))
    build(replace(guard, accepted="run 1"), quiz(50))
    assert guard.base("tables/questions").accepted == "run 1"
    with pytest.raises(DriftError):
        build(guard, quiz(10))


def test_more_rejections_are_refused_with_the_commonest_reason_and_an_example(guard):
    build(guard, quiz(100))
    for n in (2, 7):
        build(guard, rejections(n), REJECTIONS, Rejection)
    message = r"20 of 120 rows are rejected \(2 before\), mostly: no image \(such as line 0\)"
    with pytest.raises(DriftError, match=message):
        build(guard, rejections(20), REJECTIONS, Rejection)
    build(guard, rejections(0), REJECTIONS, Rejection)


def test_a_first_table_is_judged_by_the_expected_rows(guard):
    guard = replace(guard, expected={"questions": 100})
    with pytest.raises(DriftError, match=r"questions: 94 rows \(100 expected\)"):
        build(guard, quiz(94))
    build(guard, quiz(95))


def test_a_first_build_is_the_base_whatever_it_rejects(guard):
    read(guard, 100, rejected=60)
    build(guard, rejections(60), REJECTIONS, Rejection)
    with pytest.raises(DriftError, match=r"quiz.jsonl: 66 of 100 rows are rejected \(60 before\)"):
        read(guard, 100, rejected=66)
    read(guard, 100, rejected=65)


def test_a_raw_file_that_lost_rows_or_a_field_is_refused(guard):
    read(guard, 100)
    with pytest.raises(DriftError, match=r"quiz.jsonl: 50 rows \(100 before\)\. Nothing"):
        read(guard, 50)
    with pytest.raises(DriftError, match=r"quiz.jsonl: field 'text' in 0 rows \(100 before\)\. "):
        read(guard, 100, fields=("id", "texts"))


def test_rows_that_are_there_twice_are_refused_once_they_are_many(guard):
    def check(n_repeated):
        wheres = [f"/data/quiz.jsonl, line {number}" for number in range(100 + n_repeated)]
        hashes = {where: number % 100 for number, where in enumerate(wheres)}
        rows = FileRows(dict.fromkeys(wheres, ("id",)), hashes=hashes)
        guard.keep(guard.check_files({"quiz.jsonl": rows}))

    for n_repeated in (0, 5):  # 5 of 105 rows
        check(n_repeated)
    with pytest.raises(DriftError, match=r"50 of 150 rows are there twice \(0 before\)\. "):
        check(50)


def test_a_rare_or_inner_field_that_is_gone_from_all_rows_is_refused(guard):
    wheres = [f"/data/quiz.jsonl, line {number}" for number in range(100)]
    rare = dict.fromkeys(wheres, ("id",)) | dict.fromkeys(wheres[:2], ("id", "note", "note.by"))

    def check(fields):
        guard.keep(guard.check_files({"quiz.jsonl": FileRows(fields)}))

    check(rare)
    check(rare | {wheres[0]: ("id",)})
    with pytest.raises(DriftError, match=r"quiz.jsonl: field 'note' in 0 rows \(2 before\)\. "):
        check(dict.fromkeys(wheres, ("id",)))


def test_an_accepted_raw_file_stays_accepted_when_another_step_reads_it(guard):
    read(replace(guard, accepted="run 1"), 100, rejected=10)
    read(guard, 100)
    read(guard, 100, rejected=10)


def test_a_raw_file_that_is_gone_is_refused_until_it_is_accepted(guard, tmp_path):
    read(guard, 100)
    with pytest.raises(DriftError, match=r"quiz: quiz.jsonl is gone \(100 rows before\)"):
        guard.check_presence(tmp_path)
    guard.accept()
    for _ in range(2):
        guard.check_presence(tmp_path)
