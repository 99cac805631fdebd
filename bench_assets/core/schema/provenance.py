"""Provenance: what goes into every key, digest, checksum and signature.

All are SHA-256 unless the table says otherwise:

============================  ==================================================================
response key                  engine identity, decoding, digest of the prompt, sample number, and
                              the elicited options, if any: `response_key`
response digest               all columns of a stored response but `asked_at`: `row_digest`
prompt digest                 the turns as JSON: `core.schema.chat.Prompt.sha256`
image name                    the bytes of the image: `core.images`
digest of a table's content   its columns and rows, not its file: `bench_resources.tables.parquet`
checksum of a table's file    every byte of the Parquet file: `bench_resources.tables.file_bytes`
digest of files               name and content of each: `bench_resources.storage.file_digests`
setup of a model              configuration, code and weights:
                              `bench_resources.models.registry.setup`
identity of a checkpoint      content of its weights and configuration:
                              `bench_resources.checkpoints.identity`
signature of an evaluation    task, version, condition, data, model, judge, ...; text, no digest:
                              `core.schema.signature`
digest of facts               settings and versions as JSON: `json_digest`
============================  ==================================================================

Changing one of these functions makes everything stored under it stale.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from math import isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench_assets.core.schema.chat import Request

_NOT_DIGESTED = ("asked_at", "digest")
_as_json = json.JSONEncoder(sort_keys=True, default=repr).encode


def response_key(identity: str, decoding: str, request: "Request") -> str:
    """The key of a response in the cache.

    Args:
        identity: Identity of the engine: location and revision of the model.
        decoding: Decoding parameters as the engine formats them; "" for none.
        request: Prompt, sample number and elicited options.
    """
    parts = [identity, decoding, request.prompt.sha256, str(request.sample)]
    if request.elicitation_key:
        parts.append(request.elicitation_key)
    return text_digest("\n".join(parts))


def row_digest(row: Mapping[str, object]) -> str:
    """Digest of a stored response, equal before writing and after reading.

    The columns ``asked_at`` and ``digest`` do not count, nor do empty ones, so that adding a column
    does not change digests.

    >>> row = {"key": "k", "seconds": 1.0}
    >>> row_digest(row) == row_digest({"key": "k", "seconds": 1, "note": ""})
    True
    """
    values: dict[str, object] = {}
    for name, value in row.items():  # a loop, for speed: 100,000 rows are verified
        if value is None or value == "" or name in _NOT_DIGESTED:
            continue
        if isinstance(value, bool | float):
            if isnan(value):  # NULL in SQLite
                continue
            # SQLite may return a whole number as int or float: both have one digest.
            values[name] = int(value) if float(value).is_integer() else value
        else:
            values[name] = value
    return sha256(_as_json(values).encode()).hexdigest()


def text_digest(text: str) -> str:
    """Digest of a text, which may contain lone surrogates."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def json_digest(facts: object) -> str:
    """Digest of a value as JSON; other types count as their ``str``."""
    return sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()
