"""Copies of source code have the same tokens, whatever names, literals, comments and spacing were changed."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.duplicates.source_code import code
from crawler.duplicates.source_code.code import MAX_CHARACTERS, MAX_DISTINCT_WORDS, NAME, NUMBER, STRING, tokens_of
from crawler.duplicates.textbook.fingerprints import hashes, ngrams, winnowed

# For each language a program, a copy of it with other names, and another program that does the same in another way.
PYTHON = '''
# Sorts by swapping neighbours.
def bubble(numbers, limit=10):
    """In place."""
    for last in range(len(numbers) - 1, 0, -1):
        for at in range(last):
            if numbers[at] > numbers[at + 1]:
                numbers[at], numbers[at + 1] = numbers[at + 1], numbers[at]
    print(f"sorted {limit}", 'done')
    return numbers
'''
PYTHON_COPIED = '''
def meine_sortierung(liste,h=0x7F):
  r"""
  Ganz allein geschrieben!
  """
  for ende in range(len(liste)-27 , .5, -1e-3):   # von hinten
      for i in range( ende ):

          if liste[i]>liste[ i+ \\
                2 ]:
              liste [i],liste[i+2] = liste[i+2],liste[i]
  drucke("fertig", r'"""')  # "print"
  return liste
'''
PYTHON_OTHER = """
def insertion(numbers, limit=10):
    for start in range(1, len(numbers)):
        moved, at = numbers[start], start
        while at and numbers[at - 1] > moved:
            numbers[at] = numbers[at - 1]
            at -= 1
        numbers[at] = moved
    print("sorted", limit)
    return numbers
"""
C = r"""
#include <stdio.h>
#define LIMIT 100
/* Greatest common divisor. */
static int gcd(int a, int b) {
    while (b != 0) { int rest = a % b; a = b; b = rest; }
    return a;
}
int main(void) { printf("%d\n", gcd(12, LIMIT)); putchar('\n'); return 0; }
"""
C_COPIED = r"""
// my very own
#include <mylib.h>
#define GRENZE 7   /* seven */
static int ggt( int links,int rechts )
{
    while(rechts!=0x00){int r=links%rechts;links=rechts;rechts=r;} // Euclid "himself"
    return links;
}
int main (void)
{
    /* out */ ausgabe( "ggT: \"%d\"" L"\n" , ggt(144, GRENZE)); f('x');
    return 1;
}
"""
C_OTHER = """
#include <stdio.h>
#define LIMIT 100
static int gcd(int a, int b) { return b == 0 ? a : gcd(b, a % b); }
int main(void) { for (int at = 1; at < LIMIT; ++at) printf("%d", gcd(at, 12)); }
"""
JAVA = """
package org.fish;
public class Tank<T extends Fish> implements Iterable<T> {
    private final List<T> fishes = new ArrayList<>(16); // all of them
    @Override public Iterator<T> iterator() { return fishes.iterator(); }
    /** Adds one. */
    public boolean add(T fish) {
        if (fish == null || fishes.size() >= 100L) throw new Full("no room for " + 'x');
        return fishes.add(fish);
    }
}
"""
JAVA_COPIED = """
package com.bird;
public class Kaefig< V extends Vogel >implements Folge< V >
{
    private final Liste<V> voegel=new Reihe< >( 1_000 );
    @Ueberschrieben
    public Lauf<V> laufen() {
        return voegel . laufen();
    }
    public boolean neu(V vogel) {
        if(vogel==null||voegel.groesse()>=0.5f) throw new Voll("\\"kein\\" // Platz"+'\\u0041');
        /* return false; */ return voegel.neu(vogel);
    }
}
"""
JAVA_OTHER = """
package org.fish;
public class Tank<T extends Fish> {
    private T[] fishes;
    private int size = 0;
    public void add(T fish) {
        for (int at = 0; at < size; at++) { if (fishes[at].equals(fish)) return; }
        fishes[size++] = fish;
    }
}
"""
JAVASCRIPT = r"""
// Counts words.
export const count = async (text, { least = 1 } = {}) => {
  const words = new Map();
  for (const word of text.split(/[\s"']+/g)) words.set(word, (words.get(word) ?? 0) + 1);
  console.log(`counted ${words.size}`, text.length / 2);
  return [...words].filter(([, times]) => times >= least);
};
"""
JAVASCRIPT_COPIED = r"""
export const zaehle=async($t,{wenigste=0x10}={})=>{
  /* new
     Map */
  const w_=new Zuordnung() ;
  for(const wort of $t.teile(/,/)) w_.setze(wort,( w_.hole(wort)??.5 )+2)  ;
  konsole.schreibe('don\'t say "how"' , $t.laenge/1e9);
  return [ ...w_ ].siebe( ([,mal]) => mal>=wenigste ) ; // that's all
} ;
"""
JAVASCRIPT_OTHER = """
export function count(text) {
  let words = {};
  text.split(" ").forEach(function (word) { if (word in words) words[word]++; else words[word] = 1; });
  return words;
}
"""
PROGRAMS = [
    pytest.param("python", PYTHON, PYTHON_COPIED, PYTHON_OTHER, id="python"),
    pytest.param("c", C, C_COPIED, C_OTHER, id="c"),
    pytest.param("java", JAVA, JAVA_COPIED, JAVA_OTHER, id="java"),
    pytest.param("javascript", JAVASCRIPT, JAVASCRIPT_COPIED, JAVASCRIPT_OTHER, id="javascript"),
]
ENDINGS = {"python": "py", "c": "c", "java": "java", "javascript": "js"}


@pytest.mark.parametrize(("language", "program", "copied", "other"), PROGRAMS)
def test_a_copy_under_other_names_has_the_same_tokens(language: str, program: str, copied: str, other: str) -> None:
    assert tokens_of(copied, language) == tokens_of(program, language)


@pytest.mark.parametrize(("language", "program", "copied", "other"), PROGRAMS)
def test_another_program_for_the_same_task_has_other_tokens(
    language: str, program: str, copied: str, other: str
) -> None:
    assert tokens_of(other, language) != tokens_of(program, language)
    mine, yours = (set(winnowed(hashes(ngrams(tokens_of(source, language), 9)), 4)) for source in (program, other))
    assert len(mine & yours) < 0.35 * len(mine | yours)


@pytest.mark.parametrize(("language", "program", "copied", "other"), PROGRAMS)
def test_a_stolen_part_is_found_among_other_code(language: str, program: str, copied: str, other: str) -> None:
    mine = set(winnowed(hashes(ngrams(tokens_of(program, language), 9)), 4))
    hidden = set(winnowed(hashes(ngrams(tokens_of(other + copied + other, language), 9)), 4))
    assert len(mine & hidden) > 0.8 * len(mine)


@pytest.mark.parametrize(("language", "program", "copied", "other"), PROGRAMS)
def test_a_language_is_known_by_the_name_of_the_file(language: str, program: str, copied: str, other: str) -> None:
    named = tokens_of(program, filename=f"some/folder/x.{ENDINGS[language]}")
    assert named == tokens_of(program, language) == tokens_of(program, f" {language.upper()}\n", "x.html")
    assert named == tokens_of(program, "klingon", f"x.{ENDINGS[language]}")


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("python", "if not x.y is None: z", "if not name . name is none : name"),
        ("python", "x = 'a' \"b\" '''c'''", 'name = ""'),
        ("python", "1 + 1. + .5 + 1e-3 + 0xFFe+1 + 1_000j", "0 + 0 + 0 + 0 + 0 + 0 + 0"),
        ("python", "x = f('''\na # b\n''') # c", 'name = name ( "" )'),
        ("python", "match = type(print)", "name = name ( name )"),
        ("c", "a+++b; // c \n d", "name + + + name ; name"),
        ("c", 'L"a" u8"b" \'\\\'\' "\\"" c', '"" name'),
        ("c", '"never closed\nint x;', '"" int name ;'),
        ("c", "int x; /* never closed\nint y;", "int name ;"),
        ("javascript", "a = b / c / d; e = /f\"/g", 'name = name / name / name ; name = ""'),
        ("javascript", "`a\n${b}` + 'c", '"" + ""'),
        ("rust", "for i in 0..n { f::<'a>('b') }", "for name in 0 . . name { name : : < ' name > ( \"\" ) }"),
        ("sql", "SELECT a FROM b -- c\nwhere d = 'it''s'", 'select name from name where name = ""'),
        ("bash", 'if [ $# -gt 1 ]; then echo "$1" # all\nfi', 'if [ name # - name 0 ] ; then name "" fi'),
        ("php", "function f($a) { return $a . 'b'; } # c", 'function name ( name ) { return name . "" ; }'),
        ("scheme", "(define (is-odd? n) (= 1 n)) ; c", "( define ( name ? name ) ( = 0 name ) )"),
        ("html", "<p class=\"a\">b</p><!-- c -->", '< name name = "" > name < / name >'),
        ("", "if (a == 'b') return c; // d", 'if ( name = = "" ) return name ;'),
        ("", "while a don't # b", "while name name ' name"),
        ("text", "#include <a> /* b */ for", "# name < name > for"),
    ],
)  # fmt: skip
def test_tokens(language: str, source: str, expected: str) -> None:
    assert " ".join(tokens_of(source, language)) == expected


@pytest.mark.parametrize("language", ["", "python", "c", "java"])
def test_nothing_has_no_tokens(language: str) -> None:
    assert tokens_of("", language) == tokens_of(" \n\t", language) == []


# Random programs: the kind of each token, and a way to write it.
SIGNS = list("+-*()[]{};,<>=.&|!")
COMMENTS = {"python": "# {}\n", "c": "/* {} */", "java": "// {}\n", "javascript": "/* {} */", "": "// {}\n"}
names = st.from_regex(r"[a-z][a-z0-9]{0,3}_[a-z0-9]{0,3}", fullmatch=True)
inside = st.text("abc xyz'0-9#é", max_size=5)
literals = {
    NAME: names,
    NUMBER: st.integers(0, 9999).map(str) | st.floats(0, 1e9).map(str),
    STRING: inside.map(lambda text: f'"{text}"'),
}
blanks = st.sampled_from([" ", "\n", "\t ", "  \r\n"])


@st.composite
def written(draw: st.DrawFn, tokens: list[str], language: str) -> str:
    """Draw one way to write the tokens."""
    pieces = []
    for token in tokens:
        pieces.append(draw(literals[token]) if token in literals else token)
        pieces.append(draw(blanks) + draw(st.just("") | inside.map(COMMENTS[language].format)) + draw(blanks))
    return "".join(pieces)


@given(st.data(), st.sampled_from(sorted(COMMENTS)))
def test_however_it_is_written_a_program_has_the_same_tokens(data: st.DataObject, language: str) -> None:
    kinds = st.sampled_from([NAME, NAME, NAME, NUMBER, STRING, "while", *SIGNS])
    drawn = data.draw(st.lists(kinds, max_size=50))
    tokens = [one for one, last in zip(drawn, ["", *drawn], strict=False) if (one, last) != (STRING, STRING)]
    assert tokens_of(data.draw(written(tokens, language)), language) == tokens


@given(st.text(), st.text(), st.text())
def test_any_text_has_tokens(source: str, language: str, filename: str) -> None:
    for token in tokens_of(source, language, filename):
        assert token
        assert not token.isspace()


@given(st.text("ab1.e+-'\"`\\/*#$ \n"), st.sampled_from(["python", "c", "javascript", "bash", "perl", "scheme", ""]))
def test_whatever_is_not_closed_has_tokens(source: str, language: str) -> None:
    assert all(not token.isspace() for token in tokens_of(source, language))


# Sources on which backtracking regular expressions take very long. None of them may.
HOSTILE = [
    "a ",
    "a",
    "\n",
    " \n",
    '"',
    "'\\",
    '"\\"\n',
    "/*",
    "=/[",
    "=/a[b",
    "(",
    "1.",
    "1e+",
    "$",
    "\\\n",
    "é",
    "a-b?",
]


@pytest.mark.timeout(30)
@pytest.mark.parametrize("language", ["python", "c", "javascript", "perl", "scheme", ""])
def test_hostile_sources_end(language: str) -> None:
    for unit in HOSTILE:
        assert len(tokens_of("x" + unit * (MAX_CHARACTERS // len(unit)), language)) <= MAX_CHARACTERS
    assert tokens_of(" ".join(f"w{number}" for number in range(MAX_CHARACTERS // 6)), language)


def test_what_is_beyond_the_limits_is_not_read() -> None:
    assert len(tokens_of("(" * (MAX_CHARACTERS + 50))) == MAX_CHARACTERS
    many = " ".join(f"w{number}" for number in range(MAX_DISTINCT_WORDS))
    assert tokens_of(f"while {many} while for", "c")[-2:] == ["while", NAME]


def test_the_examples_are_true() -> None:
    assert doctest.testmod(code).failed == 0
