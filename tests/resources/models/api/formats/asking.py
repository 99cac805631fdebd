"""Formats as an engine has them."""

from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.engine import FormatOf
from bench_resources.models.api.formats.base import ApiFormat
from tests.fakes.server_engines import read_image


def form(api: FormatOf) -> ApiFormat:
    return api(ServerSpec(kind="server", base_url="http://s/v1", model="m"), read_image)
