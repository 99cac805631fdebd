"""Which files of a folder are which, and which of its images an address means."""

import pytest

from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.suites.journeybench.published_files import (
    image_addresses,
    match_addresses,
    name_of,
    number_duplicates,
    published_files,
    read_records,
    read_texts,
)
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from bench_assets.workspace.materialization.backfill import build_questions
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.suites.journeybench.release import HOST, write_lines, write_release


def test_tables_are_found_by_their_names(tmp_path):
    found = published_files(write_release(tmp_path / "source"))
    assert {table: file.name for table, file in found.items()} == {
        "captioning": "unusual_image_caption_generation.jsonl",
        "text_positives": "i2t_positive.jsonl",
        "text_negatives": "i2t_negative.jsonl",
        "image_distractors": "t2i.jsonl",
        "hallucination_vqa": "haloquest-eval.csv",
    }
    assert published_files(tmp_path) == {}


def test_addresses_of_all_tables_come_once(tmp_path):
    files = published_files(write_release(tmp_path / "source")).values()
    assert sorted(image_addresses(files)) == sorted(
        f"{HOST}/{name}.png" for name in ("cat%20car", "whale", "dog%20car", "shark", "lost")
    )


CAT, DOG = "https://h/cat/0_0.png", "https://h/dog/0_0.png"


@pytest.mark.parametrize(
    ("names", "addresses", "file_of"),
    [
        pytest.param(["0_0.png"], [CAT], {CAT: "0_0.png"}, id="the end of one address"),
        pytest.param(["0_0.png"], [CAT, DOG], {}, id="the end of two"),
        pytest.param(
            ["cat/0_0.png", "h/dog/0_0.png"],
            [CAT, DOG],
            {CAT: "cat/0_0.png", DOG: "h/dog/0_0.png"},
            id="as much of the address as tells them apart",
        ),
        pytest.param(
            ["cat/0_0.png", "0_0.png"],
            [CAT, DOG],
            {CAT: "cat/0_0.png"},
            id="what one of two is told by does not leave the other's file to guess",
        ),
        pytest.param(
            ["https/g/cat/0_0.png", "t/0_0.png"], [CAT], {}, id="parts of names are no ends"
        ),
        pytest.param(
            ["pink cat.png"],
            ["https://h/pink%20cat.png", "https://h/pink cat.png"],
            {
                "https://h/pink%20cat.png": "pink cat.png",
                "https://h/pink cat.png": "pink cat.png",
            },
            id="one address in two spellings",
        ),
        pytest.param(
            ["a%2Fb.png"],
            ["http://other/a%2Fb.png?size=1"],
            {"http://other/a%2Fb.png?size=1": "a%2Fb.png"},
            id="as it is written, without the query",
        ),
        pytest.param(
            ["a.png?size=1", "a.png?size=2"],
            ["https://h/a.png?size=1", "https://h/a.png?size=2"],
            {
                "https://h/a.png?size=1": "a.png?size=1",
                "https://h/a.png?size=2": "a.png?size=2",
            },
            id="told apart by the query",
        ),
        pytest.param(
            ["g/a.png", "h/a.png"],
            ["https://g/a.png", "https://h/a.png"],
            {"https://g/a.png": "g/a.png", "https://h/a.png": "h/a.png"},
            id="told apart by the host",
        ),
    ],
)
def test_which_file_is_the_image_of_an_address(names, addresses, file_of):
    assert match_addresses(names, addresses).file_of == file_of


def test_a_file_that_would_serve_two_addresses_is_listed_with_them():
    assert match_addresses(["0_0.png", "cat/0_0.png"], [CAT, DOG]).refused == {
        "0_0.png": [CAT, DOG]
    }


def test_names_are_unique_and_do_not_depend_on_other_rows():
    addresses = [CAT, DOG, "https://g/cat/0_0.png", f"{CAT}?x=1", "http://h/cat/0_0.png"]
    names = [name_of(address) for address in addresses]
    assert names[0] == "h/cat/0_0.png"
    assert len(set(names)) == len(addresses)
    assert number_duplicates(names) == names


@pytest.mark.parametrize(
    ("written", "read"),
    [
        pytest.param("a", ["a"], id="one text"),
        pytest.param([" a ", "", "b"], ["a", "b"], id="a list"),
        pytest.param("['a', 'b']", ["a", "b"], id="a list as Python writes it"),
        pytest.param('["a", "b"]', ["a", "b"], id="a list as JSON writes it"),
        pytest.param("[a cat", ["[a cat"], id="a text that begins like a list"),
        pytest.param(None, [], id="nothing"),
    ],
)
def test_fields_that_hold_one_or_several_texts(written, read):
    assert read_texts({"field": written}, "field") == read


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        pytest.param("mcot.csv", b"a,b\n1,2,3\n", "line 2: 3 cells, expected 2", id="a long line"),
        pytest.param("mcot.csv", b"a\n\xff\n", "not CSV in UTF-8", id="other bytes"),
        pytest.param("mcot.jsonl", b'{"a": 1\n', "line 1: not JSON, or cut short", id="cut short"),
        pytest.param("mcot.json", b'{"a": 1}', "expected a list of entries", id="no list"),
    ],
)
def test_files_that_are_not_whole_are_refused(tmp_path, name, content, complaint):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=complaint):
        [located.entry for located in read_records(tmp_path / name)]


def test_rows_come_with_where_they_stand(tmp_path):
    write_lines(tmp_path / "t2i.jsonl", {"a": "1"}, {"a": "2"})
    rows = list(read_records(tmp_path / "t2i.jsonl"))
    assert [(row.entry["a"], row.where.rsplit(", ")[-1]) for row in rows] == [
        ("1", "line 1"),
        ("2", "line 2"),
    ]


def loaded(home, text):
    (home / "bench.toml").write_text(f"[suites.journeybench]\n{text}")
    return load_settings(home).suite("journeybench", JourneyBenchSettings)


def test_encoders_have_names_and_defaults(tmp_path):
    chosen = loaded(tmp_path, 'judge = "rules"\nrounds = 8\nencoders.clip = { path = "a/clip" }')
    assert chosen.encoders["clip"].kind == "transformers"
    assert chosen.encoders["clip"].batch_size == 64
    assert chosen.download is False


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("dowload = true", "dowload", id="a misspelt entry"),
        pytest.param('encoders.clip = { file = "a" }', "encoders.clip", id="an encoder's entry"),
        pytest.param("download_connections = 500", "download_connections", id="impolite"),
    ],
)
def test_mistakes_are_named(tmp_path, text, complaint):
    with pytest.raises(SettingsError, match=complaint):
        loaded(tmp_path, text)


HALLUCINATION = "journeybench/hallucination_vqa"


@pytest.fixture
def home(tmp_path):
    source = write_release(tmp_path / "source")
    (source / "t2i.jsonl").write_text("{")  # a file of retrieval's
    (tmp_path / "bench.toml").write_text(f'[sources]\njourneybench = "{source}"\n')
    return load_settings(tmp_path)


@pytest.mark.long
def test_one_task_alone_asks_nothing_of_the_others(home):
    with Workbench(home, ["journeybench"]) as bench:
        bench.refresh_questions(HALLUCINATION)
        assert len(bench.rows(f"{HALLUCINATION}/questions")) == 2


class OnlyHallucination(Workbench):
    """A home folder in which one task can be built."""

    def refresh_questions(self, suite):
        if suite != HALLUCINATION:
            raise SourceError(f"{suite}: t2i.jsonl, line 1: not JSON")


def test_where_a_suite_cannot_be_built_its_tasks_are_built_one_by_one(home):
    with OnlyHallucination(home, ["journeybench"]) as bench:
        bench.tables.path([*HALLUCINATION.split("/"), "questions"]).parent.mkdir(parents=True)
        bench.tables.path([*HALLUCINATION.split("/"), "questions"]).touch()
        built, failures = build_questions(bench, "journeybench")
        assert built == [HALLUCINATION]
        assert len(failures) == 1 + 4
        with pytest.raises(SourceError, match="line 1"):
            build_questions(bench, "journeybench/retrieval")
