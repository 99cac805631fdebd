import json
import random
from collections import Counter
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.published_numbers import read_published
from bench_assets.core.schema.rows import Judgement
from bench_assets.evaluation import pipeline
from bench_assets.suites import codis
from bench_assets.suites.codis.task import TASK
from tests.fakes.rows import prediction, question

PAIRS = {category: n // 2 for category, n in TASK.counts.items() if category != "all"}
PUBLISHED = read_published(Path(codis.__file__).with_name("published.csv"))
TABLES = {
    (row.source, row.model): [
        cell
        for cell in PUBLISHED
        if (cell.source, cell.model) == (row.source, row.model)
        and cell.metric in ("acc_p", "acc_q")
    ]
    for row in PUBLISHED
    if ("Table 3 " in row.source or "Table 10 " in row.source) and row.model != "Human"
}
# What the counts behind a row give in a cell that is printed otherwise.
MISPRINTS = {("CODIS, Table 10 (GPT-4 evaluation)", "BLIP-2-11B"): {("acc_p", "all"): "7.9"}}


def whole_number(printed, n):
    """The only k for which 100 k / n is printed like this."""
    (k,) = [k for k in range(n + 1) if f"{100 * k / n:.1f}" == printed]
    return k


def paper_verdicts(cells):
    """Verdicts on every query that give the counts behind a printed row."""
    printed = {(cell.metric, cell.category): cell.printed for cell in cells}
    verdicts = {}
    for category, n in PAIRS.items():
        n_right_pairs = whole_number(printed["acc_p", category], n)
        n_half_right = whole_number(printed["acc_q", category], 2 * n) - 2 * n_right_pairs
        assert 0 <= n_half_right <= n - n_right_pairs
        for i in range(n):
            verdicts[f"codis/{category}/{i}/1"] = i < n_right_pairs + n_half_right
            verdicts[f"codis/{category}/{i}/2"] = i < n_right_pairs
    return verdicts


def summarise(questions, predictions, judgements):
    scores = pipeline.score(TASK, questions, predictions, judgements)
    metrics = pipeline.summarise(TASK, questions, predictions, scores)
    return {(row.metric, row.category): row for row in metrics}


@pytest.mark.parametrize(("source", "model"), TABLES)
def test_replayed_verdicts_give_every_printed_cell(source, model):
    cells = TABLES[source, model]
    verdicts = paper_verdicts(cells)
    questions = []
    for name in verdicts:
        _, category, pair_id, _ = name.split("/")
        group = f"{category} {pair_id}"
        questions.append(question(question_id=name, category=category, group_id=group))
    predictions = [prediction(question_id=name) for name in verdicts]
    judgements = [
        Judgement.of(row, judge="paper", criterion="correct", verdict=verdict, response="")
        for row, verdict in zip(predictions, verdicts.values(), strict=True)
    ]
    metrics = summarise(questions, predictions, judgements)
    differing = {}
    for cell in cells:
        replayed = f"{100 * metrics[cell.metric, cell.category].value:.1f}"
        if replayed != cell.printed:
            differing[cell.metric, cell.category] = replayed
    assert differing == MISPRINTS.get((source, model), {})
    assert metrics["acc_p", "all"].n_scored == 353
    assert metrics["acc_q", "all"].n_scored == 706


def read_json(file):
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def authors_example(shared_data):
    """The authors' questions, and the responses of their example file by pair."""
    pairs = read_json(shared_data / "codis" / "data.json")
    examples = read_json(shared_data / "codis" / "output_example.json")
    responses = {row["id"]: row["output"] for row in examples}
    questions = [
        question(
            question_id=f"codis/{pair['id']}/{half}",
            text=pair["question"],
            answer=(pair["answer"][f"answer_{half}"],),
            options=(pair["answer"]["answer_1"], pair["answer"]["answer_2"]),
            category=pair["category"],
            group_id=pair["id"],
        )
        for pair in pairs
        for half in (1, 2)
    ]
    return questions, responses


def pair_and_query_accuracy(questions, responses):
    predictions = [
        prediction(question_id=f"codis/{pair}/{half}", text=response[f"output_{half}"])
        for pair, response in responses.items()
        for half in (1, 2)
    ]
    judgements = pipeline.judge(TASK, questions, predictions, None)
    metrics = summarise(questions, predictions, judgements)
    acc_p, acc_q = metrics["acc_p", "all"], metrics["acc_q", "all"]
    assert (acc_p.n_scored, acc_q.n_scored) == (353, 706)
    return acc_p.value, acc_q.value


@pytest.mark.parametrize("k", [0, 1, 10, 100, 353])
def test_swapping_the_answers_of_k_pairs_costs_k_pairs_and_2k_queries(authors_example, k):
    questions, responses = authors_example
    swapped = set(random.Random(k).sample(sorted(responses), k))
    changed = {
        pair: {"output_1": outputs["output_2"], "output_2": outputs["output_1"]}
        for pair, outputs in responses.items()
        if pair in swapped
    }
    assert pair_and_query_accuracy(questions, responses | changed) == pytest.approx(
        (1 - k / 353, 1 - 2 * k / 706)
    )


def test_rules_distinguish_the_two_answers_of_every_pair(authors_example):
    questions, _ = authors_example
    for query in questions:
        for option in query.options:
            predictions = [prediction(question_id=query.question_id, text=option)]
            (judgement,) = pipeline.judge(TASK, [query], predictions, None)
            assert judgement.verdict is (option == query.answer[0]), (query, option)


HEADER = "task,model,condition,metric,category,value,printed,source,note\n"
LINE = 'codis,GPT-4V,main,acc_p,all,0.323,32.3,"CODIS, Table 3",\n'


def printed_rows(table, metric=""):
    """Rows of a table of the paper, of one metric or all."""
    rows = [row for row in PUBLISHED if row.source.split(" (")[0] == f"CODIS, Table {table}"]
    return [row for row in rows if metric in ("", row.metric)]


def as_printed(k, n):
    """Percent with one decimal, halves rounded up."""
    return f"{(2000 * k + n) // (2 * n) / 10:.1f}"


def test_published_numbers_have_all_cells_of_the_tables():
    assert Counter(row.source.split(" (")[0] for row in PUBLISHED) == {
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


@pytest.mark.parametrize(
    ("rows", "n", "exceptions"),
    [
        pytest.param(
            [row for row in printed_rows(3, "context_awareness") if row.model != "Human"],
            353,
            {("InstructBLIP-13B", "14.1"), ("LLaVA-7B", "17.2")},
            id="context awareness is over 353 pairs, but for two cells that were cut",
        ),
        pytest.param(printed_rows(4), 706, set(), id="output variability is over 706 queries"),
        pytest.param(
            printed_rows(5), 151, set(), id="captions are tried on 302 queries, 151 pairs"
        ),
        pytest.param(
            printed_rows(7, "agreement"),
            706,
            {("BLIP-2-6.7B", "98.1")},
            id="agreement is over 706 queries",
        ),
        pytest.param(
            printed_rows(8), 400, set(), id="consistency is over 100 queries and 4 people"
        ),
        pytest.param(printed_rows(13), 100, set(), id="prompts are tried on 100 pairs, not on 200"),
    ],
)
def test_printed_shares_are_whole_numbers_of_their_denominators(rows, n, exceptions):
    possible = {as_printed(k, n) for k in range(n + 1)}
    assert rows
    assert {(row.model, row.printed) for row in rows if row.printed not in possible} == exceptions


@pytest.mark.parametrize("metric", ["acc_p", "acc_q"])
def test_the_human_row_is_the_mean_of_five_people(metric):
    *people, average = (row.printed for row in printed_rows(9, metric))
    assert f"{sum(map(float, people)) / 5:.1f}" == average


@pytest.mark.parametrize(
    ("content", "expected_message"),
    [
        pytest.param("", "line 1: None, expected", id="an empty file"),
        pytest.param(HEADER + LINE.replace("0.323", "32 %"), "line 2: value is '32 %'", id="value"),
        pytest.param(HEADER + LINE.rstrip() + ",x\n", "line 2: expected 9 cells", id="ten cells"),
        pytest.param(HEADER + LINE + LINE, "line 3: duplicate row", id="a duplicate row"),
        pytest.param(HEADER + '"', "cannot be read as CSV", id="an open quotation mark"),
    ],
)
def test_a_faulty_table_of_numbers_is_named_by_file_and_fault(tmp_path, content, expected_message):
    file = tmp_path / "published.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(SourceError, match=rf"published\.csv.*{expected_message}"):
        read_published(file)
