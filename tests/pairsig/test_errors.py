"""What a message shows of a file: one line, whatever the file holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import examples
from pairsig.io.errors import InputError, listed, named, quoted, reason


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ("", "''"),
        ("it's", '"it\'s"'),
        ("a\nb\u2028c\x1b[2J\0", r"'a\nb\u2028c\x1b[2J\x00'"),
        ("x" * 60, f"'{'x' * 60}'"),
        ("x" * 61, f"'{'x' * 60}…' (61 characters)"),
        ("x" * 2_000_000, f"'{'x' * 60}…' (2,000,000 characters)"),
        (None, "None"),
        (-1.5, "-1.5"),
        (["x"] * 1000, f"{repr(['x'] * 30)[:120]}…"),
    ],
)
def test_quoted(found, shown):
    assert quoted(found) == shown


@examples(50)
@given(st.text() | st.binary() | st.integers() | st.text(st.characters(categories=["Cn", "Co", "Zl"]), min_size=50))
def test_quoted_is_short_and_printable(found):
    assert len(quoted(found)) < 150
    assert quoted(found).isprintable()


def test_names_stand_bare_where_they_can():
    assert named("q-17 (b)") == "q-17 (b)"
    assert named("a\tb") == r"'a\tb'"
    assert named("x" * 61) == f"'{'x' * 60}…' (61 characters)"
    assert listed(["a", "b\n"]) == r"a, 'b\n'"
    assert listed([]) == ""
    ten = [f"{number:010}" for number in range(100_000)]
    assert listed(ten) == f"{', '.join(ten[:20])} and 99,980 more"
    assert listed(ten[:20]) == ", ".join(ten[:20])
    assert len(listed(["x" * 10**6] * 10**5)) < 300


def test_reason_of_another_program():
    assert reason(ValueError("two\n  lines")) == "two lines"
    assert reason(ValueError("x" * 1000)) == "x" * 200 + "…"


def test_a_message_has_at_most_two_lines_and_is_bounded_whatever_is_put_into_it():
    assert str(InputError("f, line 1: found\rx\ndo\nthis")) == "f, line 1: found x\ndo this"
    long = str(InputError(f"f, line 1: found {'x' * 10**6}, expected less"))
    assert len(long) < 2010
    assert long.startswith("f, line 1: found x")
    assert long.endswith("x, expected less")
