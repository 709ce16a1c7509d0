"""The syntax of languages is learned from samples."""

from __future__ import annotations

import pytest
from pygments.lexers import get_all_lexers

from crawler.duplicates.source_code.syntax import DEFAULT_SYNTAX, syntax_of


def parts(source: str, language: str) -> list[tuple[str | None, str]]:
    return [(part.lastgroup, part[0]) for part in syntax_of(language).parts.finditer(source)]


@pytest.mark.parametrize(
    ("language", "comment"),
    [
        ("python", "# a"),
        ("c", "/* a\n b */"),
        ("c", "// a"),
        ("sql", "-- a"),
        ("lua", "--[[ a\n b ]]"),
        ("haskell", "{- a\n b -}"),
        ("pascal", "{ a\n b }"),
        ("pascal", "{- a }"),
        ("ocaml", "(* a\n b *)"),
        ("scheme", "; a"),
        ("scheme", "#| a\n b |#"),
        ("julia", "#= a\n b =#"),
        ("powershell", "<# a\n b #>"),
        ("html", "<!-- a\n b -->"),
        ("matlab", "% a"),
        ("fortran", "! a"),
        ("vbnet", "' a"),
    ],
)
def test_comments(language: str, comment: str) -> None:
    assert parts(comment + "\nx", language) == [("comment", comment), ("word", "x")]


@pytest.mark.parametrize(("language", "sign"), [("c", "#"), ("python", "//"), ("java", "--"), ("javascript", "%")])
def test_what_is_no_comment_elsewhere(language: str, sign: str) -> None:
    assert {kind for kind, _ in parts(f"{sign} a", language)} == {"sign", "word"}


@pytest.mark.parametrize(
    ("language", "string"),
    [
        ("python", "'''a ' \n b'''"),
        ("python", 'rb"a\\"b"'),
        ("go", "`a\\`"),
        ("pascal", "'C:\\'"),
        ("javascript", "`a\nb`"),
        ("ruby", '"a\nb"'),
        ("java", "'\\u0041'"),
        ("javascript", "'a'"),
    ],
)
def test_strings(language: str, string: str) -> None:
    (_, *_, (kind, text)), (_, *_, last) = parts(f"x = {string}", language), parts(f"x = {string} + y", language)
    assert (kind, text, last) == ("long" if text[:3] == "'''" else "string", string, ("word", "y"))


def test_a_stray_quote_spoils_no_more_than_its_line() -> None:
    assert parts("<p>don't</p>\nreturn x", "javascript")[-2:] == [("word", "return"), ("word", "x")]
    assert parts("b = a' * c'; % d", "matlab")[-1] == ("comment", "% d")


@pytest.mark.parametrize(
    ("language", "keywords", "others"),
    [
        ("python", "def lambda None and async", "print self match Def xs"),
        ("c", "int struct sizeof return", "printf main class def"),
        ("java", "class int instanceof null synchronized", "String def List struct"),
        ("javascript", "const function typeof await", "window def struct"),
        ("go", "func chan range defer", "class fmt"),
        ("rust", "fn impl let match", "def class println"),
        ("scheme", "define lambda let", "my-own list-of-fish"),
        ("sql", "select SELECT From where", "fishes"),
    ],
)
def test_keywords(language: str, keywords: str, others: str) -> None:
    is_keyword = syntax_of(language).is_keyword
    assert [word for word in keywords.split() if not is_keyword(word)] == []
    assert [word for word in [*others.split(), "$x", "größe", "a" * 99] if is_keyword(word)] == []


@pytest.mark.parametrize(
    ("language", "filename"),
    [
        ("", ""),
        ("klingon", "x.klingon"),
        ("text", "x.txt"),
        ("c" * 1000, "c" * 1000),
        ("\0", "\0"),
        ("*", "[!"),
        ("/", "/"),
    ],
)
def test_an_unknown_language_is_read_as_most_are(language: str, filename: str) -> None:
    assert syntax_of(language, filename) is DEFAULT_SYNTAX


def test_names_of_languages_and_files() -> None:
    assert syntax_of("C++") is syntax_of("cpp") is syntax_of("", "folder/a.cpp") is syntax_of("klingon", "a.cpp")
    assert syntax_of("c", "a.py") is syntax_of("c")
    assert syntax_of("", "folder/Makefile") is syntax_of("make")


def test_all_languages_of_pygments_can_be_learned() -> None:
    learned = [syntax_of(aliases[0]) for _, aliases, _, _ in get_all_lexers(plugins=False) if aliases]
    assert len(learned) > 500
    for syntax in learned:
        assert sum(len(part[0]) for part in syntax.parts.finditer("if (a) 'b' + \"c\" # d")) > 0
        assert syntax.is_keyword("if") in {True, False}
