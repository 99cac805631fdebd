"""People who vote without looking, and those who do not."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from bench_assets.audit.items.annotators import agreement_finding, annotator_agreements
from bench_assets.core.schema.rows import Vote
from bench_assets.suites.codis import synthetic as codis
from bench_assets.suites.codis.dataset import find_release, read_votes
from bench_assets.suites.codis.task import TASK
from tests.audit.held import PartialEvidence

PEOPLE = ("ann", "bo", "cy", "di")


@dataclass
class Votes(PartialEvidence):
    """Evidence of nothing but votes."""

    votes: list[Vote] = field(default_factory=list)


def votes(seed=0, n=80, right=0.9, yes=0.5):
    """Four people, each of whom says what is so with the same probability."""
    rng = np.random.default_rng(seed)
    return [
        Vote(
            person=who,
            unit=f"{number}",
            criterion=criterion,
            value="yes" if (truth if rng.random() < right else not truth) else "no",
        )
        for number in range(n)
        for criterion in ("unusual", "clear")
        for truth in [rng.random() < yes]
        for who in PEOPLE
    ]


def clicks(cast, says):
    return [replace(v, value=says(i)) if v.person == "bo" else v for i, v in enumerate(cast)]


def random_clicks(cast, seed=1, yes=0.5):
    rng = np.random.default_rng(seed)
    return clicks(cast, lambda _: "yes" if rng.random() < yes else "no")


def caught(cast):
    found = agreement_finding(Votes(cast))
    assert found.passed == (not found.suspects)
    return [suspect.about for suspect in found.suspects]


@pytest.mark.parametrize("seed", range(10))
def test_people_who_look_pass(seed):
    assert caught(votes(seed)) == []


@pytest.mark.parametrize(
    "cast",
    [
        pytest.param(random_clicks(votes()), id="one who clicks at random"),
        pytest.param(random_clicks(votes(), yes=0.9), id="one who clicks yes mostly"),
        pytest.param(clicks(votes(), lambda _: "yes"), id="one who says yes to everything"),
        pytest.param(clicks(votes(), lambda i: "yes" if i % 2 else "no"), id="one who takes turns"),
    ],
)
def test_who_does_not_look_is_caught(cast):
    assert caught(cast) == ["bo"]


def test_the_alpha_of_the_others_is_higher_without_who_clicks_at_random():
    evidence = agreement_finding(Votes(random_clicks(votes()))).suspects[0].evidence
    alpha, without = (
        float(part.split()[0].strip(","))
        for part in evidence.split("alpha ")[1:2] + evidence.split("without them ")[1:]
    )
    assert without > alpha + 0.2


def test_five_votes_tell_nobody_apart():
    assert caught(random_clicks(votes(n=5))) == []


def test_agreement_beyond_chance_by_pencil():
    # Ann and bo say yes, no, no, yes; cy yes, yes, no, no. Of cy's votes the others agree with the
    # first and the third: 2 of 4, as many as dealt votes would get: 4 x (1/2 x 1/2 + 1/2 x 1/2).
    ballots = {"ann": "ynny", "bo": "ynny", "cy": "yynn"}
    cast = [
        Vote(person=who, unit=str(i), criterion="c", value=value)
        for who, values in ballots.items()
        for i, value in enumerate(values)
    ]
    found = {one.name: one for one in annotator_agreements(cast)}
    assert (found["cy"].agreement, found["cy"].kappa) == (0.5, 0.0)
    # Ann agrees with bo on 4 and with cy on 2 of 4: 3 of 4, beside 2 by chance.
    assert found["ann"].kappa == pytest.approx(0.5)


def test_the_spread_by_chance_is_that_of_all_permutations():
    from itertools import permutations

    ballots = {"ann": "yynn", "bo": "ynnn", "cy": "yyyn"}
    cast = [
        Vote(person=who, unit=str(i), criterion="c", value=value)
        for who, values in ballots.items()
        for i, value in enumerate(values)
    ]
    one = next(p for p in annotator_agreements(cast) if p.name == "ann")
    sums = [
        sum((v == ballots["bo"][i]) + (v == ballots["cy"][i]) for i, v in enumerate(dealt)) / 2
        for dealt in permutations(ballots["ann"])
    ]
    spread = np.std(sums)
    assert one.z == pytest.approx((one.agreement * 4 - np.mean(sums)) / spread)


# The votes of the mini editions: people who looked; and with one of them clicking at random.


@pytest.fixture(scope="module")
def of_codis(tmp_path_factory):
    folder = tmp_path_factory.mktemp("codis")
    codis.write(folder)
    (table,) = TASK.vote_tables
    return table.votes(read_votes(find_release(folder)).rows)


def test_codis_own_people_pass(of_codis):
    assert caught(of_codis) == []
