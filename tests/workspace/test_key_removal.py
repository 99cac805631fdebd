"""Keys that older versions stored in a home are removed, and its responses are still found."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa

from bench_assets.core.schema.provenance import row_digest, row_key
from bench_assets.workspace.maintain.key_removal import remove_keys
from resources.config.bench_toml import load_settings
from resources.config.models_toml import MODELS_FILE, save_models
from resources.config.sections.servers import ServerSpec
from resources.response_cache.sessions import insert
from resources.tables.checksums import verify_checksum, write_checksummed
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
        db.commit()
    (home / "run.log").write_text(f"asked {URL}\n")


def test_no_file_has_a_key_and_the_response_is_found(tmp_path: Path) -> None:
    old_home(tmp_path)
    found = {one.file: one.n for one in remove_keys(load_settings(tmp_path))}
    store = response_file(tmp_path / "responses.sqlite")
    assert found == {
        MODELS_FILE: 1, store.place: 1, "a.parquet": 1, "run.log": 1, "runs.db": 1,
    } | {name: 1 for name in found if name.startswith("locks")}  # fmt: skip
    for file in (one for one in tmp_path.rglob("*") if one.is_file()):
        assert not [key for key in (KEY, IN_QUERY) if key.encode() in file.read_bytes()], file
    spec = load_settings(tmp_path).model("m")
    assert isinstance(spec, ServerSpec)
    key = row_key({**ROW, "model": spec.identity})
    assert store.find([key])[key].text.startswith("B {BENCH_KEY_")
    with (tmp_path / "a.parquet").open("rb") as file:
        assert verify_checksum(file)
    assert list(remove_keys(load_settings(tmp_path))) == []
