"""A bundle holds everything of a number; a tampered one is refused, by file and entry."""

import json
from hashlib import sha256

import pytest

from bench_assets.bundles.contents import MANIFEST_NAME
from bench_assets.bundles.verification import NotReproducibleError, verify
from bench_assets.core.schema.errors import BenchError, SourceError, TableError
from bench_assets.core.schema.rows import Metric, Prediction
from tests.bundles.shelf import Right, files_in, image, measure, packed, repacked, with_line

DIGEST = sha256(image()).hexdigest()


def test_it_verifies_and_says_the_numbers_by_pencil(bundle):
    found = verify(bundle)
    assert not found.divergences
    values = {(row.metric, row.category): row.value for row in found.evaluation.metrics}
    assert values["accuracy", "all"] == 0.5  # A and "Answer: B." of four
    assert values["accuracy", "level easy"] == 1.0  # 0 and 2
    assert values["accuracy", "level hard"] == 0.0  # 1 and 3
    (whole,) = (
        r for r in found.evaluation.metrics if (r.metric, r.category) == ("accuracy", "all")
    )
    assert whole.constant == 0.75  # A to everything


def test_everything_of_the_number_is_in_it(bundle):
    files = files_in(bundle)
    about = json.loads(files[MANIFEST_NAME])
    assert about["signature"].startswith("shelf|v7|main|data:")
    assert {"python", "bench-assets", "numpy", "pyarrow"} <= about["versions"].keys()
    assert about["benchmark"]["slices"] == ["level"]
    assert "somebody/shelf" not in files[MANIFEST_NAME].decode()  # no path of this machine
    assert files[f"images/{DIGEST}"] == image()
    assert about["files"].keys() == files.keys() - {MANIFEST_NAME}
    prompts = [json.loads(line) for line in files["prompts.jsonl"].splitlines()]
    sent = {json.loads(line)["prompt_sha256"] for line in files["predictions.jsonl"].splitlines()}
    assert {row["sha256"] for row in prompts} == sent
    assert len(files["questions.jsonl"].splitlines()) == 4


def test_what_a_model_judged_is_taken_as_it_judged_and_its_prompts_are_there(tmp_path):
    """Of four responses rules cannot read "no idea": a reader finds the right letter."""
    measure(tmp_path, judge=Right())
    done = packed(tmp_path, tmp_path / "b.zip", find_prompt=lambda sha256: None)
    assert done.manifest.not_there["judge_prompts"] == 1  # the response store would have it
    found = verify(tmp_path / "b.zip")
    assert not found.divergences
    (whole,) = (
        r for r in found.evaluation.metrics if (r.metric, r.category) == ("accuracy", "all")
    )
    assert whole.value == 0.75
    assert "judge:reader:judge|" in whole.signature


@pytest.mark.parametrize("why", [{"passed_on": False}, {"images": False}])
def test_images_that_may_not_go_are_named_by_their_digests(tmp_path, why):
    measure(tmp_path)
    done = packed(tmp_path, tmp_path / "b.zip", **why)
    assert done.n_left_out == 1
    assert done.manifest.images == {DIGEST: ""}
    assert not verify(tmp_path / "b.zip").divergences


def test_a_number_that_does_not_come_out_is_not_packed(tmp_path):
    tables = measure(tmp_path)
    rows = tables.read(["shelf", "predictions"], Prediction, "somebody")
    tables.write(["shelf", "predictions"], rows[::-1][:3], Prediction, "somebody")
    with pytest.raises(
        TableError, match=r"cannot be reproduced from its responses.*`bench evaluate shelf"
    ):
        packed(tmp_path, tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


def test_without_a_table_it_says_which_command_makes_it(tmp_path):
    tables = measure(tmp_path)
    tables.write(["shelf", "metrics"], [], Metric, "somebody")
    with pytest.raises(TableError, match="no metrics; run `bench evaluate shelf --model somebody`"):
        packed(tmp_path, tmp_path / "b.zip")


TAMPERED = [
    pytest.param("predictions.jsonl", {"text": "B"}, id="a response"),
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
    repacked(bundle, files, checksummed=True)
    if name == "prompts.jsonl":  # whose digests stand in the responses too
        with pytest.raises(SourceError, match=name):
            verify(bundle)
    else:
        found = verify(bundle)
        assert found.divergences
        assert found.bundle.manifest.digest != before


def _without(files, name):
    return {one: data for one, data in files.items() if one != name}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param(lambda f: f | {"../../evil": b""}, "'../../evil': added later",
                     id="a name that leads outside"),
        pytest.param(lambda f: f | {"notes.txt": b""}, "'notes.txt'", id="a file added"),
        pytest.param(lambda f: _without(f, "scores.jsonl"), "scores.jsonl is missing",
                     id="one less"),
        pytest.param(lambda f: _without(f, MANIFEST_NAME), f"no {MANIFEST_NAME} in it",
                     id="no manifest"),
        pytest.param(lambda f: f | {MANIFEST_NAME: f[MANIFEST_NAME].replace(b'"mini"', b'"own"')},
                     f"{MANIFEST_NAME}: checksum mismatch", id="the manifest changed"),
        pytest.param(lambda f: f | {
                         MANIFEST_NAME: f[MANIFEST_NAME].replace(b'"bundle": 1', b'"bundle": 2')},
                     f"{MANIFEST_NAME}: not a manifest: bundle", id="of a newer form"),
        pytest.param(lambda f: f | {f"images/{DIGEST}": image()[:-1] + b"x"},
                     f"images/{DIGEST}: checksum mismatch", id="another image"),
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
                     id="a response to no question"),
        pytest.param("predictions.jsonl", {"question_id": "shelf/1"}, "duplicate",
                     id="two responses to one question"),
        pytest.param("predictions.jsonl", {"model": "another"}, "to another", id="another model's"),
        pytest.param("judgements.jsonl", {"sample": 3}, "no response",
                     id="a verdict on no response"),
        pytest.param("metrics.jsonl", {"signature": "shelf|v6|main|n:4"}, "not the number that",
                     id="another signature"),
        pytest.param("predictions.jsonl", {"prompt_sha256": "0" * 64}, "not a prompt that was sent",
                     id="another prompt sent"),
    ],
)  # fmt: skip
def test_tables_that_do_not_belong_together_are_refused(bundle, name, change, says):
    files = with_line(files_in(bundle), name, lambda row: row | change)
    with pytest.raises(SourceError) as refused:
        verify(repacked(bundle, files, checksummed=True))
    assert says in str(refused.value)


def _about(bundle, **fields):
    """Say something else in the manifest, with a digest that fits."""
    from bench_assets.bundles.contents import read_manifest

    files = files_in(bundle)
    about = read_manifest(files[MANIFEST_NAME], "before").model_copy(update=fields).checksummed()
    return repacked(bundle, files | {MANIFEST_NAME: about.to_bytes()})


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        pytest.param({"benchmark": None, "package": "shelf-bench 1.2"}, "install shelf-bench 1.2",
                     id="a suite that is not installed"),
        pytest.param({"version": 1}, "of shelf v1; here is shelf v7", id="of another version"),
        pytest.param({"extensions": ("acme",)}, "of shelf+acme v7", id="with an extension"),
        pytest.param({"scorer": "kind"}, "no scorer 'kind'", id="read as nobody does here"),
    ],
)  # fmt: skip
def test_what_cannot_be_tried_here_says_what_to_install(bundle, fields, says):
    with pytest.raises(NotReproducibleError) as refused:
        verify(_about(bundle, **fields))
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        pytest.param({"signature": "nothing"}, "metrics.jsonl, line 1", id="no signature"),
        pytest.param({"benchmark": {"seed": "x"}}, "manifest.json, benchmark", id="no section"),
        pytest.param({"images": {}}, "images", id="images that are not named"),
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
    assert {one.step for one in found.divergences} == {"metrics"}  # without its slices


def test_an_image_of_other_bytes_than_its_name_says_is_refused(bundle):
    """Also where the manifest was made anew, and the other bytes are an image."""
    files = files_in(bundle)
    (name,) = [one for one in files if one.startswith("images/")]
    for other in (image() + b"\0", image()[:-1], b""):
        repacked(bundle, files | {name: other}, checksummed=True)
        with pytest.raises(SourceError, match=name):
            verify(bundle)


def test_a_flipped_bit_in_any_file_of_a_bundle_is_found(bundle):
    """A byte in every ten of each file, header and directory; another bit each time."""
    whole = bundle.read_bytes()
    for at in range(0, len(whole), 10):
        spoilt = bytearray(whole)
        spoilt[at] ^= 1 << at // 10 % 8
        bundle.write_bytes(spoilt)
        with pytest.raises(SourceError):
            verify(bundle)
