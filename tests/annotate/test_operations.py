"""Links that are handed out: whose, for which tasks, and void when they are revoked."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench_assets.annotate.operations import make_links, revoke_links
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


def read(settings: Settings, link: str) -> tuple[str, tuple[str, ...]]:
    token = link.removeprefix("https://lab.example/in/")
    found = LinkSigner.beside(pages_store(settings.home)).read(token, datetime.now(UTC).timestamp())
    return found.person, found.tasks


def test_links_are_for_all_who_have_names_or_for_one_person(settings: Settings) -> None:
    made = make_links(settings, [], [], 30)
    assert [(one.person, one.sent_to) for one in made] == [
        ("ana", "p1@lab.example"), ("ben", "p2@lab.example")
    ]  # fmt: skip
    assert [read(settings, one.link) for one in made] == [("ana", ()), ("ben", ())]
    (one,) = make_links(settings, ["codis/revisions"], ["p1@lab.example"], 0.5)
    assert read(settings, one.link) == ("ana", ("codis/revisions",))
    assert make_links(settings, [], ["cem"], 1)[0].person == "cem"


def test_only_configured_forms_are_known(settings: Settings) -> None:
    with pytest.raises(UnknownNameError, match="codis/revisions"):
        make_links(settings, [FORM.name], ["ana"], 1)
    open_annotation_backend(settings).ask(FORM, [A])
    assert make_links(settings, [FORM.name], ["ana"], 1)


def test_a_link_lasts_a_hundred_years_at_most(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_HOME", str(settings.home))
    command = ["annotate", "links", "--person", "ana", "--days"]
    assert CliRunner().invoke(app, [*command, "36500"]).exit_code == 0
    refused = CliRunner().invoke(app, [*command, "9999999"])
    assert (refused.exit_code, "36500" in refused.output) == (2, True)


def test_revoked_links_open_nothing_and_new_ones_do(settings: Settings) -> None:
    old, other = make_links(settings, [], ["ana", "ben"], 1)
    assert revoke_links(settings, ["p1@lab.example"]) == ["ana"]
    with pytest.raises(LinkError, match="revoked"):
        read(settings, old.link)
    assert read(settings, other.link)[0] == "ben"
    assert read(settings, make_links(settings, [], ["ana"], 1)[0].link)[0] == "ana"


@pytest.mark.parametrize(
    ("toml", "why"),
    [
        ('[annotation]\nkind = "files"', 'kind is "files"'),
        ('[annotation]\nkind = "pages"', "no annotators"),
    ],
)
def test_a_missing_section_of_bench_toml_is_named(tmp_path: Path, toml: str, why: str) -> None:
    (tmp_path / "bench.toml").write_text(toml)
    with pytest.raises(SettingsError, match=why):
        make_links(load_settings(tmp_path), [], [], 1)
