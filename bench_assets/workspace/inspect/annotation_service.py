"""What ``bench people links`` does: a link for each person, and links that are void.

Label Studio's server as a process of its own, over a home folder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench_assets.core.schema.errors import SettingsError, UnknownNameError
from bench_assets.workspace.materialization.dagster_processes import UiProcess
from resources.annotation.label_studio import server
from resources.annotation.label_studio.server import shared_images
from resources.annotation.web.opening import require_pages
from resources.annotation.web.server import LOOPBACK, PORT
from resources.annotation.web.signed_links import Links
from resources.annotation.web.store import pages_store
from resources.config.bench_toml import Settings, load_settings
from resources.config.environment import environment_of
from resources.images.opening import images_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonLink:
    """A link to hand out."""

    person: str  # the pseudonym, as in tables
    sent_to: str  # what [people.names] calls them; "": nothing else
    until: str  # ISO 8601, UTC
    link: str


def make_links(
    settings: Settings, forms: Sequence[str], people: Sequence[str], days: float
) -> list[PersonLink]:
    """Make a link for each person.

    Args:
        settings: Of the home.
        forms: That it is for; none: all.
        people: Pseudonyms, or what ``[people.names]`` calls them; none: all of that section.
        days: How long it opens the pages.

    Raises:
        SettingsError: If there is nobody, or people do not answer in pages.
        UnknownNameError: If a form is neither in bench.toml nor asked.
        PeopleError: If a name is no pseudonym, or the key cannot be used.
    """
    require_pages(settings)
    names = settings.people.names
    if not (people or names):
        raise SettingsError(
            f"{settings.file}: nobody is named; --person NAME, or a section [people.names]"
        )
    _check(settings, forms)
    made = Links.beside(pages_store(settings.home))
    ends = datetime.now(UTC) + timedelta(days=days)
    address = settings.people.url.rstrip("/") or f"http://{LOOPBACK}:{PORT}"

    def handed(name: str) -> PersonLink:
        person = names.get(name, name)
        token = made.make(person, tuple(forms), int(ends.timestamp()))
        return PersonLink(
            person=person,
            sent_to=name if name in names else "",
            until=f"{ends:%Y-%m-%dT%H:%MZ}",
            link=f"{address}/in/{token}",
        )

    return list(map(handed, people or names))


def revoke_links(settings: Settings, people: Sequence[str]) -> list[str]:
    """Void all links of people; returns their pseudonyms.

    Raises:
        SettingsError: If people do not answer in pages.
        PeopleError: If the file cannot be written.
    """
    require_pages(settings)
    known = [settings.people.names.get(name, name) for name in people]
    for person in known:
        Links.beside(pages_store(settings.home)).revoke(person)
    return known


def _check(settings: Settings, forms: Sequence[str]) -> None:
    store = pages_store(settings.home)
    known = {*settings.people.forms, *store.forms()}
    for form in forms:
        if form not in known:
            raise UnknownNameError(f"form in {settings.file}", form, known)


class LabelStudioProcess(UiProcess):
    """A Label Studio, from its start to its end; a context manager."""

    what = "Label Studio"
    health = "/health"

    def __init__(self, home: Path, port: int, token: str, program: Path) -> None:
        """Make its folder ready; nothing is started yet.

        Raises:
            SettingsError: If the token is none that can be given to it.
            HomeError: If the folder cannot be written.
        """
        super().__init__(home, port)
        self.folder = home / "people" / "label-studio" / "server"
        self.log = self.folder / "server.log"
        self._program = program
        place = images_of(load_settings(home)).place
        self._variables = server.variables(
            environment_of(home), self.folder, shared_images(home, place), port, token
        )

    def command(self) -> list[str]:
        """What is started."""
        return [str(self._program), *server.arguments(self.port)]

    def environment(self) -> dict[str, str]:
        """What it finds in its environment."""
        return self._variables
