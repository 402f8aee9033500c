"""Downloads that continue where an earlier one stopped."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import BinaryIO
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from .._warn import warn

_SECONDS_OF_SILENCE = 60.0

_BLOCK = 2**16

_RANGE_NOT_SATISFIABLE = 416


def download(
    url: str,
    path: Path,
    check: Callable[[Path], None],
    *,
    size: int,
    n_retries: int,
    delay: float,
) -> None:
    """Download a file of at most `size` bytes, check it, and move it to `path`.

    What an interrupted download has received is kept beside `path`, and the next
    download asks the server for the rest. During a download the part is in a folder of
    its own, so that two processes never write to the same file.
    """
    part = path.with_name(f"{path.name}.part")
    with tempfile.TemporaryDirectory(prefix=".download-", dir=path.parent) as folder:
        own = Path(folder) / path.name
        with contextlib.suppress(FileNotFoundError):
            part.replace(own)
        try:
            _retry(url, own, size, n_retries, delay)
        except BaseException:  # KeyboardInterrupt is the most likely one.
            if own.exists() and own.stat().st_size:
                own.replace(part)
            raise
        check(own)
        own.replace(path)


class _TooLargeError(OSError):
    """The server sends another file, of which nothing is kept."""


def _retry(url: str, path: Path, size: int, n_retries: int, delay: float) -> None:
    for n_left in range(n_retries, -1, -1):
        try:
            _receive(url, path, size)
            return
        except _TooLargeError:
            path.unlink()
            raise
        except (OSError, HTTPException):
            if not n_left:
                raise
            warn(f"Retry downloading {url}")
            time.sleep(delay)


def _receive(url: str, path: Path, size: int) -> None:
    """Download a file, or the rest of it if `path` is its beginning."""
    done = path.stat().st_size if path.exists() else 0
    request = Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        response = urlopen(request, timeout=_SECONDS_OF_SILENCE)
    except HTTPError as error:
        error.close()
        if error.code != _RANGE_NOT_SATISFIABLE or not done:
            raise
        # What is here is as long as the file, or longer.
        path.unlink()
        return _receive(url, path, size)
    with response:
        # A server that cannot send a part sends the whole file, with status 200.
        with path.open("ab" if response.status == 206 else "wb") as file:
            _copy(response, file, size)
        if response.length:
            raise OSError(f"the connection ended {response.length} bytes too early")
    return None


def _copy(response: HTTPResponse, file: BinaryIO, size: int) -> None:
    """Copy a response to the end of a file of at most `size` bytes."""
    n = file.tell()
    while block := response.read(_BLOCK):
        n += len(block)
        if n > size:
            raise _TooLargeError(f"the server sends more than {size:,} bytes")
        file.write(block)
