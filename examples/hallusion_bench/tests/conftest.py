"""What the tests of this package share."""

import gzip
import json
import tomllib
from pathlib import Path

import pytest

from bench_assets.core.schema.rows import StoredImage
from hallusion_bench.questions import to_questions
from hallusion_bench.source import Asked
from tests.distributions import write_distribution

PACKAGE = Path(__file__).parent.parent


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install the package as its pyproject.toml says, beside what is there."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    write_distribution(tmp_path / "site", project["name"], project["entry-points"])
    monkeypatch.syspath_prepend(str(tmp_path / "site"))


@pytest.fixture
def entry():
    """Make an entry of its id, what is shown ("0", "1" or "2") and the answer ("1" or "0")."""

    def make(name, visual_input, answer):
        category, subcategory, set_id, figure_id, question_id = name.split("/")
        path = f"{category}/{subcategory}/{set_id}_{figure_id}.png"
        return Asked(
            category=category,
            subcategory=subcategory,
            visual_input=visual_input,
            set_id=set_id,
            figure_id=figure_id,
            question_id=question_id,
            question="Is it so?",
            reference="It is so." if answer == "1" else "It is not so.",
            answer=answer,
            image="" if visual_input == "0" else path,
        )

    return make


@pytest.fixture
def ask():
    """Turn entries into questions, all of their figures being there."""

    def make(entries, edition="mini"):
        images = {
            one.image: StoredImage(
                name=one.image, sha256=one.image, format="PNG", width=1, height=1, n_bytes=1
            )
            for one in entries
            if one.image
        }
        return to_questions(entries, images, edition)

    return make


@pytest.fixture(scope="session")
def authors_data():
    """The authors' data beside the checkout; tests that need it skip where it is absent."""
    folder = PACKAGE.parent.parent.parent / "shared" / "data" / "hallusionbench"
    if not folder.is_dir():
        pytest.skip(f"no authors' data in {folder}")

    def read(name):
        with gzip.open(folder / f"{name}.json.gz", "rt", encoding="utf-8") as file:
            return json.load(file)

    return read
