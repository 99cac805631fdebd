import pytest

from bench_assets.annotation.task_files import read_tasks
from bench_assets.core.schema.errors import SourceError
from tests.cases import read_rows

VOTES = """
suite = "fridge"
[texts]
rules = "Look twice."
[tasks.votes]
title = "Is it cold?"
instructions = "{rules} Say yes or no."
fields = [{ kind = "yes_or_no", name = "cold", label = "Cold?" }]
"""


def test_a_task_has_its_texts_and_fields(tmp_path):
    file = tmp_path / "annotation.toml"
    file.write_text(VOTES)
    task = read_tasks(file)["votes"]
    assert (task.name, task.instructions) == ("fridge/votes", "Look twice. Say yes or no.")
    assert task.fields[0].choices == ("yes", "no")


@pytest.mark.parametrize(
    ("old", "new", "expected_message"), read_rows(__file__, "unusable_entries.jsonl")
)
def test_an_unusable_entry_is_named_with_its_file(tmp_path, old, new, expected_message):
    file = tmp_path / "annotation.toml"
    file.write_text(VOTES.replace(old, new))
    with pytest.raises(SourceError, match=f"annotation.toml{expected_message}"):
        read_tasks(file)
