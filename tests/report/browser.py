"""Open a page in a real browser, and run a server that records every request it gets."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

CHROMIUM = shutil.which("chromium")
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
    *("--enable-logging=stderr", "--v=0", "--virtual-time-budget=1000"),
)


@dataclass(frozen=True)
class Opened:
    """A page after the browser has loaded it: its DOM and the messages of its console."""

    dom: str
    console: Sequence[str]


def opened(page: Path, profile: Path, *flags: str) -> Opened:
    """Open a file in a browser with a fresh profile."""
    assert CHROMIUM is not None
    result = subprocess.run(
        [CHROMIUM, *_FLAGS, *flags, f"--user-data-dir={profile}", "--dump-dom", page.as_uri()],
        capture_output=True,
        timeout=100,
        check=True,
    )
    messages = result.stderr.decode("utf-8", "replace").splitlines()
    return Opened(result.stdout.decode("utf-8"), [line for line in messages if "CONSOLE" in line])


_GATHER = """onload = () => {
    const doms = Array.from(frames, frame => frame.document.documentElement.outerHTML)
    document.documentElement.textContent = encodeURIComponent(JSON.stringify(doms))
}"""


def opened_together(pages: Sequence[Path], directory: Path) -> tuple[list[str], Sequence[str]]:
    """Open files in frames of one page, so that one browser does for all: the DOM of each, and the console."""
    frames = "".join(f'<iframe src="{page.as_uri()}"></iframe>' for page in pages)
    (directory / "frames.html").write_text(f"<!DOCTYPE html><script>{_GATHER}</script>{frames}")
    seen = opened(directory / "frames.html", directory / "profile", "--allow-file-access-from-files")
    found = re.fullmatch(r"(?:<!DOCTYPE html>)?\s*<html>(\S+)</html>\s*", seen.dom)
    assert found is not None, "the frames were not loaded"
    return json.loads(unquote(found[1])), seen.console


@dataclass
class Listener:
    """The address of a server, and the paths that were requested from it."""

    address: str = ""
    asked: list[str] = field(default_factory=list)


@contextmanager
def listening() -> Iterator[Listener]:
    listener = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            listener.asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        do_POST = do_HEAD = do_OPTIONS = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield listener
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
