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


def write_table(guard, rows, key=QUESTIONS, row_type=Question):
    """Check a table, write it, and keep its number of rows, as a step does."""
    bases = guard.check_table(key, rows, row_type)
    guard.tables.write(key, rows, row_type)
    guard.keep(bases)


def check_raw_file(guard, n, *, rejected=0, fields=("id", "text")):
    """Check a raw file of n rows, and keep their number, as a step does."""
    locations = [f"/data/quiz.jsonl, line {number}" for number in range(1, n + 1)]
    reasons = dict.fromkeys(locations[:rejected], "no field 'id'")
    rows = FileRows(fields=dict.fromkeys(locations, fields), reasons=reasons)
    guard.keep(guard.check_files({"quiz.jsonl": rows}))


@pytest.mark.parametrize("n", [96, 95])
def test_up_to_five_percent_fewer_rows_pass(guard, n):
    write_table(guard, quiz(100))
    write_table(guard, quiz(n))
    assert len(guard.tables.read(QUESTIONS, Question)) == n


@pytest.mark.parametrize("n", [94, 0])
def test_more_than_five_percent_fewer_rows_are_refused(guard, n):
    write_table(guard, quiz(100))
    with pytest.raises(DriftError, match=rf"quiz: table questions: {n} rows \(100 before\)"):
        write_table(guard, quiz(n))
    assert len(guard.tables.read(QUESTIONS, Question)) == 100


def test_small_losses_add_up(guard):
    write_table(guard, quiz(100))
    write_table(guard, quiz(96))
    with pytest.raises(DriftError, match=r"94 rows \(100 before\)"):
        write_table(guard, quiz(94))


def test_a_drifted_table_is_refused_each_time_even_if_the_old_one_was_deleted(guard):
    write_table(guard, quiz(100))
    guard.tables.path(QUESTIONS).unlink()
    changed = replace(guard, source={"quiz.jsonl": "2"})
    for _ in range(2):
        with pytest.raises(DriftError, match=r"before\); since then: quiz.jsonl has changed\. "):
            write_table(changed, quiz(50))


def test_an_accepted_table_is_the_new_base(guard):
    write_table(guard, quiz(100))
    guard.accept()
    guard.check_table(QUESTIONS, quiz(50), Question)  # a step that fails before it writes
    write_table(guard, quiz(50))
    assert guard.base("tables/questions").rows == 50
    with pytest.raises(DriftError, match=r"10 rows \(50 before\)"):
        write_table(guard, quiz(10))


@pytest.mark.parametrize("damage", ['{"rows": null}', '{"rows": 9, "source": 5}', "[1]", "torn"])
def test_a_damaged_base_is_none(guard, damage):
    write_table(guard, quiz(100))
    (file,) = guard.tables.home.rglob("tables/questions.json")
    file.write_text(damage)
    assert guard.base("tables/questions") is None


def test_a_user_without_a_name_accepts_by_number(guard, monkeypatch):
    monkeypatch.setattr("os.getuid", lambda: 4242)  # of no entry in /etc/passwd
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(variable, raising=False)
    assert guard.accept().startswith("user 4242 ")


def test_a_run_that_accepts_drift_writes_the_new_base(guard):
    write_table(guard, quiz(100))
    write_table(replace(guard, accepted="run 1"), quiz(50))
    assert guard.base("tables/questions").accepted == "run 1"
    with pytest.raises(DriftError, match=r"10 rows \(50 before\)"):
        write_table(guard, quiz(10))


def test_many_more_rejections_are_refused_with_the_commonest_reason(guard):
    write_table(guard, quiz(100))
    write_table(guard, rejections(2), REJECTIONS, Rejection)
    write_table(guard, rejections(7), REJECTIONS, Rejection)
    rare = Rejection(entry="line 99", reason="no text")
    message = r"20 of 120 rows are rejected \(2 before\), mostly: no image \(such as line 0\)"
    with pytest.raises(DriftError, match=message):
        write_table(guard, [rare, *rejections(19)], REJECTIONS, Rejection)
    write_table(guard, rejections(0), REJECTIONS, Rejection)


def test_fewer_rows_than_expected_stay_accepted_until_more_are_lost(guard):
    guard = replace(guard, expected={"questions": 100})
    guard.accept()
    write_table(guard, quiz(90))
    write_table(guard, quiz(90))
    with pytest.raises(DriftError, match=r"questions: 89 rows \(100 expected\)"):
        write_table(guard, quiz(89))


def test_a_first_table_is_compared_with_the_expected_number_of_rows(guard):
    guard = replace(guard, expected={"questions": 100})
    with pytest.raises(DriftError, match=r"questions: 94 rows \(100 expected\)"):
        write_table(guard, quiz(94))
    write_table(guard, quiz(95))


def test_the_rejections_of_a_first_build_are_the_base(guard):
    check_raw_file(guard, 100, rejected=60)
    write_table(guard, rejections(60), REJECTIONS, Rejection)
    with pytest.raises(DriftError, match=r"quiz.jsonl: 66 of 100 rows are rejected \(60 before\)"):
        check_raw_file(guard, 100, rejected=66)
    check_raw_file(guard, 100, rejected=65)


def test_a_raw_file_that_lost_rows_or_a_field_is_refused(guard):
    check_raw_file(guard, 100)
    with pytest.raises(DriftError, match=r"quiz.jsonl: 50 rows \(100 before\)\. Nothing"):
        check_raw_file(guard, 50)
    with pytest.raises(DriftError, match=r"quiz.jsonl: field 'text' in 0 rows \(100 before\)\. "):
        check_raw_file(guard, 100, fields=("id", "texts"))


def check_repeated_rows(guard, n_repeated):
    """Check a raw file of 100 different rows, of which some are there twice."""
    locations = [f"/data/quiz.jsonl, line {number}" for number in range(100 + n_repeated)]
    hashes = {location: number % 100 for number, location in enumerate(locations)}
    rows = FileRows(dict.fromkeys(locations, ("id",)), hashes=hashes)
    guard.keep(guard.check_files({"quiz.jsonl": rows}))


def test_repeated_rows_are_refused_above_five_percent(guard):
    check_repeated_rows(guard, 0)
    check_repeated_rows(guard, 5)  # of 105 rows
    with pytest.raises(DriftError, match=r"50 of 150 rows are there twice \(0 before\)\. "):
        check_repeated_rows(guard, 50)


def test_a_rare_field_that_is_gone_from_all_rows_is_refused(guard):
    def check_notes(n_notes):
        """Check a raw file of 100 rows, of which the first few have a note."""
        rows = FileRows()
        for n in range(100):
            note = ("note", "note.by") if n < n_notes else ()
            rows.fields[f"/data/quiz.jsonl, line {n}"] = ("id", *note)
        guard.keep(guard.check_files({"quiz.jsonl": rows}))

    check_notes(2)
    check_notes(1)
    with pytest.raises(DriftError, match=r"quiz.jsonl: field 'note' in 0 rows \(2 before\)\. "):
        check_notes(0)


def test_an_accepted_raw_file_stays_accepted_when_another_step_reads_it(guard):
    check_raw_file(replace(guard, accepted="run 1"), 100, rejected=10)
    check_raw_file(guard, 100)
    check_raw_file(guard, 100, rejected=10)


def test_a_raw_file_that_is_gone_is_refused_until_it_is_accepted(guard, tmp_path):
    check_raw_file(guard, 100)
    with pytest.raises(DriftError, match=r"quiz: quiz.jsonl is gone \(100 rows before\)"):
        guard.check_presence(tmp_path)
    guard.accept()
    for _ in range(2):
        guard.check_presence(tmp_path)
