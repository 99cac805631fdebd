"""The pages of proofs are those of what is frozen; where the files are, they are recomputed."""

import os
from pathlib import Path

import pytest

from bench_assets.defs.checks.table_checks import question_problems
from tests.docs.blocks import CHECKOUT
from tests.proofs.benchmarks import BENCHMARKS
from tests.proofs.pages import counts, known_page, proofs, proofs_page
from tests.proofs.recompute import build_known, read_frozen, score_responses

FILES = os.environ.get("BENCH_PROOFS", "")
LOST = {"logicvista": 1}
IDS = [benchmark.name for benchmark in BENCHMARKS]
OFFICIAL_DIFFER = {"mathvista": 37}  # points that are not those of the authors' own script, either
RULED = [benchmark for benchmark in BENCHMARKS if "official" in benchmark.settings]


@pytest.mark.parametrize(
    ("name", "page"), [("known-benchmarks.md", known_page), ("proofs.md", proofs_page)]
)
def test_a_page_is_what_is_frozen(name, page):
    assert (CHECKOUT / "docs" / name).read_text(encoding="utf-8") == page(), "make proofs writes it"


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=IDS)
def test_all_rows_are_kept_but_those_that_are_named(benchmark):
    n_lost = benchmark.n_rows - counts()[benchmark.name]["kept"]
    assert n_lost == LOST.get(benchmark.name, 0)
    assert bool(n_lost) == bool(benchmark.lost)


@pytest.mark.parametrize("benchmark", RULED, ids=[one.name for one in RULED])
def test_the_authors_rule_gives_the_points_that_they_published(benchmark):
    points = [row for rows in read_frozen(benchmark).values() for row in rows]
    known = [row for row in points if None not in (row.official, row.published)]
    differ = sum(row.official != row.published for row in known)
    assert differ == OFFICIAL_DIFFER.get(benchmark.name, 0)


def test_every_proof_names_tests_that_exist():
    assert [proof for proof in proofs() if not (CHECKOUT / proof["tests"]).is_file()] == []


@pytest.mark.skipif(not FILES, reason="BENCH_PROOFS names no folder of checkouts")
@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=IDS)
def test_frozen_points_come_out_of_the_files(benchmark):
    folder = Path(FILES) / benchmark.repository.partition("/")[2]
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    built, task = build_known(benchmark, folder)
    assert len(built.questions) == counts()[benchmark.name]["kept"]
    assert question_problems(built.questions) == []  # which would stop an evaluation
    frozen = read_frozen(benchmark)
    for model, answered in benchmark.responses(folder) if benchmark.responses else ():
        assert score_responses(task, built.questions, answered) == frozen[model]
