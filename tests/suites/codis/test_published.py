from collections import Counter
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.published_numbers import read_published
from bench_assets.suites import codis
from bench_assets.suites.codis.task import TASK

ROWS = read_published(Path(codis.__file__).with_name("published.csv"))
HEADER = "task,model,condition,metric,category,value,printed,source,note\n"
LINE = 'codis,GPT-4V,main,acc_p,all,0.323,32.3,"CODIS, Table 3",\n'


def of(table, *metrics):
    rows = [row for row in ROWS if row.source.split(" (")[0] == f"CODIS, Table {table}"]
    return [row for row in rows if not metrics or row.metric in metrics]


def as_printed(k, n):
    """Percent with one decimal, halves rounded up."""
    return f"{(2000 * k + n) // (2 * n) / 10:.1f}"


def test_every_number_of_every_table_is_there():
    assert Counter(row.source.split(" (")[0] for row in ROWS) == {
        "CODIS, Table 3": 15 * 13,
        "CODIS, Table 4": 5,
        "CODIS, Table 5": 4 * 2,
        "CODIS, Table 6": 5 * 6,
        "CODIS, Table 7": 14 * 3,
        "CODIS, Table 8": 14,
        "CODIS, Table 9": 6 * 2,
        "CODIS, Table 10": 14 * 12,
        "CODIS, Table 13": 4 * 4,
    }


def test_conditions_and_measures_are_those_of_the_task():
    assert {row.condition for row in ROWS} == set(TASK.conditions)
    assert {row.category for row in of(3)} == set(TASK.counts)
    assert set(TASK.measures) == {row.metric for row in of(3)}


def test_values_are_what_is_printed_as_shares():
    for row in ROWS:
        unit = 1 if row.metric == "word_count" else 100
        assert row.value == pytest.approx(float(row.printed) / unit)


@pytest.mark.parametrize(
    ("rows", "n", "exceptions"),
    [
        pytest.param(
            [r for r in of(3, "context_awareness") if r.model != "Human"],
            353,
            {("InstructBLIP-13B", "14.1"), ("LLaVA-7B", "17.2")},
            id="context awareness is over 353 pairs, but for two cells that were cut",
        ),
        pytest.param(of(4), 706, set(), id="output variability is over 706 queries"),
        pytest.param(of(5), 151, set(), id="captions are tried on 302 queries, 151 pairs"),
        pytest.param(
            of(7, "agreement"), 706, {("BLIP-2-6.7B", "98.1")}, id="agreement is over 706 queries"
        ),
        pytest.param(of(8), 400, set(), id="consistency is over 100 queries and 4 people"),
        pytest.param(of(13), 100, set(), id="prompts are tried on 100 pairs, not on 200"),
    ],
)
def test_printed_shares_are_whole_numbers_of_what_they_are_over(rows, n, exceptions):
    possible = {as_printed(k, n) for k in range(n + 1)}
    assert rows
    assert {(row.model, row.printed) for row in rows if row.printed not in possible} == exceptions


def test_the_human_row_is_the_mean_of_five_people():
    for metric in ("acc_p", "acc_q"):
        *people, average = [float(row.printed) for row in of(9, metric)]
        assert f"{sum(people) / 5:.1f}" == f"{average:.1f}"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        pytest.param("task,model\n", "line 1", id="other columns"),
        pytest.param("", "line 1", id="an empty file"),
        pytest.param(HEADER + LINE.replace("0.323", "32 %"), "line 2: value is '32 %'", id="value"),
        pytest.param(HEADER + LINE.replace("GPT-4V", ""), "line 2", id="an empty cell"),
        pytest.param(HEADER + "codis,GPT-4V\n", "line 2", id="a short line"),
        pytest.param(HEADER + LINE.rstrip() + ",x,y\n", "line 2", id="a long line"),
        pytest.param(
            HEADER + LINE + LINE, "line 3: .*twice", id="a number that stands there twice"
        ),
        pytest.param(HEADER + '"', "CSV", id="an open quotation mark"),
    ],
)
def test_what_is_no_table_of_numbers_is_named_by_file_and_line(tmp_path, content, complaint):
    file = tmp_path / "published.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(SourceError, match=rf"published\.csv.*{complaint}"):
        read_published(file)


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"nowhere\.csv"):
        read_published(tmp_path / "nowhere.csv")
