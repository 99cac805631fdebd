"""The mini edition is whole, its images show what is said of them, and its faults are there."""

import pytest

from bench_assets.suites.journeybench.mcot.problems import read_problems
from bench_assets.suites.journeybench.mcot.recalculation import solve
from bench_assets.suites.journeybench.synthetic.edition import write


@pytest.fixture(scope="module")
def mini(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mini")
    write(folder)
    return folder


def test_every_problem_can_be_solved(mini):
    problems = read_problems(mini / "gsm8k.jsonl").require()
    assert len(problems) == 24
    assert all(solve(problem, {}) for problem in problems)
