"""What is written in images, for the ablation of section 4.5."""

from collections.abc import Iterable
from importlib.metadata import version
from typing import cast

from PIL import Image

_LONGEST_SIDE = 960  # px that the detector looks at; smaller images are not blown up


def author() -> str:
    """Name the engine and its version. The paper has EasyOCR, whose models are no package."""
    return f"rapidocr {version('rapidocr')}"


def recognise(images: Iterable[Image.Image]) -> list[str]:
    """Read every image, Chinese and English; fragments joined with 、 as in the release.

    "" where nothing is written. The models come inside the package.
    """
    import numpy as np
    from rapidocr import RapidOCR
    from rapidocr.utils.output import RapidOCROutput

    engine = RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,  # nothing is upside down
            "Det.limit_type": "max",
            "Det.limit_side_len": _LONGEST_SIDE,
        }
    )
    # The engine expects the channels in OpenCV's order.
    results = (engine(np.asarray(image.convert("RGB"))[:, :, ::-1]) for image in images)
    return ["、".join(cast(RapidOCROutput, result).txts or ()) for result in results]
