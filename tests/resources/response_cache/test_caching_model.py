import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Image, Prompt, Request, Response
from bench_assets.core.schema.errors import HomeError, ModelError
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.response_cache.caching_model import CachingModel
from tests.fakes.server_engines import requests_for
from tests.fakes.stores import response_file
from tests.resources.response_cache.test_rows import ScriptedEngine


class UpperCaseEngine:
    """An engine that shouts prompts, fails on "odd" and filters "bad" and "400"."""

    identity, decoding, peak_memory = "shouting", None, None

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        names = [str(request.prompt.turns[0].parts[0]) for request in requests]
        self.batches.append(names)
        failures = {
            "odd": Response(error="odd"),
            "bad": Response(finish_reason="content_filter"),
            "400": Response(error="HTTP 400", refused="content filter"),
        }
        for position, name in reversed(list(enumerate(names))):
            yield position, failures.get(name, Response(text=name.upper()))

    def close(self) -> None: ...


def requests(names: str) -> list[Request]:
    return [Request(prompt=Prompt.of(name)) for name in names.split()]


def test_responses_come_in_the_order_of_their_requests(tmp_path: Path) -> None:
    model = CachingModel("m", UpperCaseEngine(), response_file(tmp_path / "r"))
    responses = model.response(requests("b b a c b odd"))
    texts = [response.text or response.error for response in responses]
    assert texts == ["B", "B", "A", "C", "B", "odd"]


def test_stored_responses_are_counted_and_not_requested(tmp_path: Path) -> None:
    engine, progress = UpperCaseEngine(), []
    model = CachingModel("m", engine, response_file(tmp_path / "r"), lambda *n: progress.append(n))
    model.response(requests("a"))
    progress.clear()
    model.response(requests("b b a c b odd"))
    assert engine.batches == [["a"], ["b", "c", "odd"]]
    # of 6 requests, 4 are distinct, and one is remembered
    assert progress == [(1, 1, 4), (2, 1, 4), (3, 1, 4), (4, 1, 4)]


@pytest.mark.parametrize(
    ("names", "n_failed"),
    [
        pytest.param("odd odd odd", 1, id="equal requests are sent once"),
        pytest.param("bad odd", 2, id="a filtered response and an error"),
        pytest.param("400 odd", 2, id="a refused request and an error"),
    ],
)
def test_a_batch_without_any_response_is_an_error(tmp_path, names, n_failed):
    model = CachingModel("m", UpperCaseEngine(), response_file(tmp_path / "r"))
    with pytest.raises(ModelError, match=f"all {n_failed} requests failed"):
        model.response(requests(names))


def test_a_batch_with_a_response_keeps_the_errors_of_the_others(tmp_path: Path) -> None:
    model = CachingModel("m", UpperCaseEngine(), response_file(tmp_path / "r"))
    responses = model.response(requests("odd odd odd a"))
    assert [response.error for response in responses] == ["odd", "odd", "odd", ""]


def test_errors_of_all_new_requests_stay_beside_cached_responses(tmp_path: Path) -> None:
    model = CachingModel("m", UpperCaseEngine(), response_file(tmp_path / "r"))
    model.response(requests("a"))
    assert [response.error for response in model.response(requests("a odd"))] == ["", "odd"]


@pytest.mark.parametrize("name", ["bad", "400"])
def test_a_filtered_request_is_no_failure_and_is_sent_again(tmp_path: Path, name: str) -> None:
    engine = UpperCaseEngine()
    model = CachingModel("m", engine, response_file(tmp_path / "r"))
    for _ in range(2):
        (response,) = model.response(requests(name))
        assert response.refusal == "content filter"
    assert engine.batches == [[name], [name]]


# The keys of stored responses: a change here requests every response again.


PROMPT = Prompt.of("a", Image("00ff"), system="b")
PROMPT_JSON = '[["system",["b"]],["user",["a",{"image":"00ff"}]]]'


@pytest.mark.parametrize(
    ("request_", "key_format"),
    [
        pytest.param(Request(prompt=PROMPT), "t=0,max=1024\n{prompt}\n0", id="as configured"),
        pytest.param(
            Request(prompt=PROMPT, sample=3, temperature=0.5),
            "t=0.5,max=1024\n{prompt}\n3",
            id="a draw at a temperature of its own",
        ),
    ],
)
def test_the_key_of_a_response_is_a_digest_of_its_engine_and_request(
    tmp_path: Path, request_: Request, key_format: str
) -> None:
    file = tmp_path / "responses.sqlite"
    CachingModel("m", ScriptedEngine(Response(text="yes")), response_file(file)).response(
        [request_]
    )
    prompt = hashlib.sha256(PROMPT_JSON.encode()).hexdigest()
    key = hashlib.sha256(f"says\n{key_format.format(prompt=prompt)}".encode()).hexdigest()
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("SELECT key, prompt FROM responses").fetchall() == [(key, prompt)]


def test_settings_of_a_local_checkpoint_are_parts_of_its_identity() -> None:
    spec = TransformersSpec(
        kind="transformers",
        path="p",
        max_image_pixels=9,
        text_only=True,
        chat_template="plain",
        chat_template_kwargs={"b": 1, "a": 2},
        processor_kwargs={"c": 3},
        merge_adapter=False,
        trust_remote_code=True,
    )
    assert spec.identity_parts == [
        "px=9",
        "text_only",
        "template=plain",
        'variables={"a": 2, "b": 1}',
        'processor={"c": 3}',
        "unmerged",
        "remote_code",
    ]


REQUESTS = requests_for(*(f"question {n}" for n in range(12)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "responses.sqlite"


def execute_sql(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        for statement in statements:
            db.execute(statement)


@pytest.mark.parametrize(
    ("damage", "expected_message"),
    [
        pytest.param(
            ["UPDATE bench_revisions SET version_num = 'responses_0007'"],
            "written by a newer version of bench-assets. Update bench-assets.",
            id="of a newer version",
        ),
        pytest.param(
            ["ALTER TABLE responses RENAME COLUMN completion_tokens TO completion_tokenz"],
            r"damaged \(no column completion_tokens\); nothing in it was changed",
            id="with a bit of a column's name flipped",
        ),
        pytest.param(
            [
                *("DROP TABLE responses", "DROP TABLE prompts", "DROP TABLE bench_revisions"),
                "CREATE TABLE songs (name)",
            ],
            "not a store of responses .*got songs.*Move it away",
            id="somebody else's",
        ),
    ],
)
def test_a_database_of_another_schema_is_refused_and_not_changed(file, damage, expected_message):
    response_file(file)
    execute_sql(file, "PRAGMA journal_mode = DELETE", *damage)
    content = file.read_bytes()
    with pytest.raises(HomeError, match=rf"responses\.sqlite: .*{expected_message}"):
        response_file(file)
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    ("content", "expected_message"),
    [
        pytest.param(b"", "empty. Restore a backup, or delete it", id="an empty file"),
        pytest.param(b"\0" * 8192, "damaged .*sqlite3 FILE .recover", id="zeros"),
    ],
)
def test_a_file_that_is_no_database_is_refused_and_not_changed(file, content, expected_message):
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(HomeError, match=rf"responses\.sqlite: .*{expected_message}"):
        response_file(file)
    assert file.read_bytes() == content


class DeletingEngine(ScriptedEngine):
    """Deletes or replaces the file of responses after six responses."""

    def __init__(self, file: Path, *, replaced: bool) -> None:
        super().__init__(Response(text="A"))
        self.file, self.replaced = file, replaced

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for position, response in super().stream(requests):
            if position == 6:
                self.file.unlink()
                if self.replaced:
                    response_file(self.file)
            yield position, response


@pytest.mark.parametrize("replaced", [False, True], ids=["deleted", "replaced"])
def test_a_file_that_is_deleted_in_a_run_ends_it_and_stays_empty(
    file: Path, *, replaced: bool
) -> None:
    model = CachingModel("m", DeletingEngine(file, replaced=replaced), response_file(file))
    with pytest.raises(HomeError, match=r"responses\.sqlite: deleted or replaced while"):
        model.response(REQUESTS)
    assert list(response_file(file).rows()) == []


def test_a_file_that_was_deleted_between_two_uses_is_not_created_again(file: Path) -> None:
    store = response_file(file)
    model = CachingModel("m", ScriptedEngine(Response(text="A")), store)
    model.response(REQUESTS[:6])
    file.unlink()
    with pytest.raises(HomeError, match=r"responses\.sqlite"):
        model.response(REQUESTS)
    assert not file.exists()
