import sys

import pytest

from serq.base.errors import InputError
from serq.syntax.limits import MAX_TEXT
from serq.syntax.reader import read_source


def refused(path):
    with pytest.raises(InputError) as caught:
        read_source(path)
    assert caught.value.exit_status == 3
    return caught.value


def test_a_file_is_read_under_the_name_that_was_given(tmp_path):
    path = tmp_path / "m.sq"
    path.write_bytes("let a = 1; // é\n".encode())
    assert read_source(path).text == "let a = 1; // é\n"
    assert read_source(str(path)).name == str(path)


def test_a_byte_order_mark_and_long_line_ends_are_accepted(tmp_path):
    path = tmp_path / "m.sq"
    path.write_bytes(b"\xef\xbb\xbflet a = 1;\r\nlet b = 2;\r\n")
    source = read_source(path)
    assert source.text.startswith("let a")
    assert source.lines == ("let a = 1;", "let b = 2;", "")


def test_an_empty_file_is_an_empty_program(tmp_path):
    path = tmp_path / "m.sq"
    path.touch()
    assert read_source(path).text == ""


def test_a_missing_file_with_a_neighbour_of_a_similar_name(tmp_path):
    (tmp_path / "mm1n.sq").touch()
    error = refused(tmp_path / "mmn1.sq")
    assert (error.code, str(error)) == ("SQ001", f"there is no file `{tmp_path / 'mmn1.sq'}`")
    assert error.hint == f"did you mean `{tmp_path / 'mm1n.sq'}`?"
    assert refused(tmp_path / "mm1n").hint == f"did you mean `{tmp_path / 'mm1n.sq'}`?"


def test_a_missing_file_in_a_missing_folder(tmp_path):
    error = refused(tmp_path / "no" / "m.sq")
    assert (error.code, error.hint) == ("SQ001", "")


def test_a_directory(tmp_path):
    assert refused(tmp_path).code == "SQ002"


def test_a_file_without_permission(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    error = refused(tmp_path / "m.sq")
    assert (error.code, str(error)) == ("SQ003", f"`{tmp_path / 'm.sq'}` cannot be read: Permission denied")


@pytest.mark.parametrize("name", ["a\0b.sq", "x" * 5000])
def test_names_that_no_file_can_have(name):
    assert refused(name).code == "SQ003"


@pytest.mark.skipif(sys.platform != "linux", reason="a device of Linux")
def test_a_file_without_an_end():
    assert refused("/dev/zero").code == "SQ006"


def test_binary_data(tmp_path):
    path = tmp_path / "m.sq"
    path.write_bytes(b"\x7fELF\x02\x01\x01\0\0")
    error = refused(path)
    assert error.code == "SQ004"
    assert "byte 7 is NUL" in str(error)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_other_encodings_name_the_byte(tmp_path, mark):
    path = tmp_path / "m.sq"
    path.write_bytes(mark + b"let a = 1;\n// caf\xe9\n")
    error = refused(path)
    assert error.code == "SQ005"
    assert f"byte {17 + len(mark)} (0xe9), in line 2" in str(error)


def test_the_limit_on_bytes(tmp_path):
    path = tmp_path / "m.sq"
    path.write_bytes(b" " * MAX_TEXT)
    assert len(read_source(path).text) == MAX_TEXT
    path.write_bytes(b" " * (MAX_TEXT + 1))
    assert refused(path).code == "SQ006"
