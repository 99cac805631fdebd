"""Annotation backend over the pages' SQLite file."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench_assets.annotation.tasks.backend import PeopleError, UnitCounts
from bench_assets.annotation.tasks.forms import Answer, Form, Unit, Values
from resources.annotation.web.store import Store, read_said, written_form, written_item

TOOL = "pages"
_NO_END = 1_000_000_000  # people, whom an attention check is shown to
_SHORT = 400  # characters of an answer that others may well give too

_OF_FORM = "SELECT id FROM forms WHERE name = ?"
_KEEP_FORM = """
INSERT INTO forms (name, version, told, closed) VALUES (?, ?, ?, 0) ON CONFLICT (name)
DO UPDATE SET version = excluded.version, told = excluded.told, closed = 0 RETURNING id
"""
_KEEP_ITEM = """
INSERT INTO items (form, version, item_id, digest, told, position, asked, needed, gold)
VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT (form, item_id, digest, version) DO UPDATE SET
told = excluded.told, position = excluded.position, asked = 1, needed = excluded.needed,
gold = excluded.gold
"""
_ROOM = f"""
UPDATE items SET room = CASE WHEN gold THEN {_NO_END} ELSE needed + more - (
    SELECT count(*) FROM places WHERE item = items.id AND word IS NOT NULL AND NOT skipped
) END WHERE
"""
_BAR = "INSERT INTO barred SELECT id, ? FROM items WHERE form = ? AND item_id = ? AND asked"
_ANSWERS = """
SELECT a.id, i.version, i.item_id, i.digest, a.person, a.said, a.at, a.changed_at, a.seconds,
    a.skipped, a.proposed_by
FROM answers a JOIN items i ON a.item = i.id WHERE i.form = (SELECT id FROM forms WHERE name = ?)
ORDER BY i.item_id, i.digest, a.person, a.id
"""


@dataclass(frozen=True, slots=True)
class PagesPeople:
    """The port over the file; the server that shows the pages need not run."""

    store: Store

    def ask(self, form: Form, items: Sequence[Unit]) -> UnitCounts:
        """Write down what is asked; whoever is on the pages is shown it from then on."""
        wanted = {item.item_id: item.digest for item in items}
        if len(wanted) < len(items):
            twice = Counter(item.item_id for item in items).most_common(1)[0][0]
            raise PeopleError(f"{form.name}: {twice!r} is the id of two items")
        with self.store.writing() as db:
            before = dict(db.execute(f"SELECT item_id, digest FROM items WHERE form = ({_OF_FORM})"
                                     " AND asked", (form.name,)))  # fmt: skip
            _write_down(db, form, items)
        there = [before[name] == digest for name, digest in wanted.items() if name in before]
        return UnitCounts(
            new=len(wanted.keys() - before.keys()),
            there=sum(there),
            changed=len(there) - sum(there),
            withdrawn=len(before.keys() - wanted.keys()),
        )

    def answers(self, form: Form) -> list[Answer]:
        """Read every word that was said, in order; a person's last word is their last."""
        if not self.store.exists:
            return []
        with self.store.reading() as db:
            return list(_read(form.name, db.execute(_ANSWERS, (form.name,))))

    def reopen(self, form: Form, item_id: str) -> None:
        """Make a place for one more person."""
        which = f"form = ({_OF_FORM}) AND item_id = ? AND asked"
        with self.store.writing() as db:
            found = db.execute(
                f"UPDATE items SET more = more + 1 WHERE {which}", (form.name, item_id)
            )
            if not found.rowcount:
                raise PeopleError(f"{form.name}: {item_id!r} is not asked")
            db.execute(f"{_ROOM} {which}", (form.name, item_id))

    def close(self, form: Form) -> None:
        """Show nobody any more of the form; who is writing may still send it."""
        with self.store.writing() as db:
            db.execute("UPDATE forms SET closed = 1 WHERE name = ?", (form.name,))


def room_again(db: sqlite3.Connection, item: int) -> None:
    """Count anew how many people may still answer an item."""
    db.execute(f"{_ROOM} id = ?", (item,))


def _write_down(db: sqlite3.Connection, form: Form, items: Sequence[Unit]) -> None:
    ((number,),) = db.execute(_KEEP_FORM, (form.name, form.version, written_form(form)))
    db.execute("UPDATE items SET asked = 0 WHERE form = ?", (number,))
    version = form.version
    db.executemany(
        _KEEP_ITEM,
        (
            (number, version, item.item_id, item.digest, written_item(item), position,
             item.needed, bool(item.gold))
            for position, item in enumerate(items)
        ),
    )  # fmt: skip
    db.execute("DELETE FROM barred WHERE item IN (SELECT id FROM items WHERE form = ?)", (number,))
    db.executemany(
        _BAR, ((who, number, item.item_id) for item in items for who in dict.fromkeys(item.barred))
    )
    db.execute(f"{_ROOM} form = ? AND asked", (number,))


def _read(form: str, rows: sqlite3.Cursor) -> Iterator[Answer]:
    known: dict[str, Any] = {}  # many say the same: two hundred thousand answers are few texts
    for number, version, item_id, digest, person, said, at, changed_at, seconds, *more in rows:
        values, complaint = _values(known, said)
        yield Answer(
            form=form,
            form_version=known.setdefault(version, version),
            item_id=known.setdefault(item_id, item_id),
            item_digest=known.setdefault(digest, digest),
            person=known.setdefault(person, person),
            values=values,
            at=at,
            changed_at=at if at == changed_at else changed_at,
            seconds=seconds,
            skipped=bool(more[0]),
            proposed_by=known.setdefault(more[1], more[1]),
            tool=TOOL,
            tool_id=f"{number:010}",  # sorts as they came
            complaint=complaint,
        )


def _values(known: dict[str, Any], said: str) -> tuple[Values, str]:
    key = f"said:{said}" if len(said) < _SHORT else ""
    if key not in known or not key:
        try:
            found = read_said(said), ""
        except (PeopleError, TypeError, AttributeError):
            found = {}, "what was said cannot be read any more"
        if not key:
            return found
        known[key] = found
    read: tuple[Values, str] = known[key]
    return read
