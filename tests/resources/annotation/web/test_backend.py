import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.annotation.answers.validation import latest_answers, resolve_answers
from bench_assets.annotation.tasks import AnnotationError, AnnotationTerms
from bench_resources.annotation.web.server import CurrentTerms
from bench_resources.config.bench_toml import load_settings
from tests.fakes.annotation_pages import PageAnnotators, Site
from tests.resources.annotation.port_cases import (
    CASES,
    FORM,
    A,
    B,
    collected_answer,
    unit,
)


@pytest.mark.parametrize("case", CASES)
def test_pages_keep_the_contract_of_backends(case, site):
    case(PageAnnotators(site))


def answer_all(site: Site, person: str, **values: str) -> int:
    """Answer every unit that a person is shown; return the number of these."""
    visitor = site.visitor(person)
    page = visitor.next(visitor.task(FORM.title))
    n_answered = 0
    while "/i/" in page.url.path:
        page = visitor.send(page, **values)
        n_answered += 1
    assert "Thank you" in page.text
    return n_answered


def answer_counts(site: Site) -> dict[str, Counter[str]]:
    """Number of answers of each person, by unit."""
    counts: dict[str, Counter[str]] = {}
    for answer in site.backend.answers(FORM):
        counts.setdefault(answer.unit_id, Counter())[answer.person] += 1
    return counts


def test_five_people_at_once_give_each_unit_the_answers_that_it_needs(site: Site) -> None:
    persons = ["ana", "ben", "cem", "dea", "eli"]
    units = [unit(f"i{n:02}", needed=4, barred=("ana",)) for n in range(12)]
    site.backend.ask(FORM, units)
    for person in persons:  # the links are made here, one after the other
        site.visitor(person)
    with ThreadPoolExecutor(5) as threads:
        n_answered = list(
            threads.map(lambda person: answer_all(site, person, correct="yes"), persons)
        )
    assert n_answered[0] == 0  # ana is barred
    assert sum(n_answered) == 48  # 12 units, 4 answers each
    once_each = Counter({"ben": 1, "cem": 1, "dea": 1, "eli": 1})
    assert answer_counts(site) == {unit.unit_id: once_each for unit in units}


def test_a_unit_that_is_left_unanswered_is_given_to_another_person(site: Site) -> None:
    site.backend.ask(FORM, [unit("a", needed=1)])
    ana, ben = site.visitor("ana"), site.visitor("ben")
    task = ana.task(FORM.title)
    page_of_ana = ana.next(task)
    assert "Other people are working on the remaining" in ben.next(task).text
    site.clock.passed += 601  # the lease is 600 s
    page_of_ben = ben.next(task)
    assert page_of_ben.url.path == page_of_ana.url.path
    late = ana.send(page_of_ana, correct="yes")
    assert late.status_code == 409
    assert "Enough other people" in late.text
    assert ben.send(page_of_ben, correct="no").status_code == 200
    assert answer_counts(site) == {"a": Counter(["ben"])}


def test_a_unit_is_reserved_while_somebody_writes(site: Site) -> None:
    site.backend.ask(FORM, [unit("a", needed=1)])
    ana, ben = site.visitor("ana"), site.visitor("ben")
    page = ana.next(ana.task(FORM.title))
    for _ in range(3):
        site.clock.passed += 500
        assert ana.http.post(f"{page.url.path}/stay").status_code == 204
    assert "Other people are working on the remaining" in ben.next(ben.task(FORM.title)).text
    assert ana.send(page, correct="yes").status_code == 200
    (answer,) = site.backend.answers(FORM)
    assert answer.seconds is not None
    assert 1500 <= answer.seconds < 1560  # three times 500 s, and the time of the test


def test_a_skipped_unit_is_given_to_another_person(site: Site) -> None:
    site.backend.ask(FORM, [unit("a", needed=1)])
    ana, ben = site.visitor("ana"), site.visitor("ben")
    task = ana.task(FORM.title)
    page = ana.next(task)
    assert "Thank you" in ana.send(page, "skip").text
    assert "/i/" in ben.next(task).url.path
    assert ben.send(ben.next(task), correct="yes").status_code == 200
    assert ana.send(page, correct="no").status_code == 409  # ben's answer is the one that it needs
    assert [(answer.person, answer.skipped) for answer in site.backend.answers(FORM)] == [
        ("ana", True), ("ben", False)
    ]  # fmt: skip


def test_every_changed_answer_is_kept_and_the_last_counts(site: Site) -> None:
    site.backend.ask(FORM, [A])
    ana = site.visitor("ana")
    page = ana.next(ana.task(FORM.title))
    for choice in ("yes", "no", "no", "yes"):
        assert ana.send(page, correct=choice).status_code == 200
    answers = site.backend.answers(FORM)
    assert [answer.values["correct"] for answer in answers] == [("yes",), ("no",), ("yes",)]
    assert {answer.at for answer in answers} == {answers[0].changed_at}
    assert [answer.values["correct"] for answer in latest_answers(answers)] == [("yes",)]


def test_the_pages_show_a_person_only_their_last_answer(site: Site) -> None:
    site.backend.ask(FORM, [A])
    ana = site.visitor("ana")
    task = ana.task(FORM.title)
    page = ana.next(task)
    ana.send(page, correct="yes")
    ana.send(page, correct="no")
    assert re.findall(r'value="(\w+)" checked', ana.http.get(page.url.path).text) == ["no"]
    answer_list = ana.http.get(f"{task}/mine").text
    assert answer_list.count("<li class") == 1
    assert page.url.path in answer_list


def test_answers_of_another_tool_leave_fewer_people_to_ask(site: Site) -> None:
    needs_two = unit("a", needed=2)
    site.backend.ask(FORM, [needs_two])
    site.backend.add(FORM, [collected_answer(needs_two, "cem", minute=0, correct="yes")])
    ana, ben = site.visitor("ana"), site.visitor("ben")
    page = ana.next(ana.task(FORM.title))
    assert ana.send(page, correct="no").status_code == 200
    assert "There is nothing for you to answer here now" in ben.http.get("/").text


def test_an_earlier_answer_of_another_tool_does_not_replace_that_of_the_pages(site: Site) -> None:
    site.backend.ask(FORM, [A])
    ana = site.visitor("ana")
    task = ana.task(FORM.title)
    ana.send(ana.next(task), correct="no")
    site.backend.add(FORM, [collected_answer(A, "ana", minute=0, correct="yes")])
    assert '<dd dir="auto">no</dd>' in ana.http.get(f"{task}/mine").text


def test_if_one_unit_of_collected_answers_was_never_published_none_is_added(site: Site) -> None:
    site.backend.ask(FORM, [A])
    answer = collected_answer(A, "cem", minute=0, correct="yes")
    with pytest.raises(AnnotationError, match=f"'b' was never published.*ask {FORM.name}"):
        site.backend.add(FORM, [answer, replace(answer, unit_id="b")])
    assert site.backend.answers(FORM) == []


def test_a_unit_of_a_changed_form_is_shown_again(site: Site) -> None:
    site.backend.ask(FORM, [A])
    ana = site.visitor("ana")
    task = ana.task(FORM.title)
    ana.send(ana.next(task), correct="yes")
    newer = replace(FORM, instructions="Look twice.")
    assert site.backend.ask(newer, [A]).there == 1
    page = ana.next(task)
    assert "/i/" in page.url.path
    ana.send(page, correct="no")
    answers = site.backend.answers(newer)
    assert [answer.task_version for answer in answers] == [FORM.version, newer.version]
    (counted,) = resolve_answers(newer, [A], answers).answers
    assert counted.values["correct"] == ("no",)


def test_answers_sent_after_their_unit_was_withdrawn_or_closed_are_kept(site: Site) -> None:
    site.backend.ask(FORM, [A])
    ana, ben = site.visitor("ana"), site.visitor("ben")
    task = ana.task(FORM.title)
    page_of_ana, page_of_ben = ana.next(task), ben.next(task)
    site.backend.ask(FORM, [B])
    assert ana.send(page_of_ana, correct="yes").status_code == 200
    site.backend.close(FORM)
    assert ben.send(page_of_ben, correct="yes").status_code == 200
    assert answer_counts(site)["a"] == Counter(["ana", "ben"])


def test_a_form_that_is_incomplete_at_the_deadline_can_be_completed(tmp_path: Path) -> None:
    terms: dict[str, AnnotationTerms] = {}
    with Site(tmp_path, terms=lambda: terms) as site:
        site.backend.ask(FORM, [A])
        ana = site.visitor("ana")
        page = ana.next(ana.task(FORM.title))
        terms[FORM.name] = AnnotationTerms(until="2001-01-01T00:00:00.000Z")
        incomplete = ana.send(page, comment="a long text")
        assert incomplete.status_code == 422
        assert 'value="send"' in incomplete.text
        assert ana.send(incomplete, correct="yes", comment="a long text").status_code == 200
        (answer,) = site.backend.answers(FORM)
        assert answer.values["correct"] == ("yes",)


def test_a_person_is_shown_no_more_units_than_the_terms_allow(tmp_path: Path) -> None:
    terms = {FORM.name: AnnotationTerms(most_answers=1, until="2999-01-01T00:00:00.000Z")}
    with Site(tmp_path, terms=lambda: terms) as site:
        site.backend.ask(FORM, [unit("a"), unit("b")])
        assert answer_all(site, "ana", correct="yes") == 1
        assert "one person may give: 1." in site.visitor("ana").http.get("/").text
        ben = site.visitor("ben")
        assert "/i/" in ben.next(ben.task(FORM.title)).url.path


def write_annotation_section(home: Path, text: str) -> None:
    (home / "bench.toml").write_text(f'[annotation]\nkind = "pages"\n{text}')


def test_running_pages_follow_the_deadline_of_bench_toml(tmp_path: Path) -> None:
    write_annotation_section(tmp_path, f'[annotation.tasks."{FORM.name}"]\nuntil = 2001-01-01\n')
    with Site(tmp_path, terms=CurrentTerms(load_settings(tmp_path))) as site:
        site.backend.ask(FORM, [unit("a")])
        ana = site.visitor("ana")
        assert "This task ended on 2001-01-01, 23:59 UTC." in ana.http.get("/").text
        write_annotation_section(
            tmp_path, f'[annotation.tasks."{FORM.name}"]\nuntil = 2999-01-01\n'
        )
        assert "This task ended" not in ana.http.get("/").text
        write_annotation_section(tmp_path, "until =")  # as it may be while it is edited
        assert "This task ended" not in ana.http.get("/").text
        assert "/i/" in ana.next(ana.task(FORM.title)).url.path
