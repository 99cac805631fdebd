"""A bundle holds everything of a number; what was tampered with is refused, by file and entry."""

import json
from dataclasses import replace
from hashlib import sha256

import pytest

from bench_assets.annotation.responses.units import response_name
from bench_assets.bundles.contents import MANIFEST_NAME, from_lines
from bench_assets.bundles.verification import verify
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Metric, Prediction
from bench_assets.evaluation.reviews import ResponseReview, ReviewLine
from tests.bundles.shelf import Right, files_in, image, measure, packed, repacked, with_line

DIGEST = sha256(image()).hexdigest()


def test_it_verifies_and_says_the_numbers_by_pencil(bundle):
    found = verify(bundle)
    assert not found.partings
    values = {(row.metric, row.category): row.value for row in found.again.metrics}
    assert values["accuracy", "all"] == 0.5  # A and "Answer: B." of four
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
    done = packed(tmp_path, tmp_path / "b.zip", remembered=lambda sha256: None)
    assert done.manifest.not_there["judge_prompts"] == 1  # the response store would have it
    found = verify(tmp_path / "b.zip")
    assert not found.partings
    (whole,) = (r for r in found.again.metrics if (r.metric, r.category) == ("accuracy", "all"))
    assert whole.value == 0.75
    assert "judge:reader:judge|" in whole.signature


def test_a_verdict_that_somebody_turned_is_named(tmp_path):
    measure(tmp_path, judge=Right())
    packed(tmp_path, tmp_path / "b.zip")
    files = files_in(tmp_path / "b.zip")
    at = next(
        n
        for n, line in enumerate(files["judgements.jsonl"].splitlines())
        if json.loads(line)["judge"] == "reader:judge"
    )
    turned = with_line(files, "judgements.jsonl", lambda row: row | {"value": "B"}, at)
    found = verify(repacked(tmp_path / "b.zip", turned, checksummed=True))
    first = found.partings[0]
    assert (first.step, first.entry.split()[0]) == ("points", "shelf/3")


def test_a_number_with_reviewed_responses_has_its_review(tmp_path):
    """The rules cannot read "no idea": a person reads the right letter out of it."""
    line = ReviewLine(
        question_id="shelf/3", response=response_name("no idea"), why="unread", answer="A", by="ana"
    )
    review = ResponseReview.of([replace(line, question="Which of the 3?", text="no idea")])
    measure(tmp_path, review=review)
    packed(tmp_path, tmp_path / "b.zip", review=review)
    files = files_in(tmp_path / "b.zip")
    assert from_lines(files["review.jsonl"], ReviewLine, "review.jsonl") == [line]
    found = verify(tmp_path / "b.zip")
    assert not found.partings
    (whole,) = (r for r in found.again.metrics if (r.metric, r.category) == ("accuracy", "all"))
    assert whole.value == 0.75
    assert f"+review:{review.digest}|" in whole.signature
    with pytest.raises(TableError, match=r"scorer: .*\+review:"):
        packed(tmp_path, tmp_path / "c.zip")


def test_the_same_number_is_the_same_file(tmp_path):
    for name in ("one", "another place/two"):
        measure(tmp_path / name)
        packed(tmp_path / name, tmp_path / f"{name}.zip")
    first = (tmp_path / "one.zip").read_bytes()
    assert first == (tmp_path / "another place" / "two.zip").read_bytes()


@pytest.mark.parametrize("why", [{"passed_on": False}, {"images": False}])
def test_images_that_may_not_go_are_named_by_their_digests(tmp_path, why):
    measure(tmp_path)
    done = packed(tmp_path, tmp_path / "b.zip", **why)
    assert done.n_left_out == 1
    assert done.manifest.images == {DIGEST: ""}
    assert not verify(tmp_path / "b.zip").partings


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
