"""The pages of proofs state the frozen points, which are recomputed where the files are."""

import os
from pathlib import Path

import pytest

from bench_assets.defs.checks.table_checks import question_problems
from tests.docs.blocks import CHECKOUT
from tests.proofs.benchmarks import BENCHMARKS
from tests.proofs.pages import counts, known_page, proofs, proofs_page
from tests.proofs.recompute import build_known, read_frozen, score_responses

CHECKOUTS = os.environ.get("BENCH_PROOFS", "")
IDS = [benchmark.name for benchmark in BENCHMARKS]
N_LOST = {"logicvista": 1}  # rows, by benchmark; benchmarks.toml has the reason
N_DIFFERING = {"mathvista": 37}  # published points that the authors' own script does not give
ANSWERED = [benchmark for benchmark in BENCHMARKS if benchmark.responses]
RULED = [benchmark for benchmark in BENCHMARKS if "official" in benchmark.settings]


@pytest.mark.parametrize(
    ("name", "page"), [("known-benchmarks.md", known_page), ("proofs.md", proofs_page)]
)
def test_a_page_states_the_frozen_results(name, page):
    assert (CHECKOUT / "docs" / name).read_text(encoding="utf-8") == page(), "make proofs writes it"


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=IDS)
def test_all_but_the_expected_rows_are_kept(benchmark):
    n_lost = benchmark.n_rows - counts()[benchmark.name]["kept"]
    assert n_lost == N_LOST.get(benchmark.name, 0)


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=IDS)
def test_a_benchmark_that_loses_rows_has_a_reason(benchmark):
    assert bool(benchmark.lost) == (benchmark.name in N_LOST)


@pytest.mark.parametrize("benchmark", RULED, ids=[benchmark.name for benchmark in RULED])
def test_the_authors_rule_gives_the_points_that_they_published(benchmark):
    points = [row for rows in read_frozen(benchmark).values() for row in rows]
    published = [row for row in points if None not in (row.official, row.published)]
    n_differing = sum(row.official != row.published for row in published)
    assert n_differing == N_DIFFERING.get(benchmark.name, 0)


def test_every_proof_names_tests_that_exist():
    assert [proof for proof in proofs() if not (CHECKOUT / proof["tests"]).is_file()] == []


@pytest.fixture
def checkout(benchmark):
    folder = Path(CHECKOUTS) / benchmark.checkout_name
    if not CHECKOUTS or not folder.is_dir():
        pytest.skip(f"BENCH_PROOFS names no folder with a checkout of {benchmark.repository}")
    return folder


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=IDS)
def test_the_frozen_number_of_rows_is_built_from_the_files(benchmark, checkout):
    questions, _ = build_known(benchmark, checkout)
    assert len(questions) == counts()[benchmark.name]["kept"]
    assert question_problems(questions) == []  # which would stop an evaluation


@pytest.mark.parametrize("benchmark", ANSWERED, ids=[benchmark.name for benchmark in ANSWERED])
def test_the_frozen_points_are_computed_from_the_files(benchmark, checkout):
    questions, task = build_known(benchmark, checkout)
    points = {
        model: score_responses(task, questions, responses)
        for model, responses in benchmark.responses(checkout)
    }
    assert points == read_frozen(benchmark)
