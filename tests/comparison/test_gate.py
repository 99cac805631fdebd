from xml.etree import ElementTree as ET

import pytest

from bench_assets.comparison.gate import as_record, close_gate, junit_xml, markdown_summary
from bench_assets.comparison.verdicts import Comparison
from bench_assets.core.schema.errors import TableError


def build_comparison(task, verdict, change):
    return Comparison(
        task=task,
        against="a",
        metric="accuracy",
        category="all",
        before=0.5,
        after=0.5 + change,
        low=change - 0.1,
        high=change + 0.1,
        p=0.01,
        spread=0.1,
        n=40,
        n_questions=40,
        lost=("q/1",),
        gained=(),
        verdict=verdict,
    )


ROWS = [
    build_comparison("A | B", "better", 0.25),
    build_comparison("<C>", "worse", -0.25),
    build_comparison("D", "undecided", 0.0),
]


@pytest.mark.parametrize(("fail_on", "tasks"), [("worse", ["<C>"]), ("undecided", ["<C>", "D"])])
def test_junit_has_the_worse_tasks_or_the_undecided_ones_too_as_failures(fail_on, tasks):
    root = ET.fromstring(junit_xml("a", "b", ROWS, fail_on))
    assert root.attrib == {"tests": "3", "failures": str(len(tasks))}
    cases = {case.get("classname"): case for case in root.iter("testcase")}
    assert [task for task, case in cases.items() if case.find("failure") is not None] == tasks
    numbers = "worse: 0.500 -> 0.250 (-0.250, 95 % -0.350 to -0.150), p = 0.010, n = 40"
    assert cases["<C>"].findtext("failure") == numbers


def test_the_summary_is_a_table_that_no_name_breaks():
    _sentence, _, *table = markdown_summary("a", "b", ROWS).splitlines()
    assert {line.count("|") for line in table} == {10}  # nine columns
    assert [line.count("**worse**") for line in table] == [0, 0, 0, 1, 0]


def test_the_summary_of_a_second_gate_does_not_continue_the_table_of_the_first(tmp_path):
    summary = tmp_path / "summary.md"
    close_gate("a", "b", ROWS, fail_on=None, summary=summary)
    close_gate("a", "b", ROWS, fail_on=None, summary=summary)
    paragraphs = summary.read_text().split("\n\n")
    tables = [paragraph for paragraph in paragraphs if paragraph.startswith("|")]
    assert [len(table.splitlines()) for table in tables] == [5, 5]  # two of header, three rows


REFUSED = Comparison(
    task="E", against="a", metric="accuracy", category="all", before=0.5, after=0.7,
    verdict="not comparable", reason="other judge", remedy="bench evaluate e --model a --judge j",
)  # fmt: skip


def test_sides_that_are_not_comparable_fail_a_gate_on_undecided_with_the_cause(tmp_path):
    file = tmp_path / "gate.xml"
    assert close_gate("a", "b", [REFUSED], fail_on="undecided", junit=file)
    (suite,) = ET.parse(file).getroot()
    assert (suite.get("errors"), suite.get("failures")) == ("1", "0")
    (error,) = suite.iter("error")
    assert error.get("message") == "not comparable: other judge"
    assert error.text == "bench evaluate e --model a --judge j"


def test_a_gate_on_worse_skips_what_is_not_comparable(tmp_path):
    file = tmp_path / "gate.xml"
    assert not close_gate("a", "b", [ROWS[0], REFUSED], fail_on="worse", junit=file)
    (skipped,) = ET.parse(file).getroot().iter("skipped")
    assert skipped.get("message") == "not comparable: other judge"


def test_a_gate_with_nothing_comparable_is_an_error():
    with pytest.raises(TableError, match="no verdict: not comparable at E: other judge"):
        close_gate("a", "b", [REFUSED], fail_on="worse")


def test_the_summary_has_the_reason_why_there_is_no_verdict():
    *_, row = markdown_summary("a", "b", [REFUSED]).rstrip().splitlines()
    assert row == (
        "| E | accuracy | 0.500 | 0.700 | +0.200 | unknown |  | 0 | not comparable: other judge |"
    )


def test_a_record_has_the_reason_and_the_remedy_and_no_infinite_bounds():
    assert as_record(REFUSED) == {
        "verdict": "not comparable", "low": None, "high": None, "p": None,
        "reason": "other judge", "remedy": "bench evaluate e --model a --judge j",
    }  # fmt: skip
