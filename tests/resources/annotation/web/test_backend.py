"""The pages keep the contract of the port: people come by links, over real HTTP."""

import re
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.annotation.answers.validation import latest_answers, resolve_answers
from bench_assets.annotation.tasks import AnnotationError, AnnotationTerms
from bench_resources.annotation.web.server import CurrentTerms
from bench_resources.config.bench_toml import load_settings
from tests.fakes.annotation_pages import OnPages, Site
from tests.resources.annotation.port_cases import CASES, FORM, A, B, Hands, elsewhere, unit


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_pages_keep_the_contract(case: Callable[[Hands], None], site: Site) -> None:
    case(OnPages(site))


def answer_all(site: Site, person: str, **values: str) -> int:
    """Answer what a person is shown, until there is nothing more; how many that were."""
    visitor = site.visitor(person)
    task, n = visitor.task(FORM.title), 0
    page = visitor.next(task)
    while "/i/" in page.url.path:
        page, n = visitor.send(page, **values), n + 1
    assert "Thank you" in page.text
    return n


def voters(site: Site) -> dict[str, Counter[str]]:
    """Who said something of each unit, and how often."""
    found: dict[str, Counter[str]] = {}
    for answer in site.people.answers(FORM):
        found.setdefault(answer.unit_id, Counter())[answer.person] += 1
    return found


def test_five_people_at_once_are_four_on_each_item_and_nobody_twice(site: Site) -> None:
    people = ["ana", "ben", "cem", "dea", "eli"]
    site.people.ask(FORM, [unit(f"i{n:02}", needed=4, barred=("ana",)) for n in range(12)])
    for person in people:  # enter one after the other; the links are made here
        site.visitor(person)
    with ThreadPoolExecutor(5) as threads:
        given = list(threads.map(lambda person: answer_all(site, person, correct="yes"), people))
    assert given[0] == 0
    assert sum(given) == 48
    assert all(set(who.values()) == {1} and len(who) == 4 for who in voters(site).values())


def test_who_walks_away_blocks_a_place_only_for_a_while(site: Site) -> None:
    site.people.ask(FORM, [unit("a", needed=1)])
    away, other = site.visitor("ana"), site.visitor("ben")
    task = away.task(FORM.title)
    shown = away.next(task)
    assert "Other people are working on the remaining" in other.next(task).text
    site.clock.passed += 601
    page = other.next(task)
    assert page.url.path == shown.url.path
    late = away.send(shown, correct="yes")
    assert late.status_code == 409
    assert "Enough other people" in late.text
    assert other.send(page, correct="no").status_code == 200
    assert voters(site) == {"a": Counter(["ben"])}


def test_a_place_is_kept_while_somebody_writes(site: Site) -> None:
    site.people.ask(FORM, [unit("a", needed=1)])
    ana, ben = site.visitor("ana"), site.visitor("ben")
    page = ana.next(ana.task(FORM.title))
    for _ in range(3):
        site.clock.passed += 500
        assert ana.http.post(f"{page.url.path}/stay").status_code == 204
    assert "Other people are working on the remaining" in ben.next(ben.task(FORM.title)).text
    assert ana.send(page, correct="yes").status_code == 200
    (only,) = site.people.answers(FORM)
    assert only.seconds is not None
    assert 1500 <= only.seconds < 1560


def test_what_is_skipped_is_another_s(site: Site) -> None:
    site.people.ask(FORM, [unit("a", needed=1)])
    ana, ben = site.visitor("ana"), site.visitor("ben")
    task = ana.task(FORM.title)
    page = ana.next(task)
    assert "Thank you" in ana.send(page, "skip").text
    assert "/i/" in ben.next(task).url.path
    assert ben.send(ben.next(task), correct="yes").status_code == 200
    assert ana.send(page, correct="no").status_code == 409  # it was ana's to change, until then
    assert [(answer.person, answer.skipped) for answer in site.people.answers(FORM)] == [
        ("ana", True), ("ben", False)
    ]  # fmt: skip


def test_every_word_is_kept_and_the_last_counts(site: Site) -> None:
    site.people.ask(FORM, [A])
    ana = site.visitor("ana")
    page = ana.next(ana.task(FORM.title))
    for choice in ("yes", "no", "no", "yes"):
        assert ana.send(page, correct=choice).status_code == 200
    assert re.findall(r'value="(\w+)" checked', ana.http.get(page.url.path).text) == ["yes"]
    answers = site.people.answers(FORM)
    assert [answer.values["correct"][0] for answer in answers] == ["yes", "no", "yes"]
    assert {answer.at for answer in answers} == {answers[0].changed_at}
    assert [answer.values["correct"][0] for answer in latest_answers(answers)] == ["yes"]
    mine = ana.http.get(f"{ana.task(FORM.title)}/mine").text
    assert mine.count("<li class") == 1
    assert page.url.path in mine


def test_answers_of_another_tool_leave_fewer_people_to_ask(site: Site) -> None:
    site.people.ask(FORM, [A])
    site.people.add(FORM, [elsewhere(A, "cem", 0, correct="yes")])
    ana, ben = site.visitor("ana"), site.visitor("ben")
    task = ana.task(FORM.title)
    assert ana.send(ana.next(task), correct="no").status_code == 200
    assert "There is nothing for you to answer here now" in ben.http.get("/").text
    earlier = elsewhere(A, "ana", 0, correct="yes")
    site.people.add(FORM, [earlier])  # what ana sees is still her last answer
    assert '<dd dir="auto">no</dd>' in ana.http.get(f"{task}/mine").text


def test_answers_to_what_was_never_on_pages_are_refused_and_none_is_added(site: Site) -> None:
    site.people.ask(FORM, [A])
    known = elsewhere(A, "cem", 0, correct="yes")
    with pytest.raises(AnnotationError, match=f"'b' was never published.*ask {FORM.name}"):
        site.people.add(FORM, [known, replace(known, unit_id="b")])
    assert site.people.answers(FORM) == []


def test_another_version_of_the_form_is_shown_anew(site: Site) -> None:
    site.people.ask(FORM, [A])
    ana = site.visitor("ana")
    ana.send(ana.next(ana.task(FORM.title)), correct="yes")
    newer = replace(FORM, instructions="Look twice.")
    assert site.people.ask(newer, [A]).there == 1
    page = ana.next(ana.task(FORM.title))
    assert "/i/" in page.url.path
    ana.send(page, correct="no")
    answers = site.people.answers(newer)
    assert [answer.task_version for answer in answers] == [FORM.version, newer.version]
    assert [
        answer.values["correct"][0] for answer in resolve_answers(newer, [A], answers).answers
    ] == ["no"]


def test_who_writes_while_an_item_is_withdrawn_or_closed_loses_no_word(site: Site) -> None:
    site.people.ask(FORM, [A])
    ana, ben = site.visitor("ana"), site.visitor("ben")
    task = ana.task(FORM.title)
    pages = [ana.next(task), ben.next(task)]
    site.people.ask(FORM, [B])
    assert ana.send(pages[0], correct="yes").status_code == 200
    site.people.close(FORM)
    assert ben.send(pages[1], correct="yes").status_code == 200
    assert "This task is closed" in ben.http.get("/").text
    assert sorted(voters(site)["a"]) == ["ana", "ben"]


def test_a_form_that_is_incomplete_at_the_deadline_can_be_completed(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    terms: dict[str, AnnotationTerms] = {}
    with Site(tmp_path_factory.mktemp("terms"), terms=lambda: terms) as site:
        site.people.ask(FORM, [A])
        ana = site.visitor("ana")
        page = ana.next(ana.task(FORM.title))
        terms[FORM.name] = AnnotationTerms(until="2001-01-01T00:00:00.000Z")
        incomplete = ana.send(page, comment="a long text")
        assert incomplete.status_code == 422
        assert 'value="send"' in incomplete.text
        assert ana.send(incomplete, correct="yes", comment="a long text").status_code == 200
        assert [answer.values["correct"] for answer in site.people.answers(FORM)] == [("yes",)]


def test_terms_end_what_is_shown(served: Site, tmp_path_factory: pytest.TempPathFactory) -> None:
    terms = {FORM.name: AnnotationTerms(most_answers=1, until="2999-01-01T00:00:00.000Z")}
    with Site(tmp_path_factory.mktemp("terms"), terms=lambda: terms) as site:
        site.people.ask(FORM, [unit("a"), unit("b")])
        assert answer_all(site, "ana", correct="yes") == 1
        assert "the most that one person may give" in site.visitor("ana").http.get("/").text
        page = site.visitor("ben").next(site.visitor("ben").task(FORM.title))
        assert "/i/" in page.url.path


def test_a_deadline_that_is_moved_in_bench_toml_holds_for_running_pages(tmp_path: Path) -> None:
    def write(text: str) -> None:
        (tmp_path / "bench.toml").write_text(f'[annotation]\nkind = "pages"\n{text}')

    write(f'[annotation.tasks."{FORM.name}"]\nuntil = 2001-01-01\n')
    with Site(tmp_path, terms=CurrentTerms(load_settings(tmp_path))) as site:
        site.people.ask(FORM, [unit("a")])
        ana = site.visitor("ana")
        assert "This task ended on 2001-01-01, 23:59 UTC." in ana.http.get("/").text
        write(f'[annotation.tasks."{FORM.name}"]\nuntil = 2999-01-01\n')
        assert "This task ended" not in ana.http.get("/").text
        write("until =")  # as an editor may leave it for a moment
        assert "This task ended" not in ana.http.get("/").text
        assert "/i/" in ana.next(ana.task(FORM.title)).url.path
