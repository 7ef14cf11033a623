"""Reading one YAML document: JSON types only, positions, odd bytes, aliases."""

import gc
import time

import pytest
import yaml

from tool_intent.policy import yaml_nodes
from tool_intent.policy.positions import Report
from tool_intent.policy.yaml_nodes import ALIAS_BUDGET, DEPTH, parse


def read(text: str | bytes, **options):
    report = Report()
    document = parse(text if isinstance(text, bytes) else text.encode(), "f", report, **options)
    return document, [f"{d.line}:{d.column} {d.code}" for d in report.of("error")]


@pytest.mark.parametrize(
    "text",
    ["off", "no", "yes", "on", "No", "TRUE", "True", "Null", "NULL", "0755", "0x1f", "0o7", "22:22",
     "2026-11-30", "1_000", ".5", "5.", "+1", "1.10",
     "2.00", "-0.50", "1.50e3", ".inf", ".NaN", "1e",
     "0b1", "=", "-x", "1.2.3"],
)  # fmt: skip
def test_what_is_no_json_value_stays_text(text):
    assert read(f"a: {text}")[0].data == {"a": text}


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("false", False), ("0", 0), ("-7", -7), ("1.5", 1.5), ("1e3", 1000.0),
     ("-0.25E-2", -0.0025), ("10.01", 10.01)],
)  # fmt: skip
def test_json_scalars_are_read_as_json_reads_them(text, value):
    read_value = read(f"a: {text}")[0].data["a"]
    assert (read_value, type(read_value)) == (value, type(value))


@pytest.mark.parametrize("text", ["'5'", '"5"', "'true'", "|-\n  5", "'null'", "'~'"])
def test_what_is_quoted_is_text(text):
    value = read(f"a: {text}")[0].data["a"]
    assert isinstance(value, str)


def test_a_bound_keeps_its_number_whatever_its_zeros():
    document, errors = read("minimum: 3.10\nmaxLength: 2.0\nconst: 3.10\n")
    assert errors == []
    assert document.data == {"minimum": 3.1, "maxLength": 2.0, "const": "3.10"}


@pytest.mark.parametrize("text", ["1e999", "-1e999", "9" * 401])
def test_numbers_out_of_range_are_refused(text):
    assert read(f"a: {text}")[1] == ["1:4 yaml/number"]


def test_a_number_of_400_digits_is_exact():
    assert read(f"a: {'9' * 400}")[0].data == {"a": int("9" * 400)}


def test_windows_line_ends_move_no_position():
    unix = "version: 1\ntools:\n  bash: {require: ~}\n"
    assert read(unix)[1] == read(unix.replace("\n", "\r\n"))[1] == ["3:19 yaml/null"]


def test_a_byte_order_mark_is_no_part_of_the_text():
    document, errors = read(b"\xef\xbb\xbfversion: ~\n")
    assert errors == ["1:10 yaml/null"]
    assert list(document.data) == ["version"]


def test_columns_count_code_points():
    assert read("ключ: {𝄞: ~}\n")[1] == ["1:11 yaml/null"]


@pytest.mark.parametrize(
    ("data", "place"),
    [(b"a: \xff", "1:4 yaml/encoding"), (b"a: b\nc: \xc3(", "2:4 yaml/encoding"),
     ("a: b\n".encode("utf-16"), "1:1 yaml/encoding"), (b"a: \xed\xa0\x80", "1:4 yaml/encoding"),
     ("a: b\u2028c: d".encode(), "1:5 yaml/character"), (b"a: b\rc: d", "1:5 yaml/character"),
     ("# \x85tools: {}".encode(), "1:3 yaml/character"), (b"a: \x00", "1:4 yaml/character"),
     ("a: \ufeff".encode(), "1:4 yaml/character")],
)  # fmt: skip
def test_bytes_that_hide_or_break_lines_are_refused_where_they_stand(data, place):
    assert read(data)[1] == [place]


def test_a_line_break_in_a_comment_hides_no_key():
    assert read("version: 1\n# note\u2028unlisted: allow\n")[1] == ["2:7 yaml/character"]


def test_an_alias_repeats_its_value():
    document, errors = read("a: &x [1, {b: c}]\nd: *x\n")
    assert errors == []
    assert document.data["d"] == document.data["a"] == [1, {"b": "c"}]


def test_aliases_that_multiply_are_refused_before_they_are_expanded():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    began = time.perf_counter()
    document, errors = read("\n".join(lines))
    assert time.perf_counter() - began < 30
    assert [error.split()[1] for error in errors] == ["yaml/alias"]
    assert document.data is None


def test_a_file_without_aliases_has_no_budget():
    document, errors = read("a:\n" + "- x\n" * (ALIAS_BUDGET * 2))
    assert (errors, len(document.data["a"])) == ([], ALIAS_BUDGET * 2)


def test_depth_is_bounded_in_every_notation():
    for opened, closed in (("[", "]"), ("{a: ", "}"), ("- ", "")):
        fits = f"a: {opened * (DEPTH - 2)}x{closed * (DEPTH - 2)}"
        if opened != "- ":
            assert read(fits)[1] == []
        deep = "a:\n " + opened * (DEPTH + 1) + "x" + closed * (DEPTH + 1)
        assert [error.split()[1] for error in read(deep)[1]] == ["yaml/depth"]


def test_a_mebibyte_of_brackets_is_answered_at_once():
    began = time.perf_counter()
    assert [error.split()[1] for error in read("[" * (1 << 20))[1]] == ["yaml/syntax"]
    assert time.perf_counter() - began < 30


def test_nested_too_deep_for_the_pure_loader_is_an_error_too(monkeypatch):
    class Pure(yaml.SafeLoader):
        resolve = yaml_nodes._Loader.resolve

    monkeypatch.setattr(yaml_nodes, "_Loader", Pure)
    assert read("[" * 5000 + "]" * 5000)[1] == ["1:1 yaml/depth"]


def test_null_stands_for_itself_where_json_schemas_are_read():
    assert read("a: null\nb:\n", nulls=True)[0].data == {"a": None, "b": None}


def test_collecting_goes_on_after_reading_even_where_reading_fails():
    for text in ("a: 1", "a: [", "a: 1\n---\nb: 2"):
        read(text)
        assert gc.isenabled()


def test_each_key_and_value_knows_its_place():
    document, _ = read('a:\n  - b: "c d"\n    e: |\n      text\n')
    assert document.span(document.key(["a", 0, "b"])) == (2, 5, 2, 6)
    assert document.span(document.value(["a", 0, "b"])) == (2, 8, 2, 13)
    assert document.span(document.value(["a", 0, "e"])) == (3, 8, 3, 9)
