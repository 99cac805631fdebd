import json
import re
from hashlib import sha256

import pytest

from bench_assets.bundles.contents import MANIFEST_NAME, read_manifest
from bench_assets.bundles.verification import NotReproducibleError, verify
from bench_assets.core.schema.errors import BenchError, SourceError, TableError
from bench_assets.core.schema.rows import Prediction
from tests.bundles.shelf import (
    IMAGE,
    TASK,
    AlwaysAReader,
    edit_first_line,
    measure,
    pack_bundle,
    read_bundle,
    write_bundle,
)
from tests.cases import read_cases

DIGEST = sha256(IMAGE).hexdigest()


def overall_accuracy(evaluation):
    metrics = {(row.metric, row.category): row for row in evaluation.metrics}
    return metrics["accuracy", "all"]


def test_a_bundle_verifies_with_the_numbers_calculated_by_hand(bundle):
    result = verify(bundle)
    assert not result.divergences
    values = {(row.metric, row.category): row.value for row in result.evaluation.metrics}
    assert values["accuracy", "all"] == 0.5  # A and "Answer: B." of four
    assert values["accuracy", "level easy"] == 1.0  # 0 and 2
    assert values["accuracy", "level hard"] == 0.0  # 1 and 3
    assert overall_accuracy(result.evaluation).constant == 0.75  # A to everything


def test_a_manifest_names_number_benchmark_and_files_without_a_path_of_this_machine(bundle):
    files = read_bundle(bundle)
    manifest = json.loads(files[MANIFEST_NAME])
    assert manifest["signature"].startswith(f"shelf|v{TASK.version}|main|data:")
    assert manifest["benchmark"]["slices"] == ["level"]
    assert manifest["files"].keys() == files.keys() - {MANIFEST_NAME}
    assert "somebody/shelf" not in files[MANIFEST_NAME].decode()


def test_a_bundle_has_the_images_and_the_prompts_of_its_predictions(bundle):
    files = read_bundle(bundle)
    assert files[f"images/{DIGEST}"] == IMAGE
    prompts = [json.loads(line) for line in files["prompts.jsonl"].splitlines()]
    predictions = [json.loads(line) for line in files["predictions.jsonl"].splitlines()]
    assert {row["sha256"] for row in prompts} == {row["prompt_sha256"] for row in predictions}


def test_a_bundle_keeps_the_judgements_of_a_model(tmp_path):
    """Of four responses rules cannot read "no idea": a reader finds the right letter."""
    measure(tmp_path, reader=AlwaysAReader())
    packed = pack_bundle(tmp_path, tmp_path / "b.zip", find_prompt=lambda sha256: None)
    assert packed.manifest.not_there["judge_prompts"] == 1  # the response store would have it
    result = verify(tmp_path / "b.zip")
    assert not result.divergences
    accuracy = overall_accuracy(result.evaluation)
    assert accuracy.value == 0.75
    assert "judge:reader:judge|" in accuracy.signature


@pytest.mark.parametrize("options", [{"passed_on": False}, {"images": False}])
def test_images_that_are_left_out_are_named_by_their_digests(tmp_path, options):
    measure(tmp_path)
    packed = pack_bundle(tmp_path, tmp_path / "b.zip", **options)
    assert packed.n_left_out == 1
    assert packed.manifest.images == {DIGEST: ""}
    assert not verify(tmp_path / "b.zip").divergences


def test_a_number_that_cannot_be_reproduced_is_not_packed(tmp_path):
    tables = measure(tmp_path)
    rows = tables.read(["shelf", "predictions"], Prediction, "somebody")
    tables.write(["shelf", "predictions"], rows[::-1][:3], Prediction, "somebody")
    with pytest.raises(
        TableError, match=r"cannot be reproduced from its responses.*`bench evaluate shelf"
    ):
        pack_bundle(tmp_path, tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


def test_a_missing_table_is_an_error_with_the_command_that_makes_it(tmp_path):
    tables = measure(tmp_path)
    tables.path(["shelf", "metrics"], "somebody").unlink()
    with pytest.raises(TableError, match="no metrics; run `bench evaluate shelf --model somebody`"):
        pack_bundle(tmp_path, tmp_path / "b.zip")


CHANGED_PROMPT = pytest.param("prompts.jsonl", {"turns": "[]"}, id="a prompt")
CHANGED_ROWS = [
    pytest.param("predictions.jsonl", {"text": "B"}, id="a response"),
    pytest.param("judgements.jsonl", {"verdict": True}, id="a verdict"),
    pytest.param("scores.jsonl", {"points": 0.0}, id="points"),
    pytest.param("metrics.jsonl", {"value": 0.75}, id="a metric"),
    pytest.param("metrics.jsonl", {"low": 0.2}, id="the end of an interval"),
    pytest.param("questions.jsonl", {"answer": ["B"]}, id="a key"),
]


@pytest.mark.parametrize(("name", "fields"), [*CHANGED_ROWS, CHANGED_PROMPT])
def test_a_changed_file_is_refused_by_name(bundle, name, fields):
    write_bundle(bundle, edit_first_line(read_bundle(bundle), name, fields))
    with pytest.raises(SourceError) as refused:
        verify(bundle)
    assert str(bundle) in str(refused.value)
    assert name in str(refused.value)


@pytest.mark.parametrize(("name", "fields"), CHANGED_ROWS)
def test_a_changed_row_with_new_checksums_changes_the_numbers_and_the_digest(bundle, name, fields):
    digest_before = verify(bundle).bundle.manifest.digest
    files = edit_first_line(read_bundle(bundle), name, fields)
    result = verify(write_bundle(bundle, files, checksummed=True))
    assert result.divergences
    assert result.bundle.manifest.digest != digest_before


def test_a_changed_prompt_with_new_checksums_is_refused(bundle):
    """The predictions also have the digest of the prompt."""
    files = edit_first_line(read_bundle(bundle), "prompts.jsonl", {"turns": "[]"})
    write_bundle(bundle, files, checksummed=True)
    with pytest.raises(SourceError, match=r"prompts\.jsonl"):
        verify(bundle)


@pytest.mark.parametrize(
    ("name", "data", "expected_message"),
    [
        pytest.param("../../evil", b"", "'../../evil': added later", id="outside of the bundle"),
        pytest.param("notes.txt", b"", "'notes.txt'", id="an added file"),
        pytest.param(f"images/{DIGEST}", IMAGE[:-1] + b"x",
                     f"images/{DIGEST}: checksum mismatch", id="another image"),
    ],
)  # fmt: skip
def test_an_added_or_changed_file_is_refused(bundle, name, data, expected_message):
    write_bundle(bundle, read_bundle(bundle) | {name: data})
    with pytest.raises(SourceError, match=re.escape(expected_message)):
        verify(bundle)


@pytest.mark.parametrize(
    ("name", "expected_message"),
    [("scores.jsonl", "scores.jsonl is missing"), (MANIFEST_NAME, f"no {MANIFEST_NAME} in it")],
)
def test_a_bundle_without_one_of_its_files_is_refused(bundle, name, expected_message):
    files = read_bundle(bundle)
    del files[name]
    write_bundle(bundle, files)
    with pytest.raises(SourceError, match=re.escape(expected_message)):
        verify(bundle)


@pytest.mark.parametrize(
    ("old", "new", "expected_message"),
    [
        pytest.param(b'"mini"', b'"own"', "checksum mismatch", id="another edition"),
        pytest.param(b'"bundle": 1', b'"bundle": 2', "not a manifest: bundle", id="newer format"),
    ],
)
def test_a_changed_manifest_is_refused(bundle, old, new, expected_message):
    files = read_bundle(bundle)
    manifest = files[MANIFEST_NAME].replace(old, new)
    write_bundle(bundle, files | {MANIFEST_NAME: manifest})
    with pytest.raises(SourceError, match=f"{MANIFEST_NAME}: {expected_message}"):
        verify(bundle)


@pytest.mark.parametrize(
    ("name", "fields", "expected_message"), read_cases(__file__, "unrelated_tables.jsonl")
)
def test_tables_that_do_not_belong_together_are_refused(bundle, name, fields, expected_message):
    files = edit_first_line(read_bundle(bundle), name, fields)
    with pytest.raises(SourceError) as refused:
        verify(write_bundle(bundle, files, checksummed=True))
    assert expected_message in str(refused.value)


def change_manifest(bundle, **fields):
    """Change fields of the manifest of a bundle and its checksum."""
    files = read_bundle(bundle)
    manifest = read_manifest(files[MANIFEST_NAME], "before").model_copy(update=fields)
    return write_bundle(bundle, files | {MANIFEST_NAME: manifest.checksummed().to_bytes()})


@pytest.mark.parametrize(
    ("fields", "expected_message"),
    [
        pytest.param({"benchmark": None, "package": "shelf-bench 1.2"}, "install shelf-bench 1.2",
                     id="a suite that is not installed"),
        pytest.param({"version": 1}, f"of shelf v1; here is shelf v{TASK.version}",
                     id="of another version"),
        pytest.param({"extensions": ("acme",)}, f"of shelf+acme v{TASK.version}",
                     id="with an extension"),
        pytest.param({"scorer": "kind"}, "no scorer 'kind'", id="read as nobody does here"),
    ],
)  # fmt: skip
def test_a_number_of_another_installation_says_what_to_install(bundle, fields, expected_message):
    with pytest.raises(NotReproducibleError) as refused:
        verify(change_manifest(bundle, **fields))
    assert expected_message in str(refused.value)


@pytest.mark.parametrize(
    ("fields", "expected_message"),
    [
        pytest.param(
            {"signature": "nothing"}, "line 1: not the number that", id="another signature"
        ),
        pytest.param({"images": {}}, f"'images/{DIGEST}' is not a file", id="images not named"),
        pytest.param(
            {"not_there": {"prompts": 1}}, "prompts are missing", id="a prompt that is there"
        ),
    ],
)
def test_a_manifest_that_contradicts_the_files_is_refused(bundle, fields, expected_message):
    with pytest.raises(BenchError) as refused:
        verify(change_manifest(bundle, **fields))
    assert expected_message in str(refused.value)
    assert str(bundle) in str(refused.value)


def test_a_manifest_with_an_invalid_section_is_refused(bundle):
    with pytest.raises(BenchError, match=r"manifest\.json, benchmark"):
        verify(change_manifest(bundle, benchmark={"seed": "x"}))


def test_a_prompt_of_a_benchmark_cannot_read_attributes_of_objects(bundle):
    section = {"file": "x", "prompt": "{question.__class__}"}
    result = verify(change_manifest(bundle, benchmark=section))
    # Only the metrics differ, because the section has no slices.
    assert {divergence.step for divergence in result.divergences} == {"metrics"}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(IMAGE + b"\0", id="a byte more"),
        pytest.param(IMAGE[:-1], id="a byte less"),
        pytest.param(b"", id="empty"),
    ],
)
def test_an_image_whose_digest_is_not_its_name_is_refused_also_with_new_checksums(bundle, data):
    name = f"images/{DIGEST}"
    write_bundle(bundle, read_bundle(bundle) | {name: data}, checksummed=True)
    with pytest.raises(SourceError, match=name):
        verify(bundle)


def test_a_flipped_bit_anywhere_in_a_bundle_is_refused(bundle):
    """Every tenth byte of files, headers and directory; another bit each time."""
    intact = bundle.read_bytes()
    for offset in range(0, len(intact), 10):
        damaged = bytearray(intact)
        damaged[offset] ^= 1 << (offset // 10 % 8)
        bundle.write_bytes(damaged)
        with pytest.raises(SourceError):
            verify(bundle)
