import dagster as dg

from bench_assets.defs.report_links import link_audit, link_questions
from tests.fakes.quiz import TASK

RESULT = dg.AssetCheckResult(passed=False, description="two", metadata={"problems": 2})


def test_a_result_keeps_its_metadata_and_links_to_the_metric():
    linked = link_questions(RESULT, TASK, "main", "run/step-1")
    assert (linked.passed, linked.description) == (False, "two")
    assert linked.metadata["problems"].value == 2
    # A slug is the readable part of a name and the first eight digits of its SHA-256.
    assert linked.metadata["report"].value == (
        "http://127.0.0.1:8765/#/number/quiz-9d98ce22-run-step-1-923fe580"
    )
    assert "samples" not in linked.metadata


def test_each_question_is_linked_once_with_its_id_escaped():
    linked = link_questions(RESULT, TASK, "blind", "m", ["quiz/[1](x)", "quiz/a b", "quiz/a b"])
    page = "http://127.0.0.1:8765/#/samples/quiz?condition=blind&model=m&sample=quiz%2F"
    assert linked.metadata["samples"].value == (
        f"- [quiz/&#91;1&#93;(x)]({page}%5B1%5D%28x%29)\n- [quiz/a b]({page}a+b)"
    )


def test_an_audit_links_to_its_page_and_to_its_questions():
    linked = link_audit(RESULT, TASK, ["quiz/2"])
    assert linked.metadata["report"].value == "http://127.0.0.1:8765/#/audit/quiz"
    assert linked.metadata["samples"].value == (
        "- [quiz/2](http://127.0.0.1:8765/#/samples/quiz?sample=quiz%2F2)"
    )
    assert "samples" not in link_audit(RESULT, TASK).metadata
