"""Checks lead to the page of the report that shows what they found."""

import dagster as dg

from bench_assets.defs.report_links import link_audit, link_questions
from tests.fakes.quiz import TASK

RESULT = dg.AssetCheckResult(passed=False, description="two", metadata={"problems": 2})


def test_a_result_keeps_what_it_says_and_leads_to_the_number():
    found = link_questions(RESULT, TASK, "main", "run/step-1")
    assert (found.passed, found.description) == (False, "two")
    assert found.metadata["problems"].value == 2
    # slug: what is readable, then the first eight digits of the name's SHA-256.
    assert found.metadata["report"].value == (
        "http://127.0.0.1:8765/#/number/quiz-9d98ce22-run-step-1-923fe580"
    )
    assert "samples" not in found.metadata


def test_questions_are_linked_once_each_whatever_they_are_called():
    found = link_questions(RESULT, TASK, "blind", "m", ["quiz/[1](x)", "quiz/a b", "quiz/a b"])
    lines = str(found.metadata["samples"].value).splitlines()
    assert len(lines) == 2
    assert "](x)" not in lines[0].partition("](http")[0].replace("\\]", "")
    assert lines[1].endswith(
        "(http://127.0.0.1:8765/#/samples/quiz?condition=blind&model=m&sample=quiz%2Fa+b)"
    )


def test_an_examination_leads_to_the_doubts_and_to_the_questions_it_names():
    found = link_audit(RESULT, TASK, ["quiz/2"])
    assert found.metadata["report"].value == "http://127.0.0.1:8765/#/audit/quiz"
    assert found.metadata["samples"].value == (
        "- [quiz/2](http://127.0.0.1:8765/#/samples/quiz?sample=quiz%2F2)"
    )
    assert "samples" not in link_audit(RESULT, TASK).metadata
