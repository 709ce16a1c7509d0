"""The document slope curve of a page, and the plateau that is its content."""

import pytest
import turbohtml

from crawler.parse.main_text.slope import slope_curve
from tests.parse.main_text.pages import ARTICLE


def curve_of(html):
    return slope_curve(turbohtml.parse(html, positions=False))


def test_the_curve_rises_with_tags_and_runs_level_with_words():
    curve = curve_of("<body><p>one two</p><p>three</p>")
    [start, *points] = curve.points
    assert start == (0, 0)
    assert [after[0] - before[0] for before, after in zip(points[::2], points[1::2], strict=True)] == [2, 1]
    assert all(before[1] == after[1] for before, after in zip(points[::2], points[1::2], strict=True))
    assert all(left <= right for left, right in zip(curve.points, curve.points[1:], strict=False))


def test_tags_that_only_format_do_not_count():
    plain, formatted = curve_of("<p>one two three</p>"), curve_of("<p>one <b>two</b> <i><em>three</em></i></p>")
    assert plain == formatted


def test_the_plateau_maximizes_words_inside_and_tags_outside():
    curve = curve_of(ARTICLE)
    tokens, tags = curve.points[-1]
    heights = dict(curve.points)

    def score(start, end):
        return heights[start] + (end - start - (heights[end] - heights[start])) + tags - heights[end]

    corners = [point[0] for point in curve.points]
    assert score(*curve.chosen) == max(score(start, end) for start in corners for end in corners if start <= end)
    assert 0 < curve.chosen[0] < curve.chosen[1] < tokens


@pytest.mark.parametrize("html", ["", "<p></p>"])
def test_a_page_without_text_has_no_curve(html):
    assert curve_of(html).points == [(0, 0)]
    assert curve_of(html).chosen == (0, 0)
