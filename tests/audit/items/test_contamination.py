import pytest

from tests.audit.memory_evidence import MemoryEvidence, MemoryTrainingData, run_check
from tests.fakes.rows import question


@pytest.mark.parametrize("check", ["training_images", "training_texts"])
def test_training_data_of_another_kind_shows_nothing(check: str) -> None:
    evidence = MemoryEvidence(questions=[question(images=("1",))], training=MemoryTrainingData())
    assert run_check(evidence, check).skipped.startswith("the training data has no ")
