"""What is shipped to run on Kubernetes and in containers: read and held against what takes it.

Nothing of it is run here: there is no cluster, no Helm and no Docker.
"""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_assets.workspace.materialization.dagster_processes import CodeServer
from bench_resources.cluster.run_needs import pod_config
from bench_resources.config.bench_toml import load_settings
from bench_resources.runs.dagster_instance import HomeInstance
from bench_resources.runs.dagster_names import WorkerStatus
from tests.conftest import CHECKOUT
from tests.fakes.started_runs import started_run

DEPLOY = CHECKOUT / "deploy"
VALUES = yaml.safe_load((DEPLOY / "values.yaml").read_text())
KEYS = yaml.safe_load(Path(__file__).with_name("chart_keys.yaml").read_text())
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
LAUNCHER = VALUES["runLauncher"]["config"]["customRunLauncher"]
VERSION = "1.31"  # of Kubernetes


def unknown(values: object, path: str = "") -> Iterator[str]:
    """Keys that the chart does not take."""
    if isinstance(values, list):
        for one in values:
            yield from unknown(one, path)
    if isinstance(values, dict) and path in KEYS:
        yield from (f"{path}.{name}" for name in values if name not in KEYS[path])
        for name, below in values.items():
            yield from unknown(below, f"{path}.{name}".removeprefix("."))


def test_the_chart_takes_every_key() -> None:
    assert list(unknown(VALUES)) == []
    assert list(unknown({**VALUES, "telemetry": {"enable": False}})) == ["telemetry.enable"]
    assert set(VALUES["dagsterDaemon"]["image"]) <= set(KEYS["dagsterWebserver.image"])


def test_the_instance_is_ours_with_the_database_and_the_home_that_its_pods_have() -> None:
    more = VALUES["additionalInstanceConfig"]
    assert more["instance_class"]["class"] == HomeInstance.__name__
    assert set(more["bench"]) <= set(HomeInstance.config_schema()["bench"].config_type.fields)
    home = more["bench"]["folder"].removesuffix("/dagster")
    (graph,) = VALUES["dagster-user-deployments"]["deployments"]
    for part in (graph, VALUES["dagsterWebserver"], VALUES["dagsterDaemon"]):
        assert {"name": "BENCH_HOME", "value": home} in part["env"]
        assert part["envSecrets"] == [{"name": "bench"}]
        assert part["podSecurityContext"]["runAsNonRoot"]
        assert part["image"] == graph["image"]
        mounted = {one["name"]: one["mountPath"] for one in part["volumeMounts"]}
        assert mounted == {"settings": f"{home}/bench.toml", "weights": "/weights"}
        assert mounted.keys() == {one["name"] for one in part["volumes"]}
    assert graph["includeConfigInLaunchedRuns"] == {"enabled": True}


def test_the_code_server_has_the_arguments_of_ours_and_the_database_its_driver() -> None:
    (graph,) = VALUES["dagster-user-deployments"]["deployments"]
    command = CodeServer(Path("home"), "0.0.0.0", graph["port"]).command()
    assert set(graph["dagsterApiGrpcArgs"]) <= set(command)
    assert VALUES["postgresql"]["postgresqlScheme"] == "postgresql+psycopg2"
    assert (
        LAUNCHER["config"]["postgres_password_secret"] == (VALUES["global"]["postgresqlSecretName"])
    )
    assert LAUNCHER["config"]["service_account_name"] == VALUES["serviceAccount"]["name"]


def test_nothing_is_reached_without_a_login() -> None:
    annotations = VALUES["ingress"]["annotations"]
    assert annotations["nginx.ingress.kubernetes.io/auth-type"] == "basic"
    assert VALUES["ingress"]["dagsterWebserver"]["tls"]["enabled"]
    published = [port for one in COMPOSE["services"].values() for port in one.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
"""


def test_a_run_that_a_command_makes_is_not_taken_for_a_job_that_vanished(tmp_path: Path) -> None:
    pytest.importorskip("dagster_k8s", reason="make cluster-check installs dagster-k8s")
    from bench_resources.cluster.kubernetes import PodLauncher

    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    launcher = PodLauncher(
        service_account_name="bench",
        instance_config_map="bench-home",
        dagster_home="/home/bench",
        load_incluster_config=False,
        kubeconfig_file=str(tmp_path / "kubeconfig"),
    )
    with started_run(launcher) as run:
        assert launcher.check_run_worker_health(run).status == WorkerStatus.RUNNING


@pytest.fixture
def job() -> Any:
    """The job that dagster-k8s would make of a run."""
    k8s = pytest.importorskip("dagster_k8s", reason="make cluster-check installs dagster-k8s")
    from dagster._config import process_config, resolve_to_config_type
    from dagster_k8s.container_context import K8sContainerContext
    from dagster_k8s.job import (
        DagsterK8sJobConfig,
        UserDefinedDagsterK8sConfig,
        construct_dagster_k8s_job,
    )
    from kubernetes.client import ApiClient

    settings = LAUNCHER["config"]
    schema = resolve_to_config_type(k8s.K8sRunLauncher.config_type())
    checked = process_config(schema, settings)
    assert checked.success, checked.errors
    (graph,) = VALUES["dagster-user-deployments"]["deployments"]
    taken = ("dagster_home", "instance_config_map", "postgres_password_secret")
    image = "{repository}:{tag}".format(**graph["image"])
    of_all = {"job_image": image, **{name: settings[name] for name in taken}}
    needs = pod_config({"cpu": 8, "gpu": 2, "memory": 2**36, "example.org/fast": 1})
    contexts = [
        K8sContainerContext(run_k8s_config=UserDefinedDagsterK8sConfig.from_dict(one))
        for one in (settings["run_k8s_config"], needs)
    ]
    rendered = construct_dagster_k8s_job(
        DagsterK8sJobConfig(service_account_name=settings["service_account_name"], **of_all),
        args=["dagster", "api", "execute_run", "{}"],
        job_name="dagster-run-0",
        user_defined_k8s_config=contexts[0].merge(contexts[1]).run_k8s_config,
    )
    return ApiClient().sanitize_for_serialization(rendered)


def test_a_run_is_a_job_with_what_its_model_needs(job: Any) -> None:
    spec = job["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    limits = {"nvidia.com/gpu": "2", "example.org/fast": "1", "memory": str(2**36)}
    assert container["resources"] == {
        "limits": limits,
        "requests": {"cpu": "8", "memory": str(2**36)},
    }
    assert spec["securityContext"] == {"runAsNonRoot": True, "runAsUser": 1000, "fsGroup": 1000}
    (password,) = [one for one in container["env"] if one["name"] == "DAGSTER_PG_PASSWORD"]
    assert password["valueFrom"]["secretKeyRef"]["name"] == "dagster-postgresql"


def test_the_job_is_what_kubernetes_takes(job: Any) -> None:
    held = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
    held.validate(job, VERSION, strict=True)
    with pytest.raises(held.ValidationError):
        held.validate({**job, "spc": {}}, VERSION, strict=True)


SERVICES = COMPOSE["services"]
OURS = {name: one for name, one in SERVICES.items() if one["image"] == COMPOSE["x-bench"]["image"]}
_SERVICE = {
    *("image", "command", "entrypoint", "environment", "configs", "volumes", "depends_on"),
    *("healthcheck", "deploy", "ports", "restart", "stop_grace_period", "init"),
}  # of https://github.com/compose-spec/compose-spec/blob/main/spec.md


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_of_the_compose_file_is_whole(name: str) -> None:
    one = SERVICES[name]
    assert set(one) <= _SERVICE
    assert name in OURS or re.search(r":[\w.-]*\d", one["image"])  # pinned
    volumes = [volume.partition(":")[0] for volume in one.get("volumes", [])]
    named = [volume for volume in volumes if re.fullmatch(r"\w+", volume)]
    assert set(named) <= set(COMPOSE["volumes"])
    assert {config["source"] for config in one.get("configs", [])} <= set(COMPOSE["configs"])
    for other, when in one.get("depends_on", {}).items():
        condition = when["condition"]
        assert condition in ("service_healthy", "service_completed_successfully")
        assert condition != "service_healthy" or "healthcheck" in SERVICES[other]


UNITS = {file.stem.removeprefix("bench-"): file for file in DEPLOY.glob("systemd/*.service")}


@pytest.mark.parametrize("name", ["code", "daemon", "web"])
def test_a_unit_runs_the_service_and_restarts_it(name: str) -> None:
    unit = ConfigParser()
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(UNITS[name])
    program, *words = unit["Service"]["ExecStart"].split()
    assert (Path(program).name, words[:2]) == ("bench", ["ui", name])
    assert CliRunner().invoke(app, [*words, "--help"]).exit_code == 0
    assert words[-1] == {"code": "4000"}.get(name, "127.0.0.1:4000")
    assert (unit["Service"]["Restart"], unit["Service"]["SuccessExitStatus"]) == ("always", "143")
    # systemd would otherwise end the runs together with the code server
    assert unit["Service"].get("KillMode") == ("process" if name == "code" else None)


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    if not (analyze := shutil.which("systemd-analyze")):
        pytest.skip("no systemd here")
    for file in UNITS.values():
        text = file.read_text().replace("/srv/bench/checkout/.venv/bin/bench", sys.executable)
        (tmp_path / file.name).write_text(text.replace("User=bench\n", ""))
    verify = [analyze, "verify", "--man=no", *map(str, tmp_path.glob("*.service"))]
    checked = subprocess.run(verify, capture_output=True, text=True, check=False)
    ours = [line for line in checked.stderr.splitlines() if "bench-" in line]
    assert (checked.returncode, ours) == (0, [])


def test_the_settings_of_the_compose_file_are_those_of_shared_stores(tmp_path: Path) -> None:
    (tmp_path / "bench.toml").write_text(COMPOSE["configs"]["bench.toml"]["content"])
    found = load_settings(tmp_path)
    assert found.storage.shares_records
    assert found.storage.variable in COMPOSE["x-bench"]["environment"]
    host, _, port = found.storage.endpoint.removeprefix("http://").partition(":")
    assert (host in SERVICES, port) == (True, "9000")


def test_no_password_is_written_down() -> None:
    text = (DEPLOY / "compose.yaml").read_text() + (DEPLOY / "values.yaml").read_text()
    written = re.findall(r"(?:PASSWORD|SECRET_ACCESS_KEY|password): (\S+)", text)
    assert len(written) >= 4
    assert {one.strip('"}') for one in written} == {"${BENCH_PASSWORD"}


def test_the_image_has_what_there_is_and_is_no_root() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    copied = [one for line in lines if line.startswith("COPY") for one in shlex.split(line)[1:-1]]
    assert [one for one in copied if not (CHECKOUT / one).exists()] == []
    assert any(re.fullmatch(r"USER [1-9]\d*", line) for line in lines)
    (command,) = [line.removeprefix("CMD ") for line in lines if line.startswith("CMD")]
    result = CliRunner().invoke(app, [*yaml.safe_load(command)[1:], "--help"])
    assert result.exit_code == 0
