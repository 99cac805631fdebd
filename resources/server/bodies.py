"""What a server sends, as far as we take it: a reply is small, whatever it was packed in."""

import aiohttp

MOST_BYTES = 16 * 2**20  # of a body, unpacked: a million tokens are a third of it


async def body_of(response: aiohttp.ClientResponse, most: int = MOST_BYTES) -> bytes | None:
    """Read a body; None, and the connection is closed, if it is larger than ``most`` bytes.

    It is unpacked piece by piece, so that a small one that unpacks to gigabytes costs no more
    memory than ``most`` and a piece.

    Raises:
        aiohttp.ClientError: If the connection breaks, or it cannot be unpacked.
    """
    told = response.content_length  # of what is sent, packed or not
    if told is not None and told <= most and "Content-Encoding" not in response.headers:
        return await response.read()
    body = bytearray()
    if told is None or told <= most:
        async for piece in response.content.iter_any():
            body += piece
            if len(body) > most:
                break
        else:
            return bytes(body)
    response.close()
    return None
