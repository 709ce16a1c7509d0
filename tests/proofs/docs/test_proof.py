"""The proof finds every fault that is planted in a small site."""

from __future__ import annotations

from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.proofs.docs.proof import Refusal, prove
from tests.proofs.docs.server import serving
from tests.proofs.docs.site import Site, is_page
from tests.proofs.docs.walk import walk

LONG = f"{'long' * 30}.html"

FILES = {
    "index.html": '<a href="part/">1</a> <a href="part/index.html#x">2</a> <a href="#top">3</a> '
    f'<a href="copy.html">4</a><a href="{LONG}">5</a> <a href="dangling.html">6</a> <a href="picture.png">7</a>'
    '<a href="hidden.html" rel="nofollow">8</a> <link rel="next" href="note.txt"> <a href="http://other.test/">9</a>',
    "part/index.html": '<iframe src="../bare"></iframe>',
    "bare/code.py": "print()",
    "note.txt": "A note.",
    "picture.png": "",
    LONG: "",
    "hidden.html": "",
}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    home = tmp_path / "tree" / "site"
    for name, text in FILES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    (tmp_path / "outside.html").touch()
    (home / "copy.html").symlink_to("part/index.html")
    (home / "dangling.html").symlink_to("nothing.html")
    (home / "outside.html").symlink_to(tmp_path / "outside.html")
    return Site(host="small.test", home=home, tree=tmp_path / "tree")


@pytest.mark.parametrize(
    ("target", "status", "file"),
    [
        ("/", 200, "index.html"),
        ("/index.html?q=1", 200, "index.html"),
        ("/part/", 200, "part/index.html"),
        ("/p%61rt/index%2Ehtml", 200, "part/index.html"),
        ("/copy.html", 200, "part/index.html"),
        ("/bare/", 200, "bare"),
        ("/part", 301, None),
        ("/index.html/", 404, None),
        ("/dangling.html", 404, None),
        ("/outside.html", 404, None),
        ("/../outside.html", 404, None),
        ("/%00", 404, None),
    ],
)
def test_a_target_is_mapped_to_a_file(site, target, status, file):
    found = site.find(target)
    assert (found.status, found.file) == (status, file and site.home / file)


def test_files_of_readable_text_are_pages():
    names = ["a.html", "a.xhtml", "a.txt", "a.py", "a.css", "a.js", "a.png", "a.inv", "a.txt.gz", "a.zip"]
    assert [name for name in names if is_page(Path(name))] == ["a.html", "a.xhtml", "a.txt", "a.py"]


def test_the_walk_follows_all_links_and_counts_their_spellings(site):
    walked = walk(site)
    assert {site.name(file): targets for file, targets in walked.pages.items()} == {
        "index.html": {"/"},
        "part/index.html": {"/part/", "/part/index.html", "/copy.html"},
        "bare": {"/bare/"},
        "bare/code.py": {"/bare/code.py"},
        "note.txt": {"/note.txt"},
        LONG: {f"/{LONG}"},
    }
    assert (walked.links_ending_in("/"), walked.links_ending_in("index.html")) == (1, 1)
    assert walked.folders_spelled_both_ways == 1


def test_the_server_logs_request_lines_of_a_persistent_connection(site):
    with serving([site]) as server:
        connection = HTTPConnection("127.0.0.1", server.server_port)
        for target in ("//part/%69ndex.html", "/part"):
            connection.request("GET", target, headers={"Host": "small.test"})
            answer = connection.getresponse()
            answer.read()
        connection.close()
    assert (answer.status, answer.headers["Location"]) == (301, "/part/")
    assert [request.line for request in server.log] == [
        b"GET //part/%69ndex.html HTTP/1.1\r\n",
        b"GET /part HTTP/1.1\r\n",
    ]


@pytest.mark.crawl
def test_planted_faults_are_found(site):
    findings = prove(site, URL_MAX_LENGTH=100)
    assert (findings.linked, findings.once) == (6, 4)
    assert findings.missing == [LONG]
    wrongly = [refusal for refusal in findings.refused if refusal.is_wrong]  # to refuse a picture is no fault
    assert wrongly == [Refusal(f"/{LONG}", "URL_TOO_LONG", is_wrong=True)]
    assert sorted(findings.twice["part/index.html"]) == ["/copy.html", "/part/", "/part/index.html"]
    assert (findings.unlinked, findings.not_found, findings.trouble) == ([], ["/dangling.html"], [])
    assert len(findings.wrong) == 3
