"""What is shipped for Kubernetes: rendered, and held against the schemas; nothing of it is run."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_assets.core.schema.errors import SettingsError
from bench_assets.workspace.materialization.dagster_config import SITE, write_dagster_yaml
from bench_assets.workspace.materialization.dagster_processes import CodeServer
from resources.config.bench_toml import load_settings
from resources.runs.dagster_names import WorkerStatus
from resources.runs.run_needs import pod_config
from tests.conftest import CHECKOUT
from tests.started_runs import started_run

DEPLOY = CHECKOUT / "deploy"
SHIPPED = [
    one
    for one in yaml.safe_load_all((DEPLOY / "kubernetes" / "bench.yaml").read_text())
    if one is not None
]
HOME = next(one["data"] for one in SHIPPED if one["kind"] == "ConfigMap")
DEPLOYMENTS = [one for one in SHIPPED if one["kind"] == "Deployment"]
NAMES = [one["metadata"]["name"] for one in DEPLOYMENTS]
VERSION = "1.31"  # of Kubernetes


def written(home: Path) -> dict[str, Any]:
    for name in ("bench.toml", SITE):
        (home / name).write_text(HOME[name])
    write_dagster_yaml(home / "dagster", load_settings(home))
    read: dict[str, Any] = yaml.safe_load((home / "dagster" / "dagster.yaml").read_text())
    return read


def pod(deployment: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = deployment["spec"]["template"]["spec"]
    return spec


def test_its_settings_are_whole(tmp_path: Path) -> None:
    (tmp_path / "bench.toml").write_text(HOME["bench.toml"])
    found = load_settings(tmp_path)
    assert found.cluster.launcher == "k8s"
    assert found.storage.shares_records


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=NAMES)
def test_each_part_is_a_command_of_ours_that_is_no_root(deployment: dict[str, Any]) -> None:
    (container,) = pod(deployment)["containers"]
    assert pod(deployment)["securityContext"]["runAsNonRoot"]
    assert container["args"][0] == "bench"
    assert CliRunner().invoke(app, [*container["args"][1:], "--help"]).exit_code == 0
    probes = [container[f"{when}Probe"].get("exec") for when in ("startup", "liveness")]
    for probe in filter(None, probes):
        assert CliRunner().invoke(app, [*probe["command"][1:], "--help"]).exit_code == 0


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=NAMES)
def test_what_is_mounted_is_there_and_what_is_selected_is_named(deployment: dict[str, Any]) -> None:
    claims = {one["metadata"]["name"] for one in SHIPPED if one["kind"] != "Deployment"}
    volumes = {one["name"]: one for one in pod(deployment)["volumes"]}
    (container,) = pod(deployment)["containers"]
    for mount in container["volumeMounts"]:
        volume = volumes[mount["name"]]
        assert (
            volume.get("persistentVolumeClaim", {"claimName": "bench-home"})["claimName"] in claims
        )
        assert mount.get("subPath", "bench.toml") in HOME
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"] == labels


def test_every_server_is_reached_by_its_own_port_and_by_those_who_may() -> None:
    ports = {
        f"bench-{container['name']}": [one["containerPort"] for one in container["ports"]]
        for deployment in DEPLOYMENTS
        for container in pod(deployment)["containers"]
        if "ports" in container
    }
    services = {
        one["metadata"]["name"]: [port["port"] for port in one["spec"]["ports"]]
        for one in SHIPPED
        if one["kind"] == "Service"
    }
    guarded = {one["metadata"]["name"] for one in SHIPPED if one["kind"] == "NetworkPolicy"}
    assert ports == services == {"bench-code": [4000], "bench-web": [3000]}
    assert guarded == services.keys()


def test_a_site_that_does_not_say_what_a_pod_is_is_told_to(tmp_path: Path) -> None:
    pytest.importorskip("dagster_k8s", reason="make cluster-check installs dagster-k8s")
    pytest.importorskip("dagster_postgres", reason="make cluster-check installs dagster-postgres")
    (tmp_path / "bench.toml").write_text(HOME["bench.toml"])
    with pytest.raises(SettingsError, match=r"dagster\.site\.yaml: .*run_launcher there"):
        write_dagster_yaml(tmp_path / "dagster", load_settings(tmp_path))


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
    from resources.runs.kubernetes import PodLauncher

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
def job(tmp_path: Path) -> Any:
    """The job that dagster-k8s would make of a run."""
    pytest.importorskip("dagster_postgres", reason="make cluster-check installs dagster-postgres")
    k8s = pytest.importorskip("dagster_k8s", reason="make cluster-check installs dagster-k8s")
    from dagster._config import process_config, resolve_to_config_type
    from dagster_k8s.container_context import K8sContainerContext
    from dagster_k8s.job import (
        DagsterK8sJobConfig,
        UserDefinedDagsterK8sConfig,
        construct_dagster_k8s_job,
    )
    from kubernetes.client import ApiClient

    said = written(tmp_path)["run_launcher"]["config"]
    schema = resolve_to_config_type(k8s.K8sRunLauncher.config_type())
    checked = process_config(schema, said)
    assert checked.success, checked.errors
    taken = ("job_image", "dagster_home", "instance_config_map", "env_secrets", "env_vars")
    of_all = {name: said[name] for name in (*taken, "service_account_name")}
    needs = pod_config({"cpu": 8, "gpu": 2, "memory": 2**36, "example.org/fast": 1})
    contexts = [
        K8sContainerContext(run_k8s_config=UserDefinedDagsterK8sConfig.from_dict(one))
        for one in (said["run_k8s_config"], needs)
    ]
    rendered = construct_dagster_k8s_job(
        DagsterK8sJobConfig(**of_all),
        args=["dagster", "api", "execute_run", "{}"],
        job_name="dagster-run-0",
        user_defined_k8s_config=contexts[0].merge(contexts[1]).run_k8s_config,
    )
    return ApiClient().sanitize_for_serialization(rendered)


def test_a_run_is_a_job_with_what_its_model_needs_and_the_weights_and_secrets_by_name(
    job: Any,
) -> None:
    spec = job["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    limits = {"nvidia.com/gpu": "2", "example.org/fast": "1", "memory": str(2**36)}
    assert container["resources"] == {
        "limits": limits,
        "requests": {"cpu": "8", "memory": str(2**36)},
    }
    assert {"name": "bench"} in [one.get("secretRef") for one in container["envFrom"]]
    assert {"name": "BENCH_HOME", "value": "/home/bench/home"} in container["env"]
    assert spec["securityContext"] == {"runAsNonRoot": True, "runAsUser": 1000, "fsGroup": 1000}
    mounted = {one["mountPath"]: one for one in container["volumeMounts"]}
    assert mounted["/weights"]["readOnly"]
    assert mounted["/home/bench/home/bench.toml"]["subPath"] == "bench.toml"
    assert {one["name"] for one in mounted.values()} <= {one["name"] for one in spec["volumes"]}


def test_all_of_it_is_what_kubernetes_takes(job: Any) -> None:
    held = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
    for one in [*SHIPPED, job]:
        held.validate(one, VERSION, strict=True)
    with pytest.raises(held.ValidationError):
        held.validate({**SHIPPED[0], "dta": {}}, VERSION, strict=True)


def test_an_existing_chart_gets_the_graph_by_the_same_arguments() -> None:
    values = yaml.safe_load((DEPLOY / "kubernetes" / "values.yaml").read_text())
    (ours,) = values["dagster-user-deployments"]["deployments"]
    command = CodeServer(Path("home"), "0.0.0.0", ours["port"]).command()
    assert set(ours["dagsterApiGrpcArgs"]) <= set(command)
    assert values["postgresql"]["postgresqlScheme"] == "postgresql+psycopg2"


def test_the_image_has_what_there_is_and_is_no_root() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    copied = [one for line in lines if line.startswith("COPY") for one in shlex.split(line)[1:-1]]
    assert [one for one in copied if not (CHECKOUT / one).exists()] == []
    assert any(re.fullmatch(r"USER [1-9]\d*", line) for line in lines)
    (command,) = [line.removeprefix("CMD ") for line in lines if line.startswith("CMD")]
    said = CliRunner().invoke(app, [*yaml.safe_load(command)[1:], "--help"])
    assert said.exit_code == 0
