"""Files of many formats are read as Tika's own tests expect, also in a process with limits."""

import resource
import subprocess
import sys

import pytest

from tests.conformance.documents import DATA, cases, folded, haystack, read, scores
from tests.conftest import SHARED

SCORES = scores() if SHARED.is_dir() else []
SEEN, ALL = 0.945, 0.80  # shares of the strings; a little less than we reach
# Formats that have other names in Tika.
FORMATS = {"dif": "xml", "key": "iwork", "pages": "iwork"}

CHILD = """
import resource, sys, time
from pathlib import Path
memory = 1 << 30
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
from crawler.parse.documents import convert
for path in sorted(Path(sys.argv[1]).iterdir()):
    start = time.process_time()
    document = convert(path.read_bytes(), "http://site.example/" + path.name)
    print(path.name, document.format, repr(str(document.problem)), round(time.process_time() - start, 2))
"""


@pytest.mark.needs_shared
@pytest.mark.parametrize("found", SCORES, ids=lambda found: found.name)
def test_documents_agree_with_tikas_tests(found):
    assert found.unexplained == []
    assert found.holds, f"{found.agreed} of {found.cases}"


@pytest.mark.needs_shared
def test_strings_are_found_at_least_as_often_as_before():
    assert [found.agreed >= floor * found.cases for found, floor in zip(SCORES, (SEEN, ALL), strict=True)] == [
        True,
        True,
    ]


@pytest.mark.needs_shared
def test_the_format_of_each_file_is_recognized():
    for case in cases():
        expected = FORMATS.get(case["format"], case["format"])
        assert read(case["file"]).format in (expected, "spreadsheetml"), case["file"]


@pytest.mark.needs_shared
def test_metadata_in_tikas_tests_is_found():
    for case in cases():
        document = read(case["file"])
        known = {document.title, *document.metadata.values()}
        for key, value in case["metadata"].items():
            if key not in ("created", "language"):  # written in another form
                assert folded(value) in known, (case["file"], key)


@pytest.mark.needs_shared
def test_strings_that_tikas_tests_exclude_are_not_found():
    unwanted = [
        (case["file"], text)
        for case in cases()
        for text in case["not_contains"]
        if text == text.strip() and text not in case["contains"] and folded(text) in haystack(read(case["file"]))
    ]
    assert unwanted == []


@pytest.mark.needs_shared
def test_all_files_are_read_within_memory_and_file_limits():
    child = subprocess.run([sys.executable, "-c", CHILD, str(DATA)], capture_output=True, text=True, check=False)
    lines = child.stdout.splitlines()
    assert child.returncode == 0, child.stderr
    assert len(lines) == len(list(DATA.iterdir()))
    assert max(float(line.rpartition(" ")[2]) for line in lines) < 5
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 0  # only the child was limited
