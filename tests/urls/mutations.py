"""make prove-urls: check the promises of URL handling on a million mutated URLs.

URLs of our own, and those of other projects' tests if they are available beside the checkout, are mutated at random.
The same seed gives the same texts, so a failure can be reproduced.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures import TimeoutError as OverTime
from dataclasses import dataclass, field
from functools import cache

import ada_url

from crawler.items import Reason
from crawler.urls.canonical import UrlPolicy, canonicalize, resolve
from crawler.urls.hosts import host_of, is_address, origin_of, port_of, registered_domain
from crawler.urls.keys import host_key, key_of, keys_of
from crawler.urls.rules import SWITCHABLE
from crawler.urls.scope import Scope
from tests.conformance.data import DATA, all_texts
from tests.defaults import urls_with

CHUNK = 10_000
CHUNK_TIMEOUT = 120.0  # seconds for a chunk: it takes two
SLOW = 0.5  # seconds of a processor for one text
LONGEST = 3_000  # characters

CORPUS = (
    "http://abc.com/",
    "https://www.abc.com/a/b/c.html?d=1&e=2#f",
    "HTTP://ABC.com:80/%7Esmith/./x/../home.html",
    "https://user:secret@abc.com:8443/a;v=1/b;jsessionid=0123456789ABCDEF0123456789ABCDEF?q=1",
    "http://abc.com/a//b///c/?&&x=&=y&z",
    "http://bücher.example/größe?q=straße#ende",
    "http://xn--bcher-kva.example/%E2%82%AC?%e2%82%ac",
    "https://例え.テスト/パス?クエリ=値",
    "http://127.0.0.1:8080/",
    "http://0x7f.1/",
    "http://2130706433/a",
    "http://[2001:DB8::1]:8000/a?b",
    "http://[::ffff:1.2.3.4]/",
    "http://abc.com./",
    "http://a_b.abc.com/",
    "http://abc.com/(S(abcdefghij0123456789abcd))/page.aspx",
    "http://abc.com/?utm_source=a&id=7&gclid=b&sid=0123456789abcdef0123456789abcdef&PHPSESSID=1",
    "http://abc.com/index.php?sid=5&view=grid&sort=up&page=2",
    "http://shop.example/a/index.html",
    "http://shop.example/list?view=grid&id=3&color=red&color=blue",
    "http://wiki.example/File:a.jpg",
    "http://wiki.example/w/index.php?title=A&action=edit",
    "http://abc.com/a/b/a/b/a/b/a/b/a/b",
    "http://abc.com/api/v1/users/3",
    "http://abc.com/posts/12/delete",
    "http://abc.com/x[y]|z^`{}<>\"'?a[b]=1|2",
    "http://abc.com/100%/%zz/%2/%%32e/%252e%252e/",
    "http://abc.com/a%2Fb%5Cc%3Fd%23e%00f%0Ag",
    "http:\\\\abc.com\\a\\..\\b",
    "http:abc.com/a",
    "http:///abc.com//a",
    " \thttp://abc.com/a\nb\r ",
    "//abc.com/a",
    "/a/b?c#d",
    "?a=1",
    "#a",
    "../../a/./b/..",
    "a b c",
    "",
    "mailto:me@abc.com",
    "javascript:void(0)",
    "data:text/html,<p>a",
    "file:///etc/passwd",
    "ftp://abc.com:21/a",
    "view-source:http://abc.com/",
    "blob:https://abc.com/1",
    "ws://abc.com/",
    "https://web.archive.example/web/2020/http://abc.com/a?b=c",
    "https://abc.com/login?next=https%3A%2F%2Fabc.com%2Fa%3Fb%3Dc%26d",
    "http://abc.com:65535/",
    "http://abc.com:/",
    "http://" + "a" * 63 + ".example/",
    "http://abc.com/" + "d/" * 30,
    "http://abc.com/?" + "&".join(f"p{number}={number}" for number in range(20)),
)

PIECES = (
    *("http:", "https:", "HTTPS:", "//", "/", "\\", "\\\\", "?", "#", "@", ":", "&", "=", ";", ",", "+", "*", "~", "!"),
    *(".", "..", "/./", "/../", "/..;/", "%2e", "%2E%2e", "/%2e%2e/", "...", "。", "．", "\u3002", "\uff61"),
    *("%", "%2", "%2f", "%5c", "%3f", "%23", "%25", "%00", "%0d%0a", "%20", "%41", "%7e", "%c3%a9", "%ff", "%zz"),
    *("%%32e", "%3%31", "%25%32%35", "%u0041", "&amp;", "&#47;", "%e2%82", "%ED%A0%80"),
    *(
        " ",
        "\t",
        "\n",
        "\r",
        "\0",
        "\x0b",
        "\x1f",
        "\x7f",
        "\x80",
        "\xa0",
        "\xad",
        "\u200b",
        "\u200d",
        "\u2028",
        "\ufeff",
    ),
    *(
        "\ud800",
        "\udfff",
        "\ud83d\ude00",
        "😀",
        "é",
        "e\u0301",
        "ß",
        "ſ",
        "İ",
        "Å",
        "①",
        "ﬀ",
        "\u202e",
        "א",
        "ا",
        "中",
        "％",
        "／",
    ),
    *(
        "xn--",
        "xn--a",
        "xn--bcher-kva",
        "xn--\u00fc",
        "XN--",
        "-",
        "_",
        "--",
        "localhost",
        "com",
        "co.uk",
        "example.com",
    ),
    *("0", "1", "80", "443", "8080", "65535", "65536", "99999", "-1", "0x7f", "0x", "0177", "08", "1e9", "127.0.0.1"),
    *("4294967295", "4294967296", "9" * 40, "0" * 300, "256.256.256.256", "1.2.3", "0x7f.0.0.1", "1.2.3.4.5", "127.1."),
    *(
        "[::1]",
        "[::]",
        "[1:2:3:4:5:6:7:8]",
        "[::ffff:127.0.0.1]",
        "[fe80::1%25eth0]",
        "[v1.a]",
        "[",
        "]",
        "[]",
        "[:::]",
    ),
    *(
        ";jsessionid=1A2B3C",
        ";JSESSIONID=",
        ";jsessionid",
        ";phpsessid=1;a",
        "/(S(abcdefghij0123456789))",
        "/(a)",
        "(S(",
    ),
    *(
        "?PHPSESSID=1",
        "&sid=0123456789abcdef0",
        "&sid=2",
        "&utm_source=x",
        "&utm_",
        "&gclid",
        "&=",
        "&&",
        "?&",
        "&a=1;b=2",
    ),
    *("index.html", "/index.php", "/default.aspx", "/INDEX.HTM", ".jpg", ".zip", ".ics", "/a", "/a/", "/robots.txt"),
    *("/logout", "/delete", "/cart/add", "/api/v2", "/wp-json", "?wsdl", "?action=delete", "?do=", "?add-to-cart=1"),
    *("user:pass@", "@@", ":@", "a@b@", "%40", "javascript:", "mailto:", "file:", "data:,", "://", ":///", "http://"),
    *("a" * 64, "a." * 130, "/a" * 40, "&a" * 40, "%41" * 50, "é" * 100, "//" * 20, "../" * 20),
)

LINES = """
abc.com         drop  view, sort*, sid
abc.com         off   query_order, slashes
www.abc.com     on    query_order
shop.example    only  id, page, color
shop.example    keep  gclid
example         on    trailing_slash
example         off   escapes
127.0.0.1       drop  a*
2001:db8::1     drop  b
"""
EXCLUDE = """
http://abc.com/private/
https://www.abc.com/a/b
~[?&]sort=
~/([^/]+)/\\1/\\1/
"""


@dataclass
class Findings:
    """The results of a run."""

    cases: int = 0
    canonical: int = 0
    seconds: float = 0.0  # of one processor
    slowest: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Findings) -> None:
        self.cases += other.cases
        self.canonical += other.canonical
        self.seconds += other.seconds
        self.slowest = max(self.slowest, other.slowest)
        self.wrong += other.wrong


# Mutations of a text

Mutation = Callable[[random.Random, str], str]


def _insert_piece(chance: random.Random, text: str) -> str:
    place = _place(chance, text)
    return text[:place] + chance.choice(PIECES) + text[place:]


def _insert_character(chance: random.Random, text: str) -> str:
    place = _place(chance, text)
    most = chance.choice((0x7F, 0x7F, 0xFF, 0xFFFF, 0x10FFFF))  # surrogates are among them
    return text[:place] + chr(chance.randint(0, most)) + text[place:]


def _delete(chance: random.Random, text: str) -> str:
    start, end = _slice(chance, text)
    return text[:start] + text[end:]


def _replace(chance: random.Random, text: str) -> str:
    start, end = _slice(chance, text)
    return text[:start] + chance.choice(PIECES) + text[end:]


def _duplicate(chance: random.Random, text: str) -> str:
    start, end = _slice(chance, text)
    return text[:start] + text[start:end] * chance.randint(2, 5) + text[end:]


def _swap(chance: random.Random, text: str) -> str:
    a, b, c, d = sorted(_place(chance, text) for _ in range(4))
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def _escape(chance: random.Random, text: str) -> str:
    start, end = _slice(chance, text)
    form = chance.choice(("%{:02x}", "%{:02X}", "%25{:02x}"))
    octets = text[start:end].encode("utf-8", "surrogatepass")
    return text[:start] + "".join(form.format(octet) for octet in octets) + text[end:]


def _unescape(chance: random.Random, text: str) -> str:
    return re.sub("%([0-9A-Fa-f]{2})", lambda escape: chr(int(escape[1], 16)), text, count=chance.randint(0, 3))


def _change_case(chance: random.Random, text: str) -> str:
    start, end = _slice(chance, text)
    return text[:start] + text[start:end].swapcase() + text[end:]


def _widen(chance: random.Random, text: str) -> str:
    """Replace characters by their fullwidth forms, which IDNA maps to the plain ones."""
    start, end = _slice(chance, text)
    wide = [chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text[start:end]]
    return text[:start] + "".join(wide) + text[end:]


def _turn_slashes(chance: random.Random, text: str) -> str:
    return text.replace("/", "\\", chance.randint(0, 4))


def _shuffle_query(chance: random.Random, text: str) -> str:
    before, mark, query = text.partition("?")
    pieces = query.split("&")
    chance.shuffle(pieces)
    return before + mark + "&".join(pieces)


def _other_host(chance: random.Random, text: str) -> str:
    number = chance.choice((chance.getrandbits(32), chance.getrandbits(34), chance.getrandbits(128)))
    groups = [f"{number >> shift & 0xFFFF:x}" for shift in range(0, 128, 16)]
    spellings = (
        *(str(number), hex(number), f"0{number:o}", ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))),
        *(
            f"{number & 255}.0x{number >> 8 & 0xFFFF:X}",
            f"[{':'.join(groups)}]",
            f"[::{groups[0]}]",
            f"{number & 255}.",
        ),
    )
    return re.sub(r"(?<=//)[^/?#]*", lambda _: chance.choice(spellings), text, count=1)


MUTATIONS: Sequence[Mutation] = (
    *(_insert_piece, _insert_piece, _insert_piece, _insert_character, _delete, _replace, _duplicate, _swap, _escape),
    *(_unescape, _change_case, _widen, _turn_slashes, _shuffle_query, _other_host),
)


def _place(chance: random.Random, text: str) -> int:
    """Return a random position, more often one where parts of a URL meet."""
    if chance.random() < 0.5:
        marks = [match.start() for match in re.finditer(r"[/?#&=:@.;]", text)]
        if marks:
            return chance.choice(marks) + chance.randint(0, 1)
    return chance.randint(0, len(text))


def _slice(chance: random.Random, text: str) -> tuple[int, int]:
    start = _place(chance, text)
    return start, min(len(text), start + min(chance.randint(1, 12), chance.randint(1, 12)))


def _splice(chance: random.Random, text: str, other: str) -> str:
    return text[: _place(chance, text)] + other[_place(chance, other) :]


def mutated(chance: random.Random, corpus: Sequence[str]) -> str:
    """Return a text of the corpus after a few mutations."""
    text = chance.choice(corpus)
    if chance.random() < 0.2:
        text = _splice(chance, text, chance.choice(corpus))
    for _ in range(min(chance.randint(1, 6), chance.randint(1, 6))):
        text = chance.choice(MUTATIONS)(chance, text)[:LONGEST]
    return text


@cache
def corpus() -> tuple[str, ...]:
    """Return all texts, ours repeated so that they are drawn as often as the more numerous others."""
    others = [text for text in all_texts() if len(text) <= 400 and re.search("[/:.]", text)] if DATA.is_dir() else []
    return (*CORPUS * max(1, len(others) // len(CORPUS)), *others)


# Promises


@cache
def scopes() -> tuple[Scope, ...]:
    """Return a scope with default settings, and one with all rules on, site rules, patterns and seeds."""
    full = urls_with(
        mode="domains",
        skip_types=("jpg", "zip"),
        include=("include", "http://abc.com/\n~^https:|example"),
        exclude=("exclude", EXCLUDE),
        switches=dict.fromkeys(SWITCHABLE, True),
        rules=("rules", LINES),
    )
    return urls_with().new_scope(), full.new_scope(["http://abc.com/", "http://shop.example/", "http://127.0.0.1/"])


def broken_promises(text: str, base: str | None) -> Iterator[str]:
    """Yield every promise that is broken for a text, or for the text as a link on a base."""
    href = resolve(text, base)
    if href is not None and resolve(href) != href:
        yield f"resolve changes {href!a} to {resolve(href)!a}"
    if href != _resolved_by_ada(text, base):
        yield f"resolve returns {href!a}, ada_url {_resolved_by_ada(text, base)!a}"
    if canonicalize(text, base) != scopes()[0].policy.canonicalize(text, base):
        yield "canonicalize is not the policy with no setting changed"
    for scope in scopes():
        url = scope.policy.canonicalize(text, base)
        yield from _broken_by_trace(scope.policy, text, base, url)
        if url is not None:
            yield from _broken_by_url(scope, url)
            if href is None or scope.policy.canonicalize(href) != url:
                yield f"{url!a}, but for the resolved URL {href and scope.policy.canonicalize(href)!a}"


def _resolved_by_ada(text: str, base: str | None) -> str | None:
    text, base = _scalar_values(text), base and _scalar_values(base)
    try:
        return ada_url.normalize_url(text) if base is None else ada_url.join_url(base, text)
    except ValueError:
        return None


def _scalar_values(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _broken_by_trace(policy: UrlPolicy, text: str, base: str | None, url: str | None) -> Iterator[str]:
    before = text
    for step in policy.trace(text, base):
        if step.before != before:
            yield f"the trace breaks off at {step.rule}: {before!a} and {step.before!a}"
        before = step.after
    if url is not None and before != url:
        yield f"the trace ends in {before!a}, not in {url!a}"


def _broken_by_url(scope: Scope, url: str) -> Iterator[str]:
    again = scope.policy.canonicalize(url)
    if again != url:
        yield f"{url!a} becomes {again!a}"
    if not re.fullmatch(r"https?://[^/?#@\\]+/[!-~]*", url) or "#" in url:
        yield f"{url!a} is no text for a request line"
    host, key = host_of(url), key_of(url)
    if not host or key.host != host_key(host) or keys_of([url]) != [key]:
        yield f"the keys of {url!a} do not fit"
    if not (0 <= port_of(url) <= 65535 and url.startswith(origin_of(url))):
        yield f"the origin of {url!a} is {origin_of(url)!a}, the port {port_of(url)}"
    domain = registered_domain(host)
    if domain is not None and (is_address(host) or not host.endswith(domain)):
        yield f"the domain of {host!a} is {domain!a}"
    refusal = scope.rejection(url, depth=1)
    if refusal is not None and refusal.reason is Reason.FILTER_FAILED:
        yield f"the filters failed: {refusal}"


# The run


def run(seed: int, chunk: int, count: int) -> Findings:
    """Check so many texts. The same seed and chunk give the same texts."""
    chance = random.Random(f"{seed}/{chunk}")
    texts, found = corpus(), Findings(cases=count)
    started = time.process_time()
    for _ in range(count):
        text = mutated(chance, texts)
        base = mutated(chance, texts) if chance.random() < 0.15 else chance.choice((None, None, "http://abc.com/a/b?c"))
        before = time.process_time()
        wrong = _judge(text, base)
        taken = time.process_time() - before
        found.slowest = max(found.slowest, taken)
        if taken > SLOW:
            wrong.append(f"took {taken:.1f} s")
        found.wrong += [f"seed {seed}, chunk {chunk}: {text!a} in {base!a}: {what}" for what in wrong]
        found.canonical += canonicalize(text, base) is not None
    found.seconds = time.process_time() - started
    return found


def _judge(text: str, base: str | None) -> list[str]:
    try:
        return list(broken_promises(text, base))
    except Exception as error:  # whatever it is, no text may raise it
        return [f"raises {error!r}"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.urls.mutations", description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    others = "and the texts of other projects" if DATA.is_dir() else "without the texts of other projects"
    print(f"Seed {options.seed}: {options.count:,} mutated URLs from {len(CORPUS)} of our own {others}")
    started = time.monotonic()
    found = _in_processes(options, started + options.minutes * 60)
    took = time.monotonic() - started
    for wrong in found.wrong[:20]:
        print(f"  WRONG: {wrong}")
    good = not found.wrong and found.cases >= options.count
    print(
        f"{'Proved' if good else 'NOT PROVED'}: {found.cases:,} texts, {found.canonical:,} with a canonical form; "
        f"{len(found.wrong)} broken promises; {took:.0f} s on {options.processes} processors, "
        f"{found.seconds / max(1, found.cases) * 1e6:.0f} µs a text with all its checks, "
        f"{found.slowest * 1000:.0f} ms at most"
    )
    return 0 if good else 1


def _in_processes(options: argparse.Namespace, deadline: float) -> Findings:
    found = Findings()
    counts = [min(CHUNK, options.count - start) for start in range(0, options.count, CHUNK)]
    with ProcessPoolExecutor(options.processes) as executor:
        chunks = [executor.submit(run, options.seed, number, count) for number, count in enumerate(counts)]
        for number, chunk in enumerate(chunks):
            found.add(_result(chunk, number, min(CHUNK_TIMEOUT, deadline - time.monotonic())))
            _show_progress(found, options.count)
            if found.wrong:
                _end(executor)
                break
    return found


def _result(chunk: Future[Findings], number: int, patience: float) -> Findings:
    try:
        return chunk.result(max(0.0, patience))
    except OverTime:
        return Findings(wrong=[f"chunk {number} did not end in time"])


def _end(executor: ProcessPoolExecutor) -> None:
    """Shut down without waiting: a text that never ends would block its process."""
    processes = list(executor._processes.values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()


def _show_progress(found: Findings, count: int) -> None:
    print(f"\r{found.cases:,} of {count:,}", end="\n" if found.cases >= count or found.wrong else "", flush=True)


if __name__ == "__main__":
    sys.exit(main())
