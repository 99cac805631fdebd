"""The port over a real Label Studio; ``BENCH_LABEL_STUDIO`` names the environment that has it."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.annotation.tasks import AnnotationError, Unit, UnitCounts
from bench_resources.annotation.label_studio.client import LabelStudio
from bench_resources.annotation.label_studio.units import task_of
from tests.resources.annotation.label_studio.annotators import Annotators, opened, result
from tests.resources.annotation.label_studio.form_cases import CASES as FORM_CASES
from tests.resources.annotation.label_studio.real_studio import sign_up, started
from tests.resources.annotation.label_studio.scripted_studio import ADMIN, NAMES, PEOPLE
from tests.resources.annotation.label_studio.studio_cases import CASES as STUDIO_CASES
from tests.resources.annotation.port_cases import CASES, FORM, A, B, Hands, unit

pytestmark = pytest.mark.long
ALL = {**CASES, **STUDIO_CASES, **FORM_CASES}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def url(home: Path) -> Iterator[str]:
    environment = os.environ.get("BENCH_LABEL_STUDIO", "")
    if not environment:
        pytest.skip("BENCH_LABEL_STUDIO names no environment with Label Studio")
    with started(Path(environment), home) as where:
        yield where


@pytest.fixture(scope="module")
def tokens(url: str) -> dict[str, str]:
    return sign_up(url)


@pytest.fixture
def hands(url: str, home: Path, tokens: dict[str, str]) -> Annotators:
    """People who find an empty Label Studio, and we remember nothing of it."""
    hands = Annotators(opened(LabelStudio(url, ADMIN), NAMES, home), url, tokens)
    for project in hands.projects():
        hands.say("ana", "DELETE", f"/api/projects/{project}/")
    for suite in ("codis", "blink"):
        shutil.rmtree(home / "annotation" / "label-studio" / suite, ignore_errors=True)
    return hands


@pytest.mark.parametrize("case", ALL.values(), ids=ALL)
def test_a_real_label_studio_keeps_the_contract(
    case: Callable[[Hands], None], hands: Annotators
) -> None:
    case(hands)


@pytest.mark.parametrize("token", ["f" * 40, "eyJhbGciOi.eyJub25l.c2lnbmF0dXJl"])
def test_a_wrong_token_is_a_sentence(url: str, home: Path, token: str) -> None:
    people = opened(LabelStudio(url, token), NAMES, home)
    with pytest.raises(AnnotationError, match=r"401 Unauthorized: .*token_env"):
        people.answers(FORM)


def test_a_personal_token_is_as_good(hands: Annotators, url: str, home: Path) -> None:
    personal = hands.say("eli", "POST", "/api/token/")["token"]
    people = opened(LabelStudio(url, personal), NAMES, home)
    assert people.ask(FORM, [A]).new == 1
    hands.answer(FORM, A, "ana", correct="yes")
    assert [one.person for one in people.answers(FORM)] == ["ana"]


def test_of_two_projects_of_a_title_the_one_with_tasks_is_used(
    hands: Annotators, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    hands.people.ask(FORM, [A, B])
    server = LabelStudio(url, ADMIN)
    (first,) = server.projects(FORM.name)
    second = server.create({name: first[name] for name in ("title", "label_config")})
    assert hands.people.ask(FORM, [A, B]) == UnitCounts(new=0, there=2, changed=0, withdrawn=0)
    assert f"{first['id']} is used; delete {second}" in caplog.text


def test_a_image_is_served_to_who_signed_in_and_nothing_beside_it(
    hands: Annotators, url: str, home: Path
) -> None:
    sha = hands.keep_image("green")
    image = (home / "images" / sha[:2] / sha).read_bytes()
    shown = unit("a", images={"Photograph": sha})
    hands.people.ask(FORM, [shown])
    where = url + hands.task(shown)["data"]["images"][0]["url"]
    signed_in = {"Authorization": f"Token {ADMIN}"}
    assert httpx.get(where, headers=signed_in).content == image
    assert httpx.get(where).status_code == 401
    for beside in ("images/../label-studio/server/password", "label-studio/server/password"):
        refused = httpx.get(f"{url}/data/local-files/?d={beside}", headers=signed_in)
        assert refused.status_code >= 400


def test_it_listens_to_this_machine_alone(url: str) -> None:
    port = f"{int(url.rpartition(':')[2]):04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = {row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{port}")}
    assert listening == {f"0100007F:{port}"}


def test_5000_items_are_asked_and_heard(hands: Annotators, url: str) -> None:
    units = [replace(unit(f"{number:05}"), needed=4) for number in range(5000)]
    started = time.monotonic()
    assert hands.people.ask(FORM, units).new == 5000
    asked = time.monotonic()
    assert hands.people.ask(FORM, units).there == 5000
    again = time.monotonic()
    tasks = {one.data["key"]: one for one in LabelStudio(url, ADMIN).tasks(hands.projects()[-1])}
    for person in PEOPLE[:4]:
        hands.submit(tasks["00007"].number, person, correct="yes")
    answered = time.monotonic()
    said = hands.people.answers(FORM)
    heard = time.monotonic()
    assert len(resolve_answers(FORM, units, said).answers) == 4
    print(f"asked {asked - started:.1f} s, again {again - asked:.1f}, heard {heard - answered:.1f}")
    assert heard - answered < 30


def test_of_20000_answers_each_is_heard(hands: Annotators, url: str) -> None:
    units = [replace(unit(f"{number:05}"), needed=4) for number in range(5000)]
    hands.people.ask(FORM, units[:1])
    server, project = LabelStudio(url, ADMIN), hands.projects()[-1]
    own = {person: hands.number(person) for person in PEOPLE[:4]}
    server.add(project, [_answered(one, own) for one in units[1:]])
    assert hands.people.ask(FORM, units).there == 5000
    started = time.monotonic()
    said = hands.people.answers(FORM)
    print(f"{len(said)} answers heard in {time.monotonic() - started:.1f} s")
    assert len(resolve_answers(FORM, units, said).answers) == 4 * 4999


def _answered(unit: Unit, people: dict[str, int]) -> dict[str, object]:
    said = [{"result": result(correct="yes"), "completed_by": one} for one in people.values()]
    return {**task_of(unit, FORM), "annotations": said}
