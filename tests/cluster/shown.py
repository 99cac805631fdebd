"""What people are shown of a home: by Dagster's web server, and by the report."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench_assets.workspace.materialization.dagster_instance import open_instance
from bench_assets.workspace.materialization.dagster_processes import Web
from bench_assets.workspace.materialization.supervisor import Supervisor
from bench_resources.config.environment import environment_of
from tests.fakes.ray_cluster import CHECKOUT, free_port

_PATIENCE = 600.0  # s for a web server to have loaded the graph
_QUERY = """{
  runsOrError(limit: 1000) { ... on Runs { results {
    runId status tags { key value } startTime endTime
    assetMaterializations { assetKey { path } partition }
  } } }
  assetNodes {
    assetKey { path } groupName isPartitioned hasAssetChecks
    partitionKeys partitionStats { numMaterialized numPartitions numFailed numMaterializing }
    assetPartitionStatuses { ... on DefaultPartitionStatuses { materializedPartitions } }
    assetMaterializations(limit: 1) {
      runId timestamp partition metadataEntries {
        label description __typename
        ... on IntMetadataEntry { intRepr }
        ... on FloatMetadataEntry { floatValue }
        ... on TextMetadataEntry { text }
        ... on MarkdownMetadataEntry { mdStr }
        ... on JsonMetadataEntry { jsonString }
        ... on PathMetadataEntry { path }
        ... on UrlMetadataEntry { url }
        ... on TableMetadataEntry { table { records schema { columns { name type } } } }
      }
    }
  }
}"""


def in_the_ui(home: Path) -> dict[str, Any]:
    """All assets, partitions, runs and the newest materializations, as the UI asks for them."""
    open_instance(home).dispose()  # as every command does first
    web = Web(home, "127.0.0.1", free_port("127.0.0.1"))
    log = home / "web.log"
    with Supervisor([web], log) as running:
        running.start()
        running.wait_until_ready()
        until = time.monotonic() + _PATIENCE
        while not (data := _answer(web.address, _QUERY))["assetNodes"]:
            assert time.monotonic() < until, log.read_text()
            time.sleep(1)
    for kind in data.values():
        rows = kind["results"] if isinstance(kind, dict) else kind
        rows.sort(key=lambda row: json.dumps(row, sort_keys=True))
    return data


def in_the_report(home: Path) -> dict[str, str]:
    """Every file of a report that is made anew: its name, and a digest of its bytes."""
    folder = home / "report"
    subprocess.run(
        [sys.executable, "-m", "bench_assets", "report"],
        env={**os.environ, **environment_of(home)}, cwd=CHECKOUT, check=True,
    )  # fmt: skip
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name[0] != ".")
    return {str(file.relative_to(folder)): sha256(file.read_bytes()).hexdigest() for file in files}


def _answer(address: str, query: str) -> dict[str, Any]:
    data = json.dumps({"query": query}).encode()
    request = urllib.request.Request(
        f"{address}/graphql", data, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        reply = json.load(answer)
    assert "errors" not in reply, reply["errors"]
    found: dict[str, Any] = reply["data"]
    return found
