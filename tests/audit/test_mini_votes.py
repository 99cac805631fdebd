"""The votes of the mini editions: people who looked; and with one of them clicking at random."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from bench_assets.audit.items.annotators import agreement_finding, drift_finding, speed_finding
from bench_assets.core.schema.rows import votes_in
from bench_assets.suites.codis import synthetic as codis
from bench_assets.suites.codis.dataset import find_release, read_votes
from bench_assets.suites.codis.task import TASK
from bench_assets.suites.journeybench.raw_material import CRITERIA, FilterVote, read_raw_rows
from bench_assets.suites.journeybench.synthetic import edition as journeybench


@dataclass
class Votes:
    """Evidence of nothing but votes."""

    votes: list


def caught(votes):
    checks = (agreement_finding, speed_finding, drift_finding)
    found = {check.examine.__name__: check(Votes(votes)) for check in checks}
    return {name: [one.about for one in f.suspects] for name, f in found.items() if not f.passed}


def clicking(votes, who, seed):
    rng = np.random.default_rng(seed)
    return [
        replace(one, value=str(rng.choice(["yes", "no"]))) if one.person == who else one
        for one in votes
    ]


@pytest.fixture(scope="module")
def of_codis(tmp_path_factory):
    folder = tmp_path_factory.mktemp("codis")
    codis.write(folder)
    (table,) = TASK.vote_tables
    return table.votes(read_votes(find_release(folder)).rows)


@pytest.fixture(scope="module")
def of_journeybench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("journeybench")
    journeybench.write(folder)
    rows = read_raw_rows(folder, FilterVote).require()
    return votes_in(rows, person="annotator", unit=("image",), criteria=CRITERIA)


def test_codis_own_people_pass(of_codis):
    assert caught(of_codis) == {}


@pytest.mark.parametrize("who", ["ana", "bo", "cem", "dia", "eli"])
def test_any_of_them_who_clicks_at_random_is_caught_for_that(of_codis, who):
    assert caught(clicking(of_codis, who, 0)) == {"agreement_finding": [who]}


@pytest.mark.long  # its images are drawn first
def test_journeybench_own_people_pass(of_journeybench):
    assert caught(of_journeybench) == {}


@pytest.mark.long
def test_one_of_theirs_who_clicks_at_random_is_caught_for_that(of_journeybench):
    who = of_journeybench[0].person
    assert caught(clicking(of_journeybench, who, 0)) == {"agreement_finding": [who]}
