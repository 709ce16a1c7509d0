"""The encoding of undeclared text is detected from its words; with too few of them there is no result."""

import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.parse.encodings import detection
from crawler.parse.encodings.detection import LONGEST_SAMPLE, detect_encoding, detect_iso_2022

RUSSIAN = "Мой дядя самых честных правил, когда не в шутку занемог, он уважать себя заставил и лучше выдумать не мог. "
GERMAN = "Über allen Gipfeln ist Ruh, in allen Wipfeln spürest du kaum einen Hauch; die Vöglein schweigen im Walde. "
CZECH = "Žluťoučký kůň úpěl ďábelské ódy, přičemž se ještě těšil na večeři a na další léto u řeky. "
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"
CHINESE = "学而时习之，不亦说乎？有朋自远方来，不亦乐乎？"
KOREAN = (
    "나 보기가 역겨워 가실 때에는 말없이 고이 보내 드리우리다. 영변에 약산 진달래꽃 아름 따다 가실 길에 뿌리우리다. "
)
GREEK = "Μῆνιν ἄειδε; Την οργή τραγούδα, θεά, του Αχιλλέα που έφερε στους Αχαιούς μύρια δεινά. ".replace(
    "ῆ", "ή"
).replace("ἄ", "ά")


@pytest.mark.parametrize(
    ("text", "name", "codec"),
    [
        (RUSSIAN, "windows-1251", "cp1251"),
        (RUSSIAN, "KOI8-R", "koi8-r"),
        (RUSSIAN, "IBM866", "cp866"),
        (RUSSIAN, "ISO-8859-5", "iso8859-5"),
        (RUSSIAN, "IBM855", "cp855"),
        (RUSSIAN, "x-mac-cyrillic", "mac-cyrillic"),
        (GERMAN, "windows-1252", "cp1252"),
        (CZECH, "windows-1250", "cp1250"),
        (CZECH, "ISO-8859-2", "iso8859-2"),
        (JAPANESE, "Shift_JIS", "cp932"),
        (JAPANESE, "EUC-JP", "euc-jp"),
        (CHINESE, "GBK", "gbk"),
        (KOREAN, "EUC-KR", "cp949"),
        (KOREAN, "Johab", "johab"),
        (GREEK, "windows-1253", "cp1253"),
    ],
)
@pytest.mark.parametrize("frame", ["{}", "<p>{}<p>", "<script>var a = 'plain';</script>" * 1_000 + "<p>{}</p>"])
def test_the_encoding_of_words_is_detected(text, name, codec, frame):
    body = frame.format(text).encode(codec)
    found = detect_encoding(body)
    assert found is not None
    assert found == name or detection.decode_as(found, body) == detection.decode_as(name, body)


@pytest.mark.parametrize("codec", ["euc-jp", "cp932"])
@pytest.mark.parametrize("text", [JAPANESE, f"<p>{JAPANESE}<p>天", f"<p>{JAPANESE * 1_000}天"])
def test_a_cut_inside_a_character_does_not_mislead(codec, text):
    assert detect_encoding((f"猫は\n{text}").encode(codec)[:-1]) in ("EUC-JP", "Shift_JIS")


@pytest.mark.parametrize(
    "body", [b"", b"\xe6", b"na\xefve caf\xe9", b"\xa9 2001 \xbb 5 \xa3 \x96 10 \xa3 \xb1 1 \x93quoted\x94" * 10]
)
def test_a_few_letters_or_signs_are_not_enough_to_detect(body):
    assert detect_encoding(body) is None


def test_words_are_sampled_and_not_the_tags_around_them():
    page = b"<p class='a'>plain</p>\n" * 3_000 + f"<p>{CZECH}</p>".encode("cp1250") + b"<p>plain</p>" * 3_000
    assert detect_encoding(page) == "windows-1250"


def test_koi8_is_ukrainian_only_with_ukrainian_letters():
    assert detect_encoding(RUSSIAN.encode("koi8-u")) == "KOI8-R"
    assert detect_encoding("Її їжак їсть ґрунт, і є в нього ще й інші цікаві звички".encode("koi8-u")) == "KOI8-U"


@pytest.mark.parametrize("body", [b"\xe9" * 100_000, b"\xe9<" * 100_000, b"a" * 100_000 + b"\xe9\xe8\xe7"])
def test_the_sample_is_bounded(body):
    assert len(detection.text_sample(body)) <= 2 * LONGEST_SAMPLE + 1


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (JAPANESE.encode("iso2022_jp"), "ISO-2022-JP"),
        (b"plain " * 100 + JAPANESE.encode("iso2022_jp")[:-4], "ISO-2022-JP"),
        (KOREAN.encode("iso2022_kr"), "ISO-2022-KR"),
        (b"\x1b[1m bold on a terminal \x1b[0m", None),
        (b"costs \x1b$5 or \x1b$7 or \x1b$9", None),
        (b"plain", None),
    ],
)
def test_iso_2022_is_detected_by_escape_sequences(body, name):
    assert detect_iso_2022(body) == name


@settings(deadline=None)
@given(st.binary())
def test_any_bytes_have_an_answer(body):
    name = detect_encoding(body)
    assert name is None or detection.decode_as(name, body) is not None


def test_the_examples_are_true():
    assert doctest.testmod(detection).failed == 0
