"""Small pages of local services, by httpx: health checks and model lists."""

from urllib.parse import urljoin

_MOST_BYTES = 1 << 20


def fetch_page(address: str, path: str, *, timeout: float) -> tuple[int, bytes]:
    """Get the status and the body of a page; (0, reason) if the service is unreachable.

    Raises:
        TimeoutError: If it does not answer in time.
    """
    import httpx

    try:
        with (
            httpx.Client(verify=False, trust_env=False, timeout=timeout) as client,
            client.stream("GET", urljoin(address, path)) as answer,
        ):
            body = bytearray()
            for part in answer.iter_bytes():
                body += part
                if len(body) > _MOST_BYTES:
                    break
            return answer.status_code, bytes(body)
    except httpx.TimeoutException as why:
        raise TimeoutError(f"no answer within {timeout:g} s") from why
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as why:
        return 0, (str(why) or type(why).__name__).encode()
