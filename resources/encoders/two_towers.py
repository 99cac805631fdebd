"""Loads checkpoints that make one vector of a text and one of a picture, in one space."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from resources.local.finite import refuse_infinite_weights
from resources.local.loading import refuse_incomplete
from resources.local.torchvision_operators import let_torchvision_load

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import BatchFeature, PretrainedConfig

_Embed: TypeAlias = Callable[..., Any]

_BOTH = ("get_text_features", "get_image_features")
_COMPARED_PIECEWISE = {
    "Blip2ForImageTextRetrieval": "a vector of each query about a picture",
    "ColPaliForRetrieval": "a vector of each patch and each token",
    "ColModernVBertForRetrieval": "a vector of each patch and each token",
    "ColQwen2ForRetrieval": "a vector of each patch and each token",
}
"""Models for retrieval whose vectors cannot be compared one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoTowers:
    """A loaded model; vectors come as they are, ``(n, dimensions)``."""

    name: str  # of its class
    device: str
    longest_text: int  # tokens
    embed_texts: _Embed
    embed_pictures: _Embed

    def texts(self, inputs: "BatchFeature") -> "Tensor":
        """Embed what a processor made of texts."""
        return self._vectors(self.embed_texts, inputs)

    def pictures(self, inputs: "BatchFeature") -> "Tensor":
        """Embed what a processor made of pictures."""
        return self._vectors(self.embed_pictures, inputs)

    def _vectors(self, embed: _Embed, inputs: "BatchFeature") -> "Tensor":
        import torch

        with torch.inference_mode():
            found = embed(**inputs.to(self.device))
        # Newer releases of transformers wrap the vectors up.
        vectors: Tensor = found.pooler_output if hasattr(found, "pooler_output") else found
        return vectors


def load_two_towers(location: str, revision: str, device: str) -> TwoTowers:
    """Load a checkpoint in float32.

    Raises:
        ModelError: If tensors are missing, have the wrong shape, or are NaN or infinite.
        ValueError: If it does not make one vector of a text and one of a picture.
        OSError, RuntimeError, ...: What transformers raises if the files are not as they should be.
    """
    let_torchvision_load()
    import torch
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(location, revision=revision)
    model, loading = _class_for(config).from_pretrained(
        location,
        revision=revision,
        dtype=torch.float32,
        ignore_mismatched_sizes=True,  # else the error of transformers names none
        output_loading_info=True,
    )
    refuse_incomplete(location, loading)
    refuse_infinite_weights(model, location)
    model = model.to(device).eval()
    blip = type(model).__name__ == "BlipForImageTextRetrieval"
    return TwoTowers(
        name=type(model).__name__,
        device=device,
        longest_text=model.config.text_config.max_position_embeddings,
        embed_texts=_blip_texts(model) if blip else model.get_text_features,
        embed_pictures=_blip_pictures(model) if blip else model.get_image_features,
    )


def refuse_other_spaces(name: str, *, texts: "Tensor", pictures: "Tensor") -> None:
    """Refuse a model whose vectors of one text and one picture cannot be compared.

    Raises:
        ValueError: If they are not one vector each, of as many dimensions.
    """
    made = [tuple(getattr(vectors, "shape", ())) for vectors in (texts, pictures)]
    if made[0] != made[1] or len(made[0]) != 2:
        raise ValueError(
            f"{name} makes {made[0]} of a text and {made[1]} of a picture, not one vector each of "
            "the same length"
        )


def _class_for(config: "PretrainedConfig") -> Any:  # noqa: ANN401 - a class of transformers
    """Choose the class that the checkpoint was saved as, where that embeds, or its family's."""
    import transformers

    named = (config.architectures or [""])[0]
    if made := _COMPARED_PIECEWISE.get(named):
        raise ValueError(f"{named} makes {made}, not one vector that can be compared with others")
    own = getattr(transformers, named, None) if named else None
    if named == "BlipForImageTextRetrieval" or _embeds(own):
        return own
    family = transformers.MODEL_MAPPING.get(type(config), None)
    if _embeds(family):
        return family
    raise ValueError(f"{named or config.model_type} does not embed texts and pictures")


def _embeds(kind: Any) -> bool:  # noqa: ANN401 - a class of transformers, or None
    return all(hasattr(kind, name) for name in _BOTH)


def _blip_texts(model: Any) -> _Embed:  # noqa: ANN401 - a BlipForImageTextRetrieval
    """As its forward has it with ``use_itm_head=False`` (Li et al. 2022, section 3.2: ITC)."""

    def embed(**inputs: Any) -> Any:  # noqa: ANN401
        return model.text_proj(model.text_encoder(**inputs).last_hidden_state[:, 0])

    return embed


def _blip_pictures(model: Any) -> _Embed:  # noqa: ANN401 - as above
    def embed(**inputs: Any) -> Any:  # noqa: ANN401
        return model.vision_proj(model.vision_model(**inputs).last_hidden_state[:, 0])

    return embed
