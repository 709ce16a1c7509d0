"""Crawl the bundled demo web: `python -m crawler.demo`.

This process serves six small sites from data/demo-web, each under its own host name and loopback address, while
`scrapy crawl web` crawls them in another process. data/demo-web/sites.toml adds what files cannot express: redirects,
errors, duplicates, Content-Types.
"""

from __future__ import annotations

import argparse
import errno
import gzip
import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingTCPServer
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, BinaryIO

from crawler.engine.command import PROGRAM, exit_code_of, program_here
from crawler.errors import BadInput, Misconfigured
from crawler.files import data_folder

FOLDER = data_folder("demo-web")
PORT = 8099  # the port in the links of the pages; a crawl can continue only while its URLs stay the same
NETWORK = "127.20.0.0/16"
TYPES = {
    "html": "text/html; charset=utf-8",
    "htm": "text/html; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "xml": "application/xml",
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "csv": "text/csv; charset=utf-8",
    "eml": "message/rfc822",
    "png": "image/png",
}
SEARCH = ("search", "how to tie a bowline")
PASSED_ON = {signal.SIGINT: signal.SIGINT, signal.SIGTERM: signal.SIGTERM, signal.SIGHUP: signal.SIGTERM}

_PORT_IN_PAGES = f".test:{PORT}".encode()
_TEXT = ("text/", "application/xml")


# ── The web ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoAnswer:
    """The response for one path; sites.toml explains the fields."""

    status: int = 200
    file: str = ""  # below the demo web's folder; empty = a short notice
    location: str = ""
    type: str = ""
    gzip: bool = False
    cut: bool = False
    delay: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSite:
    """One host, and its responses by path."""

    host: str
    address: str
    answers: Mapping[str, DemoAnswer]

    def answer(self, target: str) -> DemoAnswer:
        return self.answers.get(target.partition("?")[0]) or DemoAnswer(status=404)


def read_sites(folder: Path = FOLDER) -> list[DemoSite]:
    """Read the sites of a demo web, in the order of its sites.toml."""
    try:
        described = tomllib.loads((folder / "sites.toml").read_text(encoding="utf-8"))
    except OSError as error:
        raise Misconfigured(
            f"The demo web is not at {folder} ({error.strerror}); it comes with a checkout, not with a package."
        ) from error
    return [
        DemoSite(
            host=site["host"], address=f"127.20.0.{number}", answers=_answers(folder, name, site.get("answers", {}))
        )
        for number, (name, site) in enumerate(described.items(), 1)
    ]


def _answers(folder: Path, name: str, given: Mapping[str, Mapping[str, Any]]) -> dict[str, DemoAnswer]:
    """Map paths to responses: the files of a site, changed and completed by sites.toml. index.html is its directory."""
    paths = sorted(path for path in (folder / name).rglob("*") if path.is_file())
    files = {"/" + path.relative_to(folder / name).as_posix(): path.relative_to(folder).as_posix() for path in paths}
    answers = {path.removesuffix("index.html"): DemoAnswer(file=file) for path, file in files.items()}
    for path, parts in given.items():
        answers[path] = replace(answers.get(path, DemoAnswer()), **parts)
    return answers


# ── The server ────────────────────────────────────────────────────────────────────────────────────────────────────────


class DemoServer(ThreadingTCPServer):
    """A server that listens on the address of one site and answers for all."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def __init__(
        self, address: str, port: int, sites: Mapping[str, DemoSite], folder: Path, log: BinaryIO | None
    ) -> None:
        super().__init__((address, port), DemoHandler)
        self.sites, self.folder, self.log = sites, folder, log

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report errors, except connections that the client has closed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def note(self, host: str, method: str, target: str, status: int) -> None:
        if self.log is not None:
            entry = {"at": time.time(), "host": host, "method": method, "target": target, "status": status}
            self.log.write(json.dumps(entry).encode() + b"\n")


class DemoHandler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    server: DemoServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "OrbweaverDemo", ""
    wbufsize = -1  # send head and body together: else the client's delayed acknowledgement costs 40 ms a page
    timeout = 60

    def do_GET(self) -> None:
        host = self.headers.get("Host", "").partition(":")[0].lower()
        site = self.server.sites.get(host)
        answer = site.answer(self.path) if site is not None else DemoAnswer(status=421)
        # Logged before the response is sent, so that a client that has it finds it in the log.
        self.server.note(host, self.command, self.path, answer.status)
        self._send(answer)

    do_HEAD = do_GET  # noqa: N815

    def _send(self, answer: DemoAnswer) -> None:
        time.sleep(answer.delay)
        body, content_type = self._document(answer)
        etag = f'W/"{hashlib.sha256(body).hexdigest()[:16]}"' if answer.file and answer.status == HTTPStatus.OK else ""
        if etag and self.headers.get("If-None-Match") == etag:
            self.send_response(HTTPStatus.NOT_MODIFIED)
            self.send_header("ETag", etag)
            self.end_headers()
            return
        self.send_response(answer.status)
        self.send_header("Content-Type", content_type)
        if etag:
            self.send_header("ETag", etag)
        if answer.location:
            self.send_header("Location", self._with_our_port(answer.location.encode()).decode())
        if answer.gzip:
            self.send_header("Vary", "Accept-Encoding")
            if "gzip" in self.headers.get("Accept-Encoding", ""):
                self.send_header("Content-Encoding", "gzip")
                body = gzip.compress(body, mtime=0)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if answer.cut:
            body = body[: len(body) // 2]
            self.close_connection = True
        if self.command != "HEAD":
            self.wfile.write(body)

    def _document(self, answer: DemoAnswer) -> tuple[bytes, str]:
        if not answer.file:
            words = HTTPStatus(answer.status).phrase
            return f"<!DOCTYPE html>\n<title>{words}</title>\n<p>{words}\n".encode(), "text/html; charset=utf-8"
        body = (self.server.folder / answer.file).read_bytes()
        content_type = answer.type or TYPES[answer.file.rpartition(".")[2]]
        return (self._with_our_port(body) if content_type.startswith(_TEXT) else body), content_type

    def _with_our_port(self, text: bytes) -> bytes:
        return text.replace(_PORT_IN_PAGES, f".test:{self.server.port}".encode())

    def log_message(self, *_: object) -> None:
        """Print nothing: the terminal shows the progress of the crawl."""


@contextmanager
def serving(sites: Sequence[DemoSite], port: int, folder: Path = FOLDER, log: BinaryIO | None = None) -> Iterator[int]:
    """Serve the sites until the block ends; yields the port. With port 0 a free one is chosen."""
    by_host = {site.host: site for site in sites}
    with ExitStack() as stack:
        for site in sites:
            server = stack.enter_context(_listening(site.address, port, by_host, folder, log))
            port = server.port
            thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
        yield port


def _listening(
    address: str, port: int, sites: Mapping[str, DemoSite], folder: Path, log: BinaryIO | None
) -> DemoServer:
    try:
        return DemoServer(address, port, sites, folder, log)
    except OverflowError as error:
        raise Misconfigured(f"--port {port}: must be between 0 and 65535.") from error
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Misconfigured(
                f"Port {port} is taken on {address}, perhaps by another demo: stop that one, or choose another --port, "
                "and with it another --crawl-dir, because the URLs contain the port. Nothing was crawled."
            ) from error
        raise Misconfigured(f"The demo web cannot listen on {address}:{port} ({error.strerror}).") from error


# ── The crawl ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def command(sites: Sequence[DemoSite], port: int, hosts_file: Path, crawl_dir: str, spider: str = "web") -> list[str]:
    """Return the arguments of a crawl of the demo web, with short delays, because the hosts are our own."""
    settings = {
        "CRAWL_DIR": crawl_dir,
        "DNS_HOSTS": hosts_file,
        "OWN_HOSTS": "*.test",
        "INTRANET_HOSTS": "*.test",
        "INTRANET_NETWORKS": NETWORK,
        "POLITENESS_MIN_DELAY": 0.2,
        "POLITENESS_LATENCY_FACTOR": 1,
        "RETRY_DELAY": 1,
        "ROBOTS_RETRY_DELAY": 2,
        "CRAWL_HORIZON": 5,
    }
    seeds = ",".join(f"http://{site.host}:{port}/" for site in sites)
    given = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    return ["crawl", spider, "-a", f"seeds={seeds}", *given]


def run(words: Sequence[str]) -> int:
    """Run `scrapy` with these arguments, pass signals on to it, and return its exit code.

    It has a process group of its own: otherwise a Ctrl-C of the terminal would reach it twice, and the second one means
    "stop at once".
    """
    received: list[int] = []
    crawl: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if crawl:
            crawl[0].send_signal(PASSED_ON[signal.Signals(number)])
        else:
            received.append(number)

    def pause(_number: int, _frame: FrameType | None) -> None:
        for process in crawl:
            process.send_signal(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)  # until the shell's `fg`
        for process in crawl:
            process.send_signal(signal.SIGCONT)

    for number in PASSED_ON:
        signal.signal(number, pass_on)
    signal.signal(signal.SIGTSTP, pause)
    environment = {PROGRAM: program_here()} | os.environ
    command_line = [sys.executable, "-m", "crawler", *words]
    crawl.append(subprocess.Popen(command_line, env=environment, process_group=0))  # noqa: S603
    for early in received:
        pass_on(early, None)
    code = crawl[0].wait()
    return code if code >= 0 else 128 - code


def explain(port: int, sites: Sequence[DemoSite], hosts_file: Path, words: Sequence[str]) -> None:
    """Print how to crawl the web that is being served, and where its sites are."""
    print(f"Serving the demo web until Ctrl-C. Its names are in {hosts_file} (DNS_HOSTS):")
    for site in sites:
        print(f"  http://{site.host}:{port}/  at {site.address}")
    print("Crawl it from another terminal:")
    print(f"  {shlex.join([program_here(), *words])}", flush=True)


def interruption() -> threading.Event:
    """Return an event that is set when a signal ends the demo."""
    ended = threading.Event()
    for number in PASSED_ON:
        signal.signal(number, lambda *_: ended.set())
    return ended


# ── The command ───────────────────────────────────────────────────────────────────────────────────────────────────────


def main(words: Sequence[str] | None = None) -> int:
    return exit_code_of(lambda: _demo(_arguments(words)))


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m crawler.demo",
        description="Serve the bundled demo web on this machine and crawl it. A second run continues the first.",
        epilog="Example: python -m crawler.demo --crawl-dir data/try -- -s CRAWL_MAX_PAGES=20",
    )
    parser.add_argument("--serve-only", action="store_true", help="serve until interrupted, and print how to crawl")
    parser.add_argument("--crawl-dir", default="data/demo", metavar="DIR", help="CRAWL_DIR (default %(default)s)")
    parser.add_argument("--spider", default="web", metavar="NAME", help="the spider that crawls it (default web)")
    parser.add_argument(
        "--port", type=int, default=PORT, help="port of the server (default %(default)s); 0 = any free one"
    )
    parser.add_argument(
        "--log", metavar="FILE", help="append every request that the server gets to FILE, as a line of JSON"
    )
    parser.add_argument("words", nargs="*", metavar="-- WORDS", help="more arguments for `scrapy crawl`")
    return parser.parse_args(words)


def _demo(arguments: argparse.Namespace) -> int:
    sites = read_sites()
    with ExitStack() as stack:
        log = stack.enter_context(_log(arguments.log)) if arguments.log else None
        port = stack.enter_context(serving(sites, arguments.port, log=log))
        hosts_file = Path(stack.enter_context(TemporaryDirectory(prefix="orbweaver-demo-"))) / "hosts"
        hosts_file.write_text("".join(f"{site.address} {site.host}\n" for site in sites), encoding="utf-8")
        given = command(sites, port, hosts_file, arguments.crawl_dir, arguments.spider)
        words = [*given, *arguments.words]
        if arguments.serve_only:
            ended = interruption()
            explain(port, sites, hosts_file, words)
            ended.wait()
            return 0
        print(f"Crawling the demo web, {len(sites)} sites on port {port}, into {arguments.crawl_dir}.", flush=True)
        code = run(words)
        if code == 0:
            example = shlex.join([program_here(), *SEARCH, "-s", f"CRAWL_DIR={arguments.crawl_dir}"])
            print(f"    {example}\n        for example")
        return code


def _log(path: str) -> BinaryIO:
    try:
        return Path(path).open(
            "ab", buffering=0
        )  # unbuffered: each line is one write, so that threads do not mix theirs
    except OSError as error:
        raise BadInput(f"--log {path}: cannot be written ({error.strerror}).") from error


if __name__ == "__main__":
    sys.exit(main())
