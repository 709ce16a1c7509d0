"""Transfer and content codings are undone within limits, and problems are reported."""

import gzip
import zlib
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.parse.coding import PlainBody, plain_body

# The same bytes in every run: they are part of the tests' names.
gzipped = partial(gzip.compress, mtime=0)

TEXT = b"<p>All work and no play makes Jack a dull boy.</p>\n" * 40
GZIP = [("content-encoding", "gzip")]
DEFLATE = [("content-encoding", "deflate")]
CHUNKED = [("transfer-encoding", "chunked")]


def raw_deflate(data):
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def chunked(data, size=100, extension=b"", trailer=b""):
    chunks = [data[start : start + size] for start in range(0, len(data), size)]
    lines = [b"%x%s\r\n%s\r\n" % (len(chunk), extension, chunk) for chunk in chunks]
    return b"".join(lines) + b"0\r\n" + trailer + b"\r\n"


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (TEXT, []),
        (TEXT, [("content-encoding", "identity")]),
        (gzipped(TEXT), GZIP),
        (gzipped(TEXT), [("Content-Encoding", " X-GZIP ")]),
        (gzipped(TEXT[:99]) + gzipped(TEXT[99:]), GZIP),
        (gzipped(TEXT) + b"\0\0padding", GZIP),
        (zlib.compress(TEXT), DEFLATE),
        (raw_deflate(TEXT), DEFLATE),
        (gzipped(zlib.compress(TEXT)), [("content-encoding", "deflate, gzip")]),
        (gzipped(zlib.compress(TEXT)), [("content-encoding", "deflate"), ("content-encoding", "gzip")]),
        (chunked(TEXT), CHUNKED),
        (chunked(TEXT, extension=b' ;name="value"', trailer=b"Expires: never\r\n"), CHUNKED),
        (chunked(TEXT).replace(b"\r\n", b"\n"), CHUNKED),
        (chunked(gzipped(TEXT)), CHUNKED + GZIP),
        (chunked(gzipped(TEXT)), [("transfer-encoding", "gzip, chunked")]),
    ],
)
def test_codings_are_undone(body, headers):
    assert plain_body(body, headers) == PlainBody(data=TEXT)


@pytest.mark.parametrize(
    ("body", "headers", "expected"),
    [
        (b"", GZIP, PlainBody(data=b"")),
        (b"", DEFLATE, PlainBody(data=b"")),
        (chunked(b""), CHUNKED + GZIP, PlainBody(data=b"")),
        (TEXT, GZIP, PlainBody(data=TEXT, problem="not gzip")),
        (b"\x1f\x8bnonsense", GZIP, PlainBody(data=b"\x1f\x8bnonsense", problem="not gzip")),
        (TEXT, DEFLATE, PlainBody(data=TEXT, problem="not deflate")),
        (TEXT, CHUNKED, PlainBody(data=TEXT, problem="not chunked")),
        (b"x", CHUNKED, PlainBody(data=b"x", problem="not chunked")),
        (b"", CHUNKED, PlainBody(data=b"", problem="truncated chunk", complete=False)),
        (TEXT, [("content-encoding", "br")], PlainBody(data=TEXT, problem="unknown coding")),
        (TEXT, [("content-encoding", "gzip, zstd")], PlainBody(data=TEXT, problem="unknown coding")),
        (TEXT, [("content-encoding", "gzip, gzip, gzip, gzip")], PlainBody(data=TEXT, problem="encoding chain")),
        (gzipped(TEXT)[:-4], GZIP, PlainBody(data=TEXT, problem="truncated", complete=False)),
        (zlib.compress(TEXT)[:-4], DEFLATE, PlainBody(data=TEXT, problem="truncated", complete=False)),
        (gzipped(TEXT)[:-8] + b"\0" * 8, GZIP, PlainBody(data=TEXT, problem="checksum", complete=False)),
        (zlib.compress(TEXT)[:-4] + b"\0" * 4, DEFLATE, PlainBody(data=TEXT, problem="checksum", complete=False)),
        (chunked(TEXT)[:-5], CHUNKED, PlainBody(data=TEXT, problem="truncated chunk", complete=False)),
        (chunked(TEXT)[:150], CHUNKED, PlainBody(data=TEXT[:140], problem="truncated chunk", complete=False)),
        (b"3\r\nabc\r\nzz\r\n", CHUNKED, PlainBody(data=b"abc", problem="bad chunk", complete=False)),
        (
            b"3\r\nabc\r\nffffffffffffffff\r\nd",
            CHUNKED,
            PlainBody(data=b"abcd", problem="truncated chunk", complete=False),
        ),
        (gzipped(TEXT) + b"\x1f\x8b" + b"!" * 20, GZIP, PlainBody(data=TEXT, problem="corrupt", complete=False)),
    ],
)
def test_problems_are_reported_and_what_could_be_decoded_is_kept(body, headers, expected):
    assert plain_body(body, headers) == expected


def test_half_a_gzip_stream_gives_half_the_text():
    packed = gzipped(bytes(range(256)) * 4000, compresslevel=0)
    plain = plain_body(packed[: len(packed) // 2], GZIP)
    assert (plain.problem, plain.complete) == ("truncated", False)
    assert len(plain.data) > 500_000


def test_damage_in_the_middle_keeps_what_came_before():
    text = b" ".join(b"%d" % (number * number) for number in range(50_000))
    packed = gzipped(text)
    middle = len(packed) // 2
    plain = plain_body(packed[:middle] + b"\xff" * 20 + packed[middle + 20 :], GZIP)
    assert plain.problem in ("corrupt", "checksum")
    assert not plain.complete
    assert plain.data[:150_000] == text[:150_000]


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, raw_deflate])
def test_bombs_are_cut_at_the_limit(pack):
    headers = GZIP if pack is gzip.compress else DEFLATE
    assert plain_body(pack(b"\0" * 5_000_000), headers, limit=3_000_000, ratio=10_000) == PlainBody(
        data=b"\0" * 3_000_000, problem="bomb", complete=False
    )


def test_a_body_beyond_the_ratio_is_a_bomb():
    packed = gzipped(b"\0" * 8_000_000)
    plain = plain_body(packed, GZIP)
    assert plain.problem == "bomb"
    assert len(plain.data) == 200 * len(packed)
    assert plain_body(gzipped(b"\0" * 1_000_000), GZIP) == PlainBody(data=b"\0" * 1_000_000)  # small enough to trust


def test_a_body_of_exactly_the_limit_is_whole():
    assert plain_body(gzipped(TEXT), GZIP, limit=len(TEXT)) == PlainBody(data=TEXT)
    assert plain_body(gzipped(TEXT), GZIP, limit=len(TEXT) - 1) == PlainBody(
        data=TEXT[:-1], problem="bomb", complete=False
    )


def test_bombs_in_bombs_stay_within_the_limit():
    body = gzipped(gzipped(gzipped(b"\0" * 50_000_000)))
    plain = plain_body(body, [("content-encoding", "gzip, gzip, gzip")], limit=2_000_000)
    assert len(plain.data) <= 2_000_000
    assert plain.problem == "bomb"


def test_a_stream_of_too_many_members_is_cut():
    plain = plain_body(gzipped(b"x") * 65, GZIP)
    assert plain == PlainBody(data=b"x" * 64, problem="too many members", complete=False)
    assert plain_body(gzipped(b"x") * 64, GZIP) == PlainBody(data=b"x" * 64)
    assert plain_body(gzipped(b"") * 50_000, GZIP).problem == "too many members"


CODINGS = st.lists(st.sampled_from(["gzip", "deflate", "x-gzip", "br", "identity", "", "GZIP"]), max_size=4).map(
    ", ".join
)
PACKED = st.binary(max_size=300).flatmap(
    lambda data: st.sampled_from([gzipped(data), zlib.compress(data), raw_deflate(data), chunked(data)])
)


@st.composite
def damaged(draw):
    body = bytearray(draw(PACKED))
    for _ in range(draw(st.integers(0, 3))):
        if body:
            body[draw(st.integers(0, len(body) - 1))] = draw(st.integers(0, 255))
    return bytes(body[: draw(st.integers(0, len(body)))])


@settings(deadline=None)
@given(
    st.binary() | PACKED | damaged(),
    CODINGS,
    st.sampled_from(["", "chunked", "gzip, chunked", "\0"]),
    st.integers(1, 400),
)
def test_any_body_is_decoded_within_the_limit(body, codings, transfer, limit):
    plain = plain_body(body, [("content-encoding", codings), ("transfer-encoding", transfer)], limit=limit)
    assert plain.complete or plain.problem
    assert len(plain.data) <= max(limit, len(body))


@settings(deadline=None)
@given(st.binary())
def test_undoing_a_coding_gives_the_original_body(data):
    for pack, headers in ((gzip.compress, GZIP), (zlib.compress, DEFLATE), (chunked, CHUNKED)):
        assert plain_body(pack(data), headers) == PlainBody(data=data)
