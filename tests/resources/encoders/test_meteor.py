import json

import pytest

from bench_assets.core.metrics.ptb_tokenizer import tokenize
from bench_assets.core.schema.errors import ModelError
from bench_resources.encoders.meteor import meteor, missing_meteor

needs_java = pytest.mark.skipif(bool(missing_meteor()), reason=f"METEOR: {missing_meteor()}")


@pytest.mark.long
@needs_java
def test_scores_are_those_of_the_authors_for_corpus_and_captions(shared_data):
    folder = shared_data / "captions"
    items = json.loads((folder / "synth_100.json").read_text())["items"]
    expected = json.loads((folder / "synth_100.scores.json").read_text())
    captions = [
        (tokenize(item["candidate"]), [tokenize(text) for text in item["references"]])
        for item in items
    ]
    scores = meteor(captions)
    assert scores.corpus == pytest.approx(expected["scores"]["METEOR"], abs=1e-6)
    assert scores.per_caption == pytest.approx(expected["per_item"]["METEOR"], abs=1e-6)


def test_without_java_the_missing_program_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert missing_meteor() in ("Java is not installed", "pycocoevalcap is not installed")
    with pytest.raises(ModelError, match=r"METEOR: .* is not installed"):
        meteor([(["a"], [["a"]])])


@needs_java
def test_a_java_program_that_ends_early_is_an_error(monkeypatch, tmp_path):
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ModelError, match="ended early"):
        meteor([(["a"], [["a"]])])
