"""What ``bench people links`` does: a link for each person, and links that are void."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bench_assets.core.errors import SettingsError, UnknownNameError
from resources.people.pages.links import Links
from resources.people.pages.opening import require_pages
from resources.people.pages.server import LOOPBACK, PORT
from resources.people.pages.store import pages_store
from resources.settings.bench_toml import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """A link to hand out."""

    person: str  # the pseudonym, as in tables
    sent_to: str  # what [people.names] calls them; "": nothing else
    until: str  # ISO 8601, UTC
    link: str


def make_links(
    settings: Settings, forms: Sequence[str], people: Sequence[str], days: float
) -> list[Handed]:
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

    def handed(name: str) -> Handed:
        person = names.get(name, name)
        token = made.make(person, tuple(forms), int(ends.timestamp()))
        return Handed(
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
