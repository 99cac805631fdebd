"""A bundle holds everything of a number; what was tampered with is refused, by file and entry."""

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from bench_assets.core.errors import BenchError, SourceError, TableError
from bench_assets.core.rows import Metric, Prediction
from bench_assets.core.secrets import Secrets
from bench_assets.reproduce.manifest import NAME
from bench_assets.reproduce.verifying import CannotTryError, verify
from tests.reproduce.shelf import (
    Right,
    files_in,
    measure,
    packed,
    picture,
    repacked,
    with_line,
)

DIGEST = sha256(picture()).hexdigest()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    measure(folder / "home")
    packed(folder / "home", folder / "b.zip")
    return folder / "b.zip"


@pytest.fixture
def bundle(whole, tmp_path):
    return Path(shutil.copy(whole, tmp_path))


def test_it_verifies_and_says_the_numbers_by_pencil(bundle):
    found = verify(bundle)
    assert not found.partings
    values = {(row.metric, row.category): row.value for row in found.again.metrics}
    assert values["accuracy", "all"] == 0.5  # A and "It is B." of four
    assert values["accuracy", "level easy"] == 1.0  # 0 and 2
    assert values["accuracy", "level hard"] == 0.0  # 1 and 3
    (whole,) = (r for r in found.again.metrics if (r.metric, r.category) == ("accuracy", "all"))
    assert whole.constant == 0.75  # A to everything


def test_a_bundle_of_what_homes_share_is_that_of_a_home_of_its_own(whole, tmp_path):
    home, shared = tmp_path / "home", tmp_path / "shared"
    measure(home, shared=shared)
    packed(home, tmp_path / "b.zip", shared)
    assert not (home / "tables").exists()
    assert (tmp_path / "b.zip").read_bytes() == whole.read_bytes()


def test_everything_of_the_number_is_in_it(bundle):
    files = files_in(bundle)
    about = json.loads(files[NAME])
    assert about["signature"].startswith("shelf|v2|main|data:")
    assert {"python", "bench-assets", "numpy", "pyarrow"} <= about["versions"].keys()
    assert about["benchmark"]["slices"] == ["level"]
    assert "somebody/shelf" not in files[NAME].decode()  # no path of this machine
    assert files[f"pictures/{DIGEST}"] == picture()
    assert about["files"].keys() == files.keys() - {NAME}
    prompts = [json.loads(line) for line in files["prompts.jsonl"].splitlines()]
    sent = {json.loads(line)["prompt_sha256"] for line in files["predictions.jsonl"].splitlines()}
    assert {row["sha256"] for row in prompts} == sent
    assert len(files["questions.jsonl"].splitlines()) == 4


def test_what_a_model_judged_is_taken_as_it_judged_and_its_prompts_are_there(tmp_path):
    """Of four replies rules cannot read "no idea": a model takes it for right."""
    measure(tmp_path, judge=Right())
    done = packed(tmp_path, tmp_path / "b.zip", remembered=lambda sha256: None)
    assert done.manifest.not_there["judge_prompts"] == 1  # the reply store would have it
    found = verify(tmp_path / "b.zip")
    assert not found.partings
    (whole,) = (r for r in found.again.metrics if (r.metric, r.category) == ("accuracy", "all"))
    assert whole.value == 0.75
    assert "judge:judge|" in whole.signature


def test_a_verdict_that_somebody_turned_is_named(tmp_path):
    measure(tmp_path, judge=Right())
    packed(tmp_path, tmp_path / "b.zip")
    files = files_in(tmp_path / "b.zip")
    at = next(
        n
        for n, line in enumerate(files["judgements.jsonl"].splitlines())
        if json.loads(line)["judge"] == "judge"
    )
    turned = with_line(files, "judgements.jsonl", lambda row: row | {"verdict": False}, at)
    found = verify(repacked(tmp_path / "b.zip", turned, sealed=True))
    first = found.partings[0]
    assert (first.step, first.entry.split()[0]) == ("points", "shelf/3")


def test_the_same_number_is_the_same_file(tmp_path):
    for name in ("one", "another place/two"):
        measure(tmp_path / name)
        packed(tmp_path / name, tmp_path / f"{name}.zip")
    first = (tmp_path / "one.zip").read_bytes()
    assert first == (tmp_path / "another place" / "two.zip").read_bytes()


@pytest.mark.parametrize("why", [{"passed_on": False}, {"pictures": False}])
def test_pictures_that_may_not_go_are_named_by_their_digests(tmp_path, why):
    measure(tmp_path)
    done = packed(tmp_path, tmp_path / "b.zip", **why)
    assert done.n_left_out == 1
    assert done.manifest.pictures == {DIGEST: ""}
    assert not verify(tmp_path / "b.zip").partings


def test_secrets_stay_at_home(tmp_path):
    key = "sk-0123456789abcdef"
    measure(tmp_path, ("A", f"B {key}", "It is B.", "no idea"))
    packed(tmp_path, tmp_path / "b.zip", secrets=Secrets([key]))
    assert key.encode() not in (tmp_path / "b.zip").read_bytes()
    assert not verify(tmp_path / "b.zip").partings


def test_a_prompt_with_a_secret_is_known_by_its_digest_alone(tmp_path):
    measure(tmp_path)
    done = packed(tmp_path, tmp_path / "b.zip", secrets=Secrets(["Answer with the letter"]))
    assert done.manifest.not_there["prompts"] == 4
    assert files_in(tmp_path / "b.zip")["prompts.jsonl"] == b""
    assert not verify(tmp_path / "b.zip").partings


def test_a_number_that_does_not_come_out_is_not_packed(tmp_path):
    tables = measure(tmp_path)
    rows = tables.read(["shelf", "predictions"], Prediction, "somebody")
    tables.write(["shelf", "predictions"], rows[::-1][:3], Prediction, "somebody")
    with pytest.raises(
        TableError, match=r"does not come out of its replies.*`bench evaluate shelf"
    ):
        packed(tmp_path, tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


def test_without_a_table_it_says_which_command_makes_it(tmp_path):
    tables = measure(tmp_path)
    tables.write(["shelf", "metrics"], [], Metric, "somebody")
    with pytest.raises(TableError, match="no metrics; `bench evaluate shelf --model somebody`"):
        packed(tmp_path, tmp_path / "b.zip")


TAMPERED = [
    pytest.param("predictions.jsonl", {"text": "B"}, id="a reply"),
    pytest.param("judgements.jsonl", {"verdict": True}, id="a verdict"),
    pytest.param("scores.jsonl", {"points": 0.0}, id="points"),
    pytest.param("metrics.jsonl", {"value": 0.75}, id="a metric"),
    pytest.param("metrics.jsonl", {"low": 0.2}, id="the end of an interval"),
    pytest.param("questions.jsonl", {"answer": ["B"]}, id="a key"),
    pytest.param("prompts.jsonl", {"turns": "[]"}, id="a prompt"),
]


@pytest.mark.parametrize(("name", "change"), TAMPERED)
def test_what_was_changed_is_refused_by_name(bundle, name, change):
    repacked(bundle, with_line(files_in(bundle), name, lambda row: row | change))
    with pytest.raises(SourceError) as refused:
        verify(bundle)
    assert str(bundle) in str(refused.value)
    assert name in str(refused.value)


@pytest.mark.parametrize(("name", "change"), TAMPERED)
def test_what_was_changed_with_its_digests_does_not_pass(bundle, name, change):
    """Whoever makes all digests anew changes the bundle's own, and the digits do not come out."""
    before = verify(bundle).bundle.manifest.digest
    files = with_line(files_in(bundle), name, lambda row: row | change)
    repacked(bundle, files, sealed=True)
    if name in ("questions.jsonl", "prompts.jsonl"):  # whose digests stand in the signature too
        with pytest.raises(SourceError, match=name):
            verify(bundle)
    else:
        found = verify(bundle)
        assert found.partings
        assert found.bundle.manifest.digest != before


def _without(files, name):
    return {one: data for one, data in files.items() if one != name}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param(lambda f: f | {"../../evil": b""}, "'../../evil': manifest.json does not name",
                     id="a name that leads outside"),
        pytest.param(lambda f: f | {"/etc/passwd": b""}, "it was added", id="an absolute name"),
        pytest.param(lambda f: f | {"notes.txt": b""}, "'notes.txt'", id="a file added"),
        pytest.param(lambda f: _without(f, "scores.jsonl"), "no scores.jsonl in it", id="one less"),
        pytest.param(lambda f: _without(f, NAME), f"no {NAME} in it", id="no manifest"),
        pytest.param(lambda f: f | {NAME: b"{}"}, "no manifest: digest|no manifest: ", id="empty"),
        pytest.param(lambda f: f | {NAME: b"[" * 99999}, "no manifest", id="nested deeply"),
        pytest.param(lambda f: f | {NAME: f[NAME].replace(b'"mini"', b'"own"')},
                     f"{NAME}: not what its digest says", id="the manifest changed"),
        pytest.param(lambda f: f | {NAME: f[NAME].replace(b'"bundle": 1', b'"bundle": 2')},
                     f"{NAME}: no manifest: bundle", id="of a newer form"),
        pytest.param(lambda f: f | {NAME: f[NAME] + b" "}, f"{NAME}: not what", id="a space"),
        pytest.param(lambda f: f | {f"pictures/{DIGEST}": picture()[:-1] + b"x"},
                     f"pictures/{DIGEST}: not what its digest says", id="another picture"),
        pytest.param(lambda f: f | {"scores.jsonl": f["scores.jsonl"] + b"\n"}, "scores.jsonl: ",
                     id="a longer table"),
    ],
)  # fmt: skip
def test_files_that_do_not_belong_there_are_refused(bundle, change, says):
    repacked(bundle, change(files_in(bundle)))
    with pytest.raises(SourceError) as refused:
        verify(bundle)
    assert any(one in str(refused.value) for one in says.split("|"))


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        pytest.param("predictions.jsonl", {"question_id": "shelf/9"}, "line 1: shelf/9",
                     id="a reply to no question"),
        pytest.param("predictions.jsonl", {"question_id": "shelf/1"}, "is there twice",
                     id="two replies to one question"),
        pytest.param("predictions.jsonl", {"model": "another"}, "of another", id="another model's"),
        pytest.param("judgements.jsonl", {"sample": 3}, "no reply", id="a verdict on no reply"),
        pytest.param("metrics.jsonl", {"task": "codis"}, "not the number that",
                     id="another task's"),
        pytest.param("metrics.jsonl", {"signature": "shelf|v2|main|n:4"}, "not the number that",
                     id="another signature"),
        pytest.param("predictions.jsonl", {"prompt_sha256": "0" * 64}, "digest of their prompts",
                     id="another prompt sent"),
    ],
)  # fmt: skip
def test_tables_that_do_not_belong_together_are_refused(bundle, name, change, says):
    files = with_line(files_in(bundle), name, lambda row: row | change)
    with pytest.raises(SourceError) as refused:
        verify(repacked(bundle, files, sealed=True))
    assert says in str(refused.value)


def test_a_bundle_without_a_number_is_none(bundle):
    files = files_in(bundle)
    empty = {name: b"" for name in files if name.endswith(".jsonl")}
    with pytest.raises(SourceError, match=r"metrics\.jsonl: no number in it"):
        verify(repacked(bundle, files | empty, sealed=True))


def _about(bundle, **fields):
    """Say something else in the manifest, with a digest that fits."""
    from bench_assets.reproduce.manifest import read_manifest

    files = files_in(bundle)
    about = read_manifest(files[NAME], "before").model_copy(update=fields).sealed()
    return repacked(bundle, files | {NAME: about.to_bytes()})


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        pytest.param({"benchmark": None, "package": "shelf-bench 1.2"}, "install shelf-bench 1.2",
                     id="a suite that is not installed"),
        pytest.param({"version": 1}, "of shelf v1; here is shelf v2", id="of another version"),
        pytest.param({"extensions": ("acme",)}, "of shelf+acme v2", id="with an extension"),
        pytest.param({"reading": "kind"}, "no reading 'kind'", id="read as nobody does here"),
    ],
)  # fmt: skip
def test_what_cannot_be_tried_here_says_what_to_install(bundle, fields, says):
    with pytest.raises(CannotTryError) as refused:
        verify(_about(bundle, **fields))
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        pytest.param({"signature": "nothing"}, "metrics.jsonl, line 1", id="no signature"),
        pytest.param({"benchmark": {"seed": "x"}}, "manifest.json, benchmark", id="no section"),
        pytest.param({"benchmark": {"prompt": "{"}}, "manifest.json, benchmark", id="no template"),
        pytest.param({"pictures": {}}, "pictures", id="pictures that are not named"),
        pytest.param({"not_there": {"prompts": 1}}, "prompts are missing", id="a prompt less"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(bundle, fields, says):
    with pytest.raises(BenchError) as refused:
        verify(_about(bundle, **fields))
    assert says in str(refused.value)
    assert str(bundle) in str(refused.value)


def test_a_prompt_of_a_benchmark_cannot_reach_into_the_program(bundle):
    section = {"file": "x", "prompt": "{question.__class__}"}
    found = verify(_about(bundle, benchmark=section))
    assert {one.step for one in found.partings} == {"metrics"}  # without its slices
