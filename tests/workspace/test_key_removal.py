"""Keys that older versions stored in a home are removed, and its responses are still found."""

import sqlite3
import zipfile
import zlib
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest

from bench_assets.bundles.verification import verify
from bench_assets.core.schema.errors import HomeError
from bench_assets.core.schema.provenance import row_digest, row_key
from bench_assets.workspace.maintain.key_removal import remove_keys
from resources.config.bench_toml import load_settings
from resources.config.models_toml import MODELS_FILE, save_models
from resources.config.sections.servers import ServerSpec
from resources.config.stores import open_response_store
from resources.response_cache.sessions import insert
from resources.tables.checksums import verify_checksum, write_checksummed
from tests.bundles.shelf import measure, packed
from tests.postgres_server import postgres
from tests.resources.stores import response_file

KEY = "sk-0ld-Qm3x9ZpLw7Rk2Vt5"
IN_QUERY = "q-0ld-Qm3x9ZpLw7Rk2Vt5"
URL = f"http://127.0.0.1:9/{KEY}/v1?key={IN_QUERY}"
SECTION = {"kind": "server", "model": "m", "base_url": URL}
ROW = {
    "model": f"server:http://127.0.0.1:9/{KEY}/v1?key=***|m", "decoding": "t=0", "prompt": "p",
    "sample": 0, "text": f"B {KEY} {KEY[::-1]}", "finish_reason": "stop",
}  # fmt: skip


def old_home(home: Path) -> None:
    save_models(home, {"m": SECTION})
    row = {**ROW, "key": row_key(ROW)}
    store = response_file(home / "responses.sqlite")
    row["digest"] = row_digest(row)
    store.database.write(lambda connection: insert(connection, [row], {}))
    with (home / "a.parquet").open("w+b") as file:
        write_checksummed(pa.table({"a": [KEY, "x"], "n": [1, 2], "l": [[IN_QUERY], []]}), file)
    with closing(sqlite3.connect(home / "runs.db")) as db:
        db.execute("CREATE TABLE runs (id INTEGER PRIMARY KEY, body TEXT)")
        db.execute("INSERT INTO runs VALUES (1, ?)", [f'{{"url": "{URL}"}}'])
        db.execute("CREATE TABLE snapshots (body BLOB)")
        db.execute("INSERT INTO snapshots VALUES (?), (?)", [zlib.compress(URL.encode()), b"\xff"])
        db.execute("CREATE TABLE kvs (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
        db.execute("INSERT INTO kvs VALUES (?, 'x')", [KEY])
        db.commit()
    (home / "run.log").write_text(f"asked {URL}\n")


def test_no_file_has_a_key_and_the_response_is_found(tmp_path: Path) -> None:
    old_home(tmp_path)
    found = {one.file: one.n for one in remove_keys(load_settings(tmp_path))}
    store = response_file(tmp_path / "responses.sqlite")
    assert found == {
        MODELS_FILE: 1, store.place: 1, "a.parquet": 1, "run.log": 1, "runs.db": 3,
    } | {name: 1 for name in found if name.startswith("locks")}  # fmt: skip
    for file in (one for one in tmp_path.rglob("*") if one.is_file()):
        assert not [key for key in (KEY, IN_QUERY) if key.encode() in file.read_bytes()], file
    spec = load_settings(tmp_path).model("m")
    assert isinstance(spec, ServerSpec)
    key = row_key({**ROW, "model": spec.identity})
    assert store.find([key])[key].text.startswith("B {BENCH_KEY_")
    with closing(sqlite3.connect(tmp_path / "runs.db")) as db:
        packed_text, as_it_was = [row[0] for row in db.execute("SELECT body FROM snapshots")]
        assert zlib.decompress(packed_text).startswith(b"http://127.0.0.1:9/{BENCH_KEY_")
        assert as_it_was == b"\xff"
    with (tmp_path / "a.parquet").open("rb") as file:
        assert verify_checksum(file)
    assert list(remove_keys(load_settings(tmp_path))) == []


def test_a_bundle_is_as_whole_without_keys(tmp_path: Path) -> None:
    save_models(tmp_path, {"m": SECTION})
    measure(tmp_path / "m", said=("A", "B", f"It is B, says {KEY}.", "no idea"))
    packed(tmp_path / "m", tmp_path / "bundle.zip")
    with zipfile.ZipFile(tmp_path / "report.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.html", f"<p>{URL}</p>" * 9)
        archive.writestr("manifest.json", "[]")
    found = {one.file: one.n for one in remove_keys(load_settings(tmp_path))}
    assert (found["bundle.zip"], found["report.zip"]) == (1, 1)
    assert KEY.encode() not in (tmp_path / "bundle.zip").read_bytes()
    assert verify(tmp_path / "bundle.zip").partings == []
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        assert archive.read("a.html").startswith(b"<p>http://127.0.0.1:9/{BENCH_KEY_")


@pytest.mark.parametrize("name", ["a.zip", "a.db", "a.parquet"])
def test_what_is_damaged_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(HomeError, match=name):
        list(remove_keys(load_settings(tmp_path)))


@pytest.mark.long
def test_what_homes_share_is_cleaned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    psycopg = pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
    save_models(tmp_path, {"m": SECTION})
    shared = tmp_path / "shared"
    storage = f'[storage]\ndatabase = "env:TEAM_DATABASE"\nobjects = "file://{shared}"'
    (tmp_path / "bench.toml").write_text(storage)
    (shared / "tables").mkdir(parents=True)
    with (shared / "tables" / "a.parquet").open("w+b") as file:
        write_checksummed(pa.table({"a": [KEY, "x"]}), file)
    with postgres() as server:
        monkeypatch.setenv("TEAM_DATABASE", server.address())
        settings = load_settings(tmp_path)
        row = {**ROW, "key": row_key(ROW)}
        row["digest"] = row_digest(row)
        store = open_response_store(settings)
        store.database.write(lambda connection: insert(connection, [row], {}))
        with psycopg.connect(server.address()) as db:
            db.execute("CREATE TABLE event_logs (id BIGSERIAL PRIMARY KEY, event TEXT)")
            db.execute("INSERT INTO event_logs (event) VALUES (%s), ('x')", [URL])
            db.execute("CREATE TABLE snapshots (body BYTEA, moment TIMESTAMP DEFAULT now())")
            db.execute("INSERT INTO snapshots VALUES (%s)", [zlib.compress(URL.encode())])
        assert sum(one.n for one in remove_keys(settings)) >= 5
        assert list(remove_keys(settings)) == []
        with psycopg.connect(server.address()) as db:
            events = db.execute("SELECT event FROM event_logs ORDER BY id").fetchall()
            (body,) = db.execute("SELECT body FROM snapshots").fetchall()
        assert [events[1], KEY in events[0][0]] == [("x",), False]
        assert KEY.encode() not in zlib.decompress(body[0])
        spec = load_settings(tmp_path).model("m")
        assert isinstance(spec, ServerSpec)
        key = row_key({**ROW, "model": spec.identity})
        assert store.find([key])[key].text.startswith("B {BENCH_KEY_")
    assert KEY.encode() not in (shared / "tables" / "a.parquet").read_bytes()
