"""Build hook of hatchling for the page on a package index."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"<picture>.*?</picture>\n?", re.DOTALL)
_RELATIVE_LINK = re.compile(r"\[([^\]]*)\]\((?![a-z]+:)[^)]*\)")


class IndexPage(MetadataHookInterface):
    """Use README.md as the long description, without pictures and relative links."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the long description."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = _RELATIVE_LINK.sub(r"\1", _PICTURE.sub("", text))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
