import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.file_benchmarks.answers_file import AnswersFile
from bench_assets.file_benchmarks.row_files import Row

ROWS = [Row(f"q.json, {n}", {"id": n, "query": f"Is it {n}?", "truth": ""}) for n in (1, 2, 3)]


def join(folder, answers, **columns):
    """Write the answers to a file; return the rows with its columns added."""
    file = folder / "annotations.json"
    file.write_text(json.dumps(answers))
    columns = {"id_column": "id", "answer_column": "truth"} | columns
    return list(AnswersFile(file=file, **columns).join(ROWS, lambda cells: str(cells["id"])))


def test_answers_and_new_columns_are_added_by_id(tmp_path):
    answers = [{"id": n, "type": "relation", "truth": "no", "query": "other"} for n in (3, 1)]
    first, _, third = join(tmp_path, answers)
    assert first.cells == {"id": 1, "query": "Is it 1?", "truth": "no", "type": "relation"}
    assert third.cells["truth"] == "no"


def test_a_row_without_an_answer_has_a_fault(tmp_path):
    _, second, _ = join(tmp_path, [{"id": n, "truth": "no"} for n in (3, 1)])
    assert second.fault == f"no answer to id '2' in {tmp_path}/annotations.json"


def test_an_id_that_occurs_twice_has_no_answer(tmp_path):
    answers = [{"id": "1", "truth": "no"}, {"id": 1, "truth": "yes"}, {"id": 2, "truth": "no"}]
    assert [bool(row.fault) for row in join(tmp_path, answers)] == [True, False, True]


def test_a_file_without_the_columns_is_refused(tmp_path):
    with pytest.raises(SourceError, match=r"annotations.json: no row with the columns 'id' and"):
        join(tmp_path, [{"qid": 1, "truth": "no"}])


def test_answers_nested_in_objects_are_joined(tmp_path):
    answers = [{"of": {"id": 2}, "answers": [{"answer": "no"}, {"answer": "No"}]}]
    columns = {"id_column": "of.id", "answer_column": "answers.answer"}
    _, second, _ = join(tmp_path, answers, **columns)
    assert second.cells["answers.answer"] == ["no", "No"]
