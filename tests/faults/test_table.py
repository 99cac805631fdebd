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
from tests.faults.table import FindingError, Trial

FAULTS = every_fault()


def test_every_fault_has_its_own_title():
    counts = Counter(fault.title for fault in FAULTS)
    assert [title for title, number in counts.items() if number > 1] == []


def test_the_table_has_at_least_sixty_misbehaviours_of_servers():
    assert len(MISBEHAVIOURS) >= 60


def test_make_check_tries_some_faults_of_every_quick_group():
    quick = {fault.group for fault in FAULTS if fault.short}
    assert {fault.group for fault in short_form(FAULTS)} == quick


@pytest.mark.parametrize("text", [KEY, KEY[:14], f"a{KEY}b"])
def test_the_key_is_found_in_an_output(text, tmp_path):
    with pytest.raises(FindingError, match=r"the key is in output 0"):
        leaks.search(tmp_path, text)


@pytest.mark.parametrize("text", [KEY, KEY[:14], f"a{KEY}b"])
def test_the_key_is_found_in_a_file(text, tmp_path):
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(FindingError, match=r"the key is in a\.txt"):
        leaks.search(tmp_path)


def test_no_key_is_found_where_there_is_none(tmp_path):
    (tmp_path / "a.txt").write_text("nothing")
    leaks.search(tmp_path, "nothing")


def test_fuzzing_raises_a_foreign_error_of_a_reader_but_no_bench_error(tmp_path):
    def read(data, folder):
        if b"\0" in data:
            raise SourceError("a NUL")
        if b"9" in data:
            raise ZeroDivisionError

    reader = Reader(name="r", kind="bytes", read=read, seeds=(b"1234",))
    with pytest.raises(ZeroDivisionError):
        fuzz(reader, Trial(tmp_path, Random(0)), 500)
