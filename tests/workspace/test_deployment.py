"""Files to run on Kubernetes, in containers and under systemd, checked against their schemas.

Nothing is deployed: no cluster, Helm or Docker is needed.
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
CHART_KEYS = yaml.safe_load(Path(__file__).with_name("chart_keys.yaml").read_text())
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
LAUNCHER = VALUES["runLauncher"]["config"]["customRunLauncher"]
KUBERNETES_VERSION = "1.31"


def unknown_keys(values: object, path: str = "") -> Iterator[str]:
    """Keys that are not in the schema of Dagster's chart."""
    if isinstance(values, list):
        for value in values:
            yield from unknown_keys(value, path)
    if isinstance(values, dict) and path in CHART_KEYS:
        yield from (f"{path}.{name}" for name in values if name not in CHART_KEYS[path])
        for name, value in values.items():
            yield from unknown_keys(value, f"{path}.{name}".removeprefix("."))


def test_the_chart_takes_every_key() -> None:
    assert list(unknown_keys(VALUES)) == []
    assert list(unknown_keys({**VALUES, "telemetry": {"enable": False}})) == ["telemetry.enable"]
    assert set(VALUES["dagsterDaemon"]["image"]) <= set(CHART_KEYS["dagsterWebserver.image"])


(GRAPH,) = VALUES["dagster-user-deployments"]["deployments"]
INSTANCE = VALUES["additionalInstanceConfig"]


def test_the_dagster_instance_is_that_of_a_home() -> None:
    assert INSTANCE["instance_class"]["class"] == HomeInstance.__name__
    assert set(INSTANCE["bench"]) <= set(HomeInstance.config_schema()["bench"].config_type.fields)
    assert GRAPH["includeConfigInLaunchedRuns"] == {"enabled": True}


@pytest.mark.parametrize(
    "pod",
    [GRAPH, VALUES["dagsterWebserver"], VALUES["dagsterDaemon"]],
    ids=["code", "web", "daemon"],
)
def test_each_pod_has_the_home_and_its_secrets(pod: dict[str, Any]) -> None:
    home = INSTANCE["bench"]["folder"].removesuffix("/dagster")
    assert {"name": "BENCH_HOME", "value": home} in pod["env"]
    assert pod["envSecrets"] == [{"name": "bench"}]
    assert pod["podSecurityContext"]["runAsNonRoot"]
    assert pod["image"] == GRAPH["image"]
    mount_paths = {mount["name"]: mount["mountPath"] for mount in pod["volumeMounts"]}
    assert mount_paths == {"settings": f"{home}/bench.toml", "weights": "/weights"}
    assert mount_paths.keys() == {volume["name"] for volume in pod["volumes"]}


def test_the_code_server_has_the_arguments_of_ours() -> None:
    command = CodeServer(Path("home"), host="0.0.0.0", port=GRAPH["port"]).command()
    options = command[command.index("grpc") + 1 :]
    values = dict(zip(options[::2], options[1::2], strict=True))
    given = {"-h": "0.0.0.0", "-p": str(GRAPH["port"]), "-d": "home"}  # by the chart or the image
    arguments = GRAPH["dagsterApiGrpcArgs"]
    assert values == given | dict(zip(arguments[::2], arguments[1::2], strict=True))


def test_runs_have_the_password_and_the_account_of_the_chart() -> None:
    assert VALUES["postgresql"]["postgresqlScheme"] == "postgresql+psycopg2"
    config = LAUNCHER["config"]
    assert config["postgres_password_secret"] == VALUES["global"]["postgresqlSecretName"]
    assert config["service_account_name"] == VALUES["serviceAccount"]["name"]


def test_the_ingress_requires_a_login_over_tls() -> None:
    annotations = VALUES["ingress"]["annotations"]
    assert annotations["nginx.ingress.kubernetes.io/auth-type"] == "basic"
    assert VALUES["ingress"]["dagsterWebserver"]["tls"]["enabled"]


def test_the_compose_file_publishes_ports_on_loopback_alone() -> None:
    services = COMPOSE["services"].values()
    ports = [port for service in services for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
"""


def test_a_run_of_a_command_counts_as_running_although_it_has_no_job(tmp_path: Path) -> None:
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
    validation = process_config(schema, settings)
    assert validation.success, validation.errors
    job_config = DagsterK8sJobConfig(
        job_image="{repository}:{tag}".format(**GRAPH["image"]),
        dagster_home=settings["dagster_home"],
        instance_config_map=settings["instance_config_map"],
        postgres_password_secret=settings["postgres_password_secret"],
        service_account_name=settings["service_account_name"],
    )
    needs = pod_config({"cpu": 8, "gpu": 2, "memory": 2**36, "example.org/fast": 1})
    every_run, this_run = (
        K8sContainerContext(run_k8s_config=UserDefinedDagsterK8sConfig.from_dict(config))
        for config in (settings["run_k8s_config"], needs)
    )
    rendered = construct_dagster_k8s_job(
        job_config,
        args=["dagster", "api", "execute_run", "{}"],
        job_name="dagster-run-0",
        user_defined_k8s_config=every_run.merge(this_run).run_k8s_config,
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
    variables = {variable["name"]: variable for variable in container["env"]}
    password = variables["DAGSTER_PG_PASSWORD"]
    assert password["valueFrom"]["secretKeyRef"]["name"] == "dagster-postgresql"


def test_the_job_keeps_the_schema_of_kubernetes(job: Any) -> None:
    kubernetes_validate = pytest.importorskip(
        "kubernetes_validate", reason="pip install kubernetes-validate"
    )
    kubernetes_validate.validate(job, KUBERNETES_VERSION, strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**job, "spc": {}}, KUBERNETES_VERSION, strict=True)


SERVICES = COMPOSE["services"]
OWN_IMAGE = COMPOSE["x-bench"]["image"]
_SERVICE_KEYS = {
    *("image", "command", "entrypoint", "environment", "configs", "volumes", "depends_on"),
    *("healthcheck", "deploy", "ports", "restart", "stop_grace_period", "init"),
}  # of https://github.com/compose-spec/compose-spec/blob/main/spec.md


@pytest.mark.parametrize("name", SERVICES)
def test_all_that_a_service_of_the_compose_file_refers_to_exists(name: str) -> None:
    service = SERVICES[name]
    assert set(service) <= _SERVICE_KEYS
    volumes = {volume.partition(":")[0] for volume in service.get("volumes", [])}
    named_volumes = {volume for volume in volumes if re.fullmatch(r"\w+", volume)}
    assert named_volumes <= set(COMPOSE["volumes"])
    assert {config["source"] for config in service.get("configs", [])} <= set(COMPOSE["configs"])
    for dependency, options in service.get("depends_on", {}).items():
        condition = options["condition"]
        assert condition in ("service_healthy", "service_completed_successfully")
        assert condition != "service_healthy" or "healthcheck" in SERVICES[dependency]


@pytest.mark.parametrize("name", SERVICES)
def test_images_of_others_have_a_pinned_version(name: str) -> None:
    image = SERVICES[name]["image"]
    assert image == OWN_IMAGE or re.search(r":[\w.-]*\d", image)


UNITS = {file.stem.removeprefix("bench-"): file for file in DEPLOY.glob("systemd/*.service")}


@pytest.mark.parametrize(
    ("name", "code_address"),
    [("code", "4000"), ("daemon", "127.0.0.1:4000"), ("web", "127.0.0.1:4000")],
)
def test_a_unit_runs_the_service_and_restarts_it(name: str, code_address: str) -> None:
    unit = ConfigParser()
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(UNITS[name])
    program, *arguments = unit["Service"]["ExecStart"].split()
    assert Path(program).name == "bench"
    assert arguments[:2] == ["ui", name]
    assert arguments[-1] == code_address
    assert CliRunner().invoke(app, [*arguments, "--help"]).exit_code == 0
    assert unit["Service"]["Restart"] == "always"
    assert unit["Service"]["SuccessExitStatus"] == "143"  # ended by SIGTERM


def test_systemd_does_not_end_the_runs_together_with_the_code_server() -> None:
    assert "\nKillMode=process\n" in UNITS["code"].read_text()


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        pytest.skip("no systemd here")
    for file in UNITS.values():
        text = file.read_text().replace("/srv/bench/checkout/.venv/bin/bench", sys.executable)
        (tmp_path / file.name).write_text(text.replace("User=bench\n", ""))
    verify = [analyze, "verify", "--man=no", *map(str, tmp_path.glob("*.service"))]
    result = subprocess.run(verify, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert [line for line in result.stderr.splitlines() if "bench-" in line] == []


def test_the_compose_file_configures_shared_stores(tmp_path: Path) -> None:
    (tmp_path / "bench.toml").write_text(COMPOSE["configs"]["bench.toml"]["content"])
    storage = load_settings(tmp_path).storage
    assert storage.shares_records
    assert storage.variable in COMPOSE["x-bench"]["environment"]
    host, _, port = storage.endpoint.removeprefix("http://").partition(":")
    assert host in SERVICES
    assert port == "9000"  # where MinIO listens unless told otherwise


def test_every_password_comes_from_the_environment() -> None:
    text = (DEPLOY / "compose.yaml").read_text() + (DEPLOY / "values.yaml").read_text()
    passwords = re.findall(r"(?:PASSWORD|SECRET_ACCESS_KEY|password): (\S+)", text)
    assert len(passwords) == 4  # two of the object store, one of its client and the database
    assert {password.strip('"}') for password in passwords} == {"${BENCH_PASSWORD"}


DOCKERFILE = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ").splitlines()


def test_the_image_copies_files_that_exist() -> None:
    copied = []
    for line in DOCKERFILE:
        if line.startswith("COPY"):
            _, *sources, _ = shlex.split(line)
            copied += sources
    assert copied
    assert [source for source in copied if not (CHECKOUT / source).exists()] == []


def test_the_image_runs_a_command_that_exists_and_not_as_root() -> None:
    assert any(re.fullmatch(r"USER [1-9]\d*", line) for line in DOCKERFILE)
    (command,) = [line.removeprefix("CMD ") for line in DOCKERFILE if line.startswith("CMD")]
    _, *arguments = yaml.safe_load(command)
    assert CliRunner().invoke(app, [*arguments, "--help"]).exit_code == 0
