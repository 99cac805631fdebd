"""The table of faults: whole, written down, and able to find something."""

from collections import Counter
from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from tests.faults import leaks
from tests.faults.everything import every_fault, short_form
from tests.faults.homes import KEY
from tests.faults.readers.fuzzing import fuzz
from tests.faults.readers.reader import Reader
from tests.faults.servers.healing import MISBEHAVIOURS
from tests.faults.table import FoundError, Trial

FAULTS = every_fault()


def test_every_fault_has_a_name_of_its_own():
    named = Counter(fault.title for fault in FAULTS)
    assert [title for title, n in named.items() if n > 1] == []
    assert len(MISBEHAVIOURS) >= 60


def test_make_check_tries_some_of_every_quick_group():
    quick = {fault.group for fault in FAULTS if fault.short}
    assert {fault.group for fault in short_form(FAULTS)} == quick


@pytest.mark.parametrize("text", [KEY, KEY[:15], f"a{KEY}b"])
def test_the_key_is_found_in_a_file_and_in_an_output(text, tmp_path):
    leaks.search(tmp_path, "nothing")
    with pytest.raises(FoundError, match="what was said"):
        leaks.search(tmp_path, text)
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(FoundError, match=r"a\.txt"):
        leaks.search(tmp_path)


def test_a_reader_is_given_what_breaks_it_and_a_bench_error_is_none(tmp_path):
    def fragile(data, folder):
        if b"\0" in data:
            raise SourceError("a NUL")
        if b"9" in data:
            raise ZeroDivisionError

    reader = Reader(name="r", kind="bytes", read=fragile, seeds=(b"1234",))
    with pytest.raises(ZeroDivisionError):
        fuzz(reader, Trial(tmp_path, Random(0)), 500)
