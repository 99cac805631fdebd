"""The specialists as one chat model."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import cv2
import numpy as np
from PIL.Image import Image

from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_assets.suites.blink.specialists.circle_detection import Pixels
from bench_assets.suites.blink.specialists.solvers import (
    jigsaw,
    multi_view_reasoning,
    relative_reflectance,
    visual_correspondence,
)

Specialist: TypeAlias = Callable[[Sequence[Pixels]], str | None]

SPECIALISTS: Mapping[str, Specialist] = {
    "Jigsaw": jigsaw,
    "Multi-view_Reasoning": multi_view_reasoning,
    "Relative_Reflectance": relative_reflectance,
    "Visual_Correspondence": visual_correspondence,
}
"""The solver of each task: from the images of a question to a letter, or None."""


class Specialists:
    """A chat model that answers a question by the specialist of its task, if there is one."""

    def __init__(self, name: str, open_image: Callable[[str], Image]) -> None:
        """Open images by their SHA-256 with ``open_image``, such as the image store's ``open``."""
        self.name = name
        self._open_image = open_image

    @property
    def signature(self) -> str:
        """The methods, and the version of the library they are made with."""
        return f"specialists|v1|opencv={cv2.__version__}"

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order.

        Raises:
            ModelError: If a request does not come from a question, such as a judge's.
            ImageError: If the store does not have an image.
        """
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> Response:
        question = request.question
        if question is None:
            raise ModelError(f"{self.name}: specialists answer questions; they cannot judge")
        if question.category not in SPECIALISTS:
            return Response(finish_reason="no specialist for this task")
        images = [np.asarray(self._open_image(image)) for image in question.images]
        letter = SPECIALISTS[question.category](images)
        if letter is None:
            return Response(finish_reason="the specialist finds nothing to go by")
        return Response(text=f"({letter})", finish_reason="stop")
