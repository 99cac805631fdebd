from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench_assets.annotate.operations import make_links, revoke_links
from bench_assets.annotation.tasks import AnnotationError
from bench_assets.cli.main import app
from bench_assets.core.schema.errors import SettingsError, UnknownNameError
from bench_resources.annotation.opening import open_annotation_backend
from bench_resources.annotation.web.sessions import LinkError, LinkSigner
from bench_resources.annotation.web.store import pages_store
from bench_resources.config.bench_toml import Settings, load_settings
from tests.resources.annotation.port_cases import FORM, A

TOML = """
[annotation]
kind = "pages"
url = "https://lab.example/"
[annotation.names]
"p1@lab.example" = "ana"
"p2@lab.example" = "ben"
[annotation.tasks."codis/revisions"]
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "bench.toml").write_text(TOML)
    return load_settings(tmp_path)


def read_link(settings: Settings, link: str) -> tuple[str, tuple[str, ...]]:
    """The person and the tasks that a link is for."""
    token = link.removeprefix("https://lab.example/in/")
    signer = LinkSigner.beside(pages_store(settings.home))
    contents = signer.read(token, datetime.now(UTC).timestamp())
    return contents.person, contents.tasks


def test_links_are_for_all_annotators_with_names(settings: Settings) -> None:
    links = make_links(settings, [], [], days=30)
    assert [(row.person, row.sent_to) for row in links] == [
        ("ana", "p1@lab.example"), ("ben", "p2@lab.example")
    ]  # fmt: skip
    assert [read_link(settings, row.link) for row in links] == [("ana", ()), ("ben", ())]


def test_a_link_can_be_for_one_person_and_one_task(settings: Settings) -> None:
    (row,) = make_links(settings, ["codis/revisions"], ["p1@lab.example"], days=0.5)
    assert read_link(settings, row.link) == ("ana", ("codis/revisions",))
    (row,) = make_links(settings, [], ["cem"], days=1)
    assert row.person == "cem"


def test_links_are_made_only_for_published_forms(settings: Settings) -> None:
    with pytest.raises(UnknownNameError, match="codis/revisions"):
        make_links(settings, [FORM.name], ["ana"], days=1)
    open_annotation_backend(settings).ask(FORM, [A])
    (row,) = make_links(settings, [FORM.name], ["ana"], days=1)
    assert read_link(settings, row.link) == ("ana", (FORM.name,))


def test_a_link_lasts_a_century_at_most(settings, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(settings.home))
    command = ["annotate", "links", "--person", "ana", "--days"]
    assert CliRunner().invoke(app, [*command, "36500"]).exit_code == 0
    refused = CliRunner().invoke(app, [*command, "9999999"])
    assert refused.exit_code == 2
    assert "36500" in refused.output


def test_links_of_an_unknown_address_are_not_called_revoked(settings: Settings) -> None:
    with pytest.raises(AnnotationError, match="not a pseudonym"):
        revoke_links(settings, ["p9@lab.example"])


def test_revoked_links_open_nothing_and_new_ones_do(settings: Settings) -> None:
    of_ana, of_ben = make_links(settings, [], ["ana", "ben"], days=1)
    assert revoke_links(settings, ["p1@lab.example"]) == ["ana"]
    with pytest.raises(LinkError, match="revoked"):
        read_link(settings, of_ana.link)
    assert read_link(settings, of_ben.link) == ("ben", ())
    (new,) = make_links(settings, [], ["ana"], days=1)
    assert read_link(settings, new.link) == ("ana", ())


@pytest.mark.parametrize(
    ("toml", "expected_message"),
    [
        ('[annotation]\nkind = "files"', 'kind is "files"'),
        ('[annotation]\nkind = "pages"', "no annotators"),
    ],
)
def test_a_missing_section_is_named(tmp_path: Path, toml: str, expected_message: str) -> None:
    (tmp_path / "bench.toml").write_text(toml)
    with pytest.raises(SettingsError, match=expected_message):
        make_links(load_settings(tmp_path), [], [], days=1)
