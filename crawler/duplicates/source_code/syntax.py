"""Learn how a language writes comments, strings, numbers and words, by running Pygments' lexers on short samples.

Pygments knows six hundred languages, but must not read what comes from the web: its expressions backtrack, so that
8,000 empty lines take its C lexer 9.6 s, and 4,000 times "a " its Java lexer 1.7 s. Here it reads only short samples of
ours, from which the comments and quotes of a language are learned once, and single words, each of which is a keyword or
not wherever it occurs. The result is one regular expression that reads every source in time proportional to its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import Any

from pygments.lexers import TextLexer, find_lexer_class_by_name, find_lexer_class_for_filename
from pygments.token import Comment, Keyword, Operator, String
from pygments.util import ClassNotFound

_MAX_KEYWORD_LENGTH = 16  # characters
_MAX_SAMPLE_TOKENS = 100  # Pygments' lexer of MCSchema yields empty tokens forever
_MAX_LABEL_LENGTH = 100  # characters of a language's or a file's name

_LINE_COMMENTS = ("//", "#", "--", ";", "%", "!", "'")
_BLOCK_COMMENTS = (
    ("/*", "*/"),
    ("(*", "*)"),
    ("{-", "-}"),
    ("--[[", "]]"),
    ("#|", "|#"),
    ("#=", "=#"),
    ("<#", "#>"),
    ("<!--", "-->"),
    ("{", "}"),
)
_QUOTES = ('"', "'", "`")
_EXTRA_WORD_CHARACTERS = "-'?!"  # allowed in words by some languages, besides letters and digits
_COMMON_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """
        abstract and as async await begin bool boolean break byte case catch char class const continue def default
        delete do double elif else elseif elsif end enum except export extends false final finally float fn for foreach
        from func function global goto if implements import in int interface is lambda let long match module mut
        namespace new nil none not null or package pass private procedure protected public raise repeat require return
        self short signed sizeof static struct super switch template then this throw throws true try type typedef
        typename union unless unsigned until use using val var virtual void volatile when where while with xor yield
        """,
    )
)

# Every alternative consumes all that it has read, or reads a bounded number of characters, so that nothing is read
# again and again. A comment or string that is never closed extends to the end of its line or of the source.
_PREFIX = r"(?:\b(?:[bBfFlLrRuU]{1,2}|u8))?"
_NOT_AFTER_WORDS = r"(?<![\w)\]])"
_CHARACTER = r"'(?:\\[^\n]{1,10}?|[^'\\\n])'"
_NUMBER = r"0[xX]\w+|\.?\d(?:[eEpP][+-]\d|\w|\.(?:\d|(?![.\w])))*"
_OPERAND_IS_DUE = r"(?:(?<=[=(,:;!&|?{}\[])|(?<=[=(,:;!&|?{}\[] )|(?<=return ))"  # a slash after these is no division
_PATTERN = _OPERAND_IS_DUE + r"/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n]){0,99}\]|[^/\\\n\[]){1,200}/\w*"
_CONTINUED = r"\\\r?\n"
_NOT_A_VARIABLE = r"(?<![$\\])(?<!\$\{)"  # in shells and Perl "$#" is a count, not a comment


@dataclass(frozen=True, slots=True, kw_only=True)
class Syntax:
    """How to split the sources of a language into tokens."""

    parts: re.Pattern[str]  # with the groups comment, long (a string of many lines), string, number, word, sign
    is_keyword: Callable[[str], bool]
    has_docs: bool = False  # a long string at the beginning of a line is a comment (docstring)


def syntax_of(language: str = "", filename: str = "") -> Syntax:
    """The syntax of a language by a name that Pygments knows, or by the file's name; else one that fits most."""
    for lexer in (
        _lexer_named(language[:_MAX_LABEL_LENGTH].strip().lower()),
        _lexer_for(filename[-_MAX_LABEL_LENGTH:]),
    ):
        if lexer is not None and lexer is not TextLexer:
            return _learn_syntax(lexer)
    return DEFAULT_SYNTAX


@lru_cache(maxsize=1024)
def _lexer_named(language: str) -> Any:
    try:
        return find_lexer_class_by_name(language) if language else None
    except ClassNotFound:
        return None


@lru_cache(maxsize=1024)
def _lexer_for(filename: str) -> Any:
    return find_lexer_class_for_filename(filename) if filename else None


def _build_syntax(
    *,
    comments: Iterable[str],
    long_strings: Iterable[str],
    strings: Iterable[str],
    in_words: str,
    is_keyword: Callable[[str], bool],
    has_docs: bool = False,
) -> Syntax:
    joined = f"|[{re.escape(in_words)}](?=\\w)" if in_words else ""
    groups = {
        "comment": [_CONTINUED, *comments],
        "long": long_strings,
        "string": strings,
        "number": [_NUMBER],
        "word": [rf"(?:[^\W\d]|\$)(?:[\w$]{joined})*"],
        "sign": [r"\S"],
    }
    parts = "|".join(f"(?P<{kind}>{'|'.join(patterns)})" for kind, patterns in groups.items() if patterns)
    return Syntax(parts=re.compile(parts, re.DOTALL), is_keyword=is_keyword, has_docs=has_docs)


def _line_comment(opening: str) -> str:
    return rf"{_NOT_A_VARIABLE}{re.escape(opening)}[^\n]*"


def _block_comment(opening: str, closing: str) -> str:
    return rf"{re.escape(opening)}.*?(?:{re.escape(closing)}|\Z)"


def _long_string(quote: str) -> str:
    return rf"{_PREFIX}{quote * 3}(?:\\.|(?!{quote * 3})[^\\])*(?:{quote * 3})?"


def _string(quote: str, *, lines: bool = False, escapes: bool = True, after_words: bool = True) -> str:
    ends = quote + ("" if lines else r"\n")
    inside = rf"\\.|[^{ends}\\]" if escapes else f"[^{ends}]"
    return rf"{'' if after_words else _NOT_AFTER_WORDS}{_PREFIX}{quote}(?:{inside})*{quote}?"


DEFAULT_SYNTAX = _build_syntax(
    comments=[_block_comment("/*", "*/"), _block_comment("<!--", "-->"), _line_comment("//"), r"#(?=[\s!#])[^\n]*"],
    long_strings=[_long_string('"')],
    strings=[_string('"'), _string("'", after_words=False)],
    in_words="",
    is_keyword=_COMMON_KEYWORDS.__contains__,
)


@lru_cache(maxsize=1024)
def _learn_syntax(lexer_class: Any) -> Syntax:
    """The syntax of a language, learned from what its lexer makes of samples."""
    samples = _Samples(lexer_class)
    blocks = [signs for signs in _BLOCK_COMMENTS if samples.have_block_comments(*signs)]
    lines = [sign for sign in _LINE_COMMENTS if samples.have_line_comments(sign)]
    in_words = "".join(sign for sign in _EXTRA_WORD_CHARACTERS if samples.is_one_token(f"ab{sign}cd"))
    return _build_syntax(
        comments=[_block_comment(*signs) for signs in blocks] + [_line_comment(sign) for sign in lines],
        long_strings=[_long_string(quote) for quote in _QUOTES if samples.have_long_strings(quote)],
        strings=_learn_strings(samples, is_like_c="//" in lines and "#" not in lines) or [_string('"')],
        in_words=in_words,
        # Where words have hyphens, that is in Lisp, the keyword is the first word in parentheses.
        is_keyword=partial(_is_keyword, samples, ("x {}", "({} x)") if "-" in in_words else ("x {}",)),
        has_docs=samples.have_docs(),
    )


def _learn_strings(samples: _Samples, *, is_like_c: bool) -> list[str]:
    strings = [_PATTERN] if samples.is_string("/ab\"c'd/") else []
    for quote in _QUOTES:
        if samples.is_string(f"{quote}ab cd{quote}"):
            # Lexers let strings of Java or JavaScript continue on the next line; then a single quote in the text of an
            # element or in a pattern would swap strings and code in the rest of the source.
            lines = samples.is_string(f"{quote}ab\ncd{quote}") and (quote == "`" or not is_like_c)
            escapes = not samples.is_string(f"{quote}ab\\{quote}", f" + {quote}cd{quote}")
            after_words = samples.is_string_after("ab", f"{quote}cd{quote}")
            strings.append(_string(quote, lines=lines, escapes=escapes, after_words=after_words))
        elif quote == "'" and samples.is_string("'a'"):
            strings.append(_PREFIX + _CHARACTER)
    return strings


class _Samples:
    """A Pygments lexer, and properties of its language that samples reveal."""

    def __init__(self, lexer_class: Any) -> None:
        self._lexer = lexer_class(startinline=True)  # PHP without "<?php"; other lexers ignore this

    def tokens(self, sample: str) -> list[tuple[Any, str]]:
        """The kinds and texts of all tokens that are not blank."""
        return [(kind, text.strip()) for kind, text in self._raw_tokens(sample) if text.strip()]

    def _raw_tokens(self, sample: str) -> Iterator[tuple[Any, str]]:
        return islice(self._lexer.get_tokens(sample), _MAX_SAMPLE_TOKENS)

    def is_one_token(self, word: str) -> bool:
        return [text for _, text in self.tokens(word)] == [word]

    def have_block_comments(self, opening: str, closing: str) -> bool:
        return self._is_comment(f"{opening} ab {closing[1:]} cd\nef {closing}")

    def have_line_comments(self, opening: str) -> bool:
        return self._is_comment(f"{opening} ab") and not self._is_comment(f"{opening} ab\ncd")

    def _is_comment(self, sample: str) -> bool:
        return all(kind in Comment and kind not in Comment.Preproc for kind, _ in self.tokens(sample))

    def have_docs(self) -> bool:
        return all(kind in String.Doc for kind, _ in self.tokens('"""ab\ncd"""'))

    def have_long_strings(self, quote: str) -> bool:
        return self.is_string(f"{quote * 3}ab {quote} cd\nef{quote * 3}")

    def is_string(self, literal: str, rest: str = "") -> bool:
        """Whether this is lexed as exactly one string, on the right side of an assignment that may go on."""
        return self._string_after("x = ", literal + rest) == literal

    def is_string_after(self, word: str, literal: str) -> bool:
        return self._string_after(word, literal) == literal

    def _string_after(self, before: str, rest: str) -> str:
        at, string = 0, ""
        for kind, text in self._raw_tokens(before + rest):
            if at >= len(before) and kind not in String:
                break
            string += text if at >= len(before) else ""
            at += len(text)
        return string


def _is_keyword(samples: _Samples, contexts: tuple[str, ...], word: str) -> bool:
    if len(word) > _MAX_KEYWORD_LENGTH or not word.isascii() or "$" in word:
        return False
    return _is_known_keyword(samples, contexts, word)


@lru_cache(maxsize=16_384)
def _is_known_keyword(samples: _Samples, contexts: tuple[str, ...], word: str) -> bool:
    return any(
        text == word and (kind in Keyword or kind in Operator.Word)
        for context in contexts
        for kind, text in samples.tokens(context.format(word))
    )
