import pytest

from bench_assets.audit.judges.human_agreement import agreement_finding, bias_finding
from bench_assets.core.stats.corrected_means import CheckedUnit
from bench_assets.evaluation.checked_scores import CheckedScores, check_by_people
from tests.audit.memory_evidence import MemoryEvidence


def evidence_of_verdicts(*verdicts):
    """Evidence of one model, from pairs of the judge's and people's points for a response."""
    units = [CheckedUnit(judge, people) for judge, people in verdicts]
    responses = [(bool(people), bool(judge)) for judge, people in verdicts]
    check = check_by_people(CheckedScores(units, responses))
    return MemoryEvidence(questions=[], people_checks={"m": check})


def test_kappa_is_that_of_the_table_of_verdicts():
    """People call 4 of 8 right; the judge 3 of these and 1 other: 6 of 8 alike, half by chance."""
    verdicts = [(1, 1)] * 3 + [(0, 1), (1, 0)] + [(0, 0)] * 3
    evidence = evidence_of_verdicts(*verdicts)
    kappa = evidence.people_checks["m"].agreement
    assert (kappa.value, kappa.n) == (0.5, 8)  # (6/8 - 1/2) / (1 - 1/2)
    assert agreement_finding(evidence).sentence.startswith("m, with people: kappa 0.50 (")


@pytest.mark.parametrize(
    ("verdicts", "passes"),
    [
        pytest.param([(1, 1), (0, 0)], True, id="as people do"),
        pytest.param([(1, 1), (1, 0)], False, id="always right"),
        pytest.param([(0, 1), (0, 0)], False, id="always wrong"),
        pytest.param([(0, 1), (1, 0)], False, id="the contrary"),
    ],
)
def test_a_judge_that_people_disagree_with_fails_the_audit(verdicts, passes):
    finding = agreement_finding(evidence_of_verdicts(*verdicts * 20))
    assert (finding.passed, finding.n) == (passes, 40)


@pytest.mark.parametrize(
    ("n_wrong", "passes"),
    [
        pytest.param(0, True, id="none wrong"),
        pytest.param(4, True, id="four wrong: perhaps two points"),
        pytest.param(25, False, id="a quarter wrong"),
    ],
)
def test_a_judge_with_a_bias_of_more_than_two_points_fails_the_audit(n_wrong, passes):
    """The judge calls all of a hundred responses right, people call ``n_wrong`` of them wrong."""
    verdicts = [(1.0, 0.0)] * n_wrong + [(1.0, 1.0)] * (100 - n_wrong)
    finding = bias_finding(evidence_of_verdicts(*verdicts))
    assert finding.passed == passes
    assert finding.sentence.startswith("m: checked by people: 100 of 100; without them 1.000, bias")
