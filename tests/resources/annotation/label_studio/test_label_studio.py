"""The port over a Label Studio that is scripted, over real HTTP."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.annotation.tasks import AnnotationError, AnnotationTask, Field, UnitCounts
from bench_resources.annotation.label_studio.client import LabelStudio
from tests.resources.annotation.label_studio.annotators import Annotators, opened
from tests.resources.annotation.label_studio.form_cases import CASES as FORM_CASES
from tests.resources.annotation.label_studio.scripted_studio import (
    ADMIN,
    NAMES,
    PERSONAL,
    TOKENS,
    ScriptedStudio,
    serving,
)
from tests.resources.annotation.label_studio.studio_cases import CASES as STUDIO_CASES
from tests.resources.annotation.port_cases import CASES, FORM, A, B, Hands, unit

ALL = {**CASES, **STUDIO_CASES, **FORM_CASES}


@pytest.fixture
def studio() -> ScriptedStudio:
    return ScriptedStudio()


@pytest.fixture
def url(studio: ScriptedStudio) -> Iterator[str]:
    with serving(studio) as where:
        yield where


@pytest.fixture
def hands(url: str, tmp_path: Path) -> Annotators:
    return Annotators(opened(LabelStudio(url, ADMIN), NAMES, tmp_path), url, TOKENS)


@pytest.mark.parametrize("case", ALL.values(), ids=ALL)
def test_a_label_studio_keeps_the_contract(
    case: Callable[[Hands], None], hands: Annotators
) -> None:
    case(hands)


def test_a_personal_token_is_refreshed_when_it_has_expired(
    studio: ScriptedStudio, url: str, tmp_path: Path
) -> None:
    people = opened(LabelStudio(url, PERSONAL), NAMES, tmp_path)
    people.ask(FORM, [A, B])
    studio.access += 1  # five minutes later
    assert people.ask(FORM, [A, B]).there == 2
    assert sum(path == "/api/token/refresh" for _, path in studio.asked) == 2


@pytest.mark.parametrize("token", ["f" * 40, "eyJhbGciOi.eyJub25l.c2lnbmF0dXJl", PERSONAL[:-1]])
def test_a_wrong_token_is_a_sentence_without_it(url: str, tmp_path: Path, token: str) -> None:
    people = opened(LabelStudio(url, token), NAMES, tmp_path)
    with pytest.raises(AnnotationError, match=r"401 Unauthorized: .*token_env") as why:
        people.answers(FORM)
    assert token not in str(why.value)


@pytest.mark.parametrize("path", ["/api/projects", "/api/users", "/api/projects/1/export"])
def test_a_server_gone_in_mid_answer_leaves_nothing_half(
    path: str, studio: ScriptedStudio, hands: Annotators, tmp_path: Path
) -> None:
    hands.people.ask(FORM, [A, B])
    hands.answer(FORM, A, "ana", correct="yes")
    studio.breaks = path
    with pytest.raises(AnnotationError, match="Start Label Studio"):
        hands.people.answers(FORM)
    assert not list(tmp_path.rglob("seen.jsonl"))
    studio.breaks = ""
    assert len(hands.people.answers(FORM)) == 1


@pytest.mark.parametrize("path", ["/api/projects", "/api/projects/1/import", "/api/tasks"])
def test_asking_again_finishes_what_a_server_gone_in_between_left(
    path: str, studio: ScriptedStudio, hands: Annotators
) -> None:
    studio.breaks = path
    with pytest.raises(AnnotationError, match="Start Label Studio"):
        hands.people.ask(FORM, [A, B])
    studio.breaks = ""
    hands.people.ask(FORM, [A, B])
    assert len(studio.projects) == 1
    assert sorted(one["data"]["key"] for one in studio.tasks.values()) == ["a", "b"]


def test_a_server_that_is_down_is_a_sentence(tmp_path: Path) -> None:
    people = opened(LabelStudio("http://127.0.0.1:9", ADMIN), NAMES, tmp_path)
    said = r"127\.0\.0\.1:9/api/projects: Connection refused: no server is listening\. Start"
    with pytest.raises(AnnotationError, match=said):
        people.answers(FORM)


@pytest.mark.parametrize(
    ("path", "told", "sentence"),
    [
        ("/api/projects", (200, "<html>Sign in</html>"), "not JSON: '<html>Sign in</html>'"),
        ("/api/projects", (403, {"detail": "no"}), "403 Forbidden: the token's account"),
        ("/api/projects", (404, "no such page"), "404 Not Found: url should be"),
        ("/api/projects", (520, "no origin"), "520 : .*no origin"),
        ("/api/projects", (200, {"results": [], "count": 3}), "changed while it was read"),
        ("/api/projects", (200, {"results": [{"title": "x"}], "count": 1}), "expected id"),
        ("/api/projects/1/export", (200, [1]), "expected .*got 1"),
    ],
)
def test_what_is_no_answer_of_label_studio_is_a_sentence(
    path: str, told: tuple[int, object], sentence: str, studio: ScriptedStudio, hands: Annotators
) -> None:
    hands.people.ask(FORM, [A])
    hands.answer(FORM, A, "ana", correct="yes")
    studio.instead[path] = told
    with pytest.raises(AnnotationError, match=sentence):
        hands.people.answers(FORM)


@pytest.mark.parametrize("said", [None, [{"id": 7, "completed_by": 2}]])
def test_a_task_with_odd_annotations_ends_nothing(
    said: object, studio: ScriptedStudio, hands: Annotators
) -> None:
    hands.people.ask(FORM, [A, B])
    hands.answer(FORM, B, "ben", correct="yes")
    odd = {**studio.tasks[1], "annotations": said}
    whole = {**studio.tasks[2], "annotations": list(studio.annotations.values())}
    studio.instead["/api/projects/1/export"] = (200, [odd, whole])
    counted = resolve_answers(FORM, [A, B], hands.people.answers(FORM)).answers
    assert [one.person for one in counted] == ["ben"]


def test_who_gets_a_pseudonym_later_is_one_person(url: str, tmp_path: Path) -> None:
    server, names = LabelStudio(url, ADMIN), {}
    hands = Annotators(opened(server, names, tmp_path), url, TOKENS)
    hands.people.ask(FORM, [A])
    for said in ("yes", "no"):
        hands.answer(FORM, A, "ana", correct=said)
        hands.people.answers(FORM)
        names |= NAMES
    assert [one.person for one in hands.people.answers(FORM)] == ["ana", "ana"]


def test_a_locked_data_base_is_waited_for(studio: ScriptedStudio, hands: Annotators) -> None:
    hands.people.ask(FORM, [A])
    studio.locked = 1
    assert hands.people.answers(FORM) == []


def test_of_two_projects_of_a_title_the_one_with_tasks_is_used(
    studio: ScriptedStudio, hands: Annotators, caplog: pytest.LogCaptureFixture
) -> None:
    hands.people.ask(FORM, [A, B])
    studio.projects[2] = {**studio.projects[1], "id": 2}  # what a repeated POST leaves
    assert hands.people.ask(FORM, [A, B]) == UnitCounts(new=0, there=2, changed=0, withdrawn=0)
    assert "1 is used; delete 2" in caplog.text


def test_lists_of_many_pages_are_read_whole(studio: ScriptedStudio, hands: Annotators) -> None:
    units = [unit(f"{number:05}") for number in range(1001)]
    assert hands.people.ask(FORM, units).new == 1001
    assert hands.people.ask(FORM, units).there == 1001
    pages = [verb for verb, path in studio.asked if (verb, path) == ("GET", "/api/tasks")]
    assert len(pages) == 4  # 2 after the import, 2 of the second time


def test_images_are_shown_from_a_folder_that_holds_nothing_else(
    studio: ScriptedStudio, hands: Annotators, tmp_path: Path
) -> None:
    sha = hands.keep_image("red")
    hands.people.ask(FORM, [unit("a", images={"Photograph": sha})])
    shared = tmp_path / "annotation" / "shared"
    assert [one.name for one in shared.iterdir()] == ["images"]
    copied, own = (folder / "images" / sha[:2] / sha for folder in (shared, tmp_path))
    assert copied.read_bytes() == own.read_bytes()
    assert [one["path"] for one in studio.shared] == [str(shared / "images")]
    url = studio.tasks[1]["data"]["images"][0]["url"]
    assert url == f"/data/local-files/?d=images/{sha[:2]}/{sha}"
    hands.people.ask(FORM, [unit("a", images={"Photograph": sha})])
    assert len(studio.shared) == 1


def test_no_address_and_no_gold_leaves_us(
    studio: ScriptedStudio, hands: Annotators, tmp_path: Path
) -> None:
    hands.people.ask(FORM, [unit("a", gold={"correct": ("yes",)}, barred=("ana",))])
    hands.answer(FORM, unit("a"), "ben", correct="yes")
    assert [one.person for one in hands.people.answers(FORM)] == ["ben"]
    kept = "".join(file.read_text() for file in tmp_path.rglob("*.json*"))
    assert "lab.example" not in kept
    assert "gold" not in json.dumps(studio.tasks) + json.dumps(studio.projects)


def test_who_has_no_pseudonym_is_a_number(url: str, tmp_path: Path) -> None:
    people = opened(LabelStudio(url, ADMIN), {"BEN@lab.example": "ben"}, tmp_path)
    hands = Annotators(people, url, TOKENS)
    people.ask(FORM, [A])
    for person in ("ana", "ben"):
        hands.answer(FORM, A, person, correct="yes")
    assert [one.person for one in people.answers(FORM)] == ["ben", "user 2"]


def test_a_project_that_is_gone_with_its_answers_is_named(
    studio: ScriptedStudio, hands: Annotators
) -> None:
    hands.people.ask(FORM, [A])
    hands.answer(FORM, A, "ana", correct="yes")
    hands.people.answers(FORM)
    studio.projects[1]["title"] = "my project"
    with pytest.raises(AnnotationError, match=r"project 1 with 1 answers .*seen\.jsonl"):
        hands.people.answers(FORM)


def test_half_a_line_of_a_killed_run_is_made_good(hands: Annotators, tmp_path: Path) -> None:
    hands.people.ask(FORM, [A])
    hands.answer(FORM, A, "ana", correct="yes")
    hands.people.answers(FORM)
    (file,) = tmp_path.rglob("seen.jsonl")
    file.write_text(file.read_text() + '{"task": "co')
    hands.answer(FORM, A, "ben", correct="yes")
    for _ in range(2):
        assert len(resolve_answers(FORM, [A], hands.people.answers(FORM)).answers) == 2
    assert len(file.read_text().splitlines()) == 2


def test_a_form_with_a_image_to_bring_is_refused(hands: Annotators) -> None:
    brought = Field(name="photo", kind="image", label="Your photograph")
    annotation_task = AnnotationTask(
        name="codis/submissions", title="", instructions="", fields=(brought,)
    )
    with pytest.raises(AnnotationError, match="field photo: Label Studio accepts no uploaded"):
        hands.people.ask(annotation_task, [])
