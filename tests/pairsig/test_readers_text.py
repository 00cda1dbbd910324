"""Opening files and archives, plain text, document lists."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import tarfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import examples
from pairsig.io.errors import InputError
from pairsig.io.files import open_text
from pairsig.readers import read, read_documents
from pairsig.readers.outputs import text as text_reader


@pytest.fixture
def write(tmp_path: Path):
    def write(data: bytes, name: str = "out.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


def archive(path: Path, members: dict[str, bytes], mode: str = "w:xz") -> Path:
    with tarfile.open(path, mode) as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


class TestLines:
    def test_only_line_feeds_end_lines(self, write):
        odd = "a\u2028b\x0bc\x0cd\x1ce\x85f\u2029g"
        assert read("text", write(f"{odd}\nnext\n".encode())) == [odd, "next"]

    def test_one_carriage_return_is_stripped(self, write):
        assert read("text", write(b"one\r\ntwo\r\r\nin\rside\n")) == ["one", "two\r", "in\rside"]

    @pytest.mark.parametrize(
        ("content", "segments"),
        [
            (b"one\ntwo", ["one", "two"]),
            (b"one\n\n", ["one", ""]),
            (b"\n", [""]),
            (b"\n\none\n", ["", "", "one"]),
            (b" one \n", [" one "]),
            (b"\xef\xbb\xbfone\n", ["one"]),
        ],
    )
    def test_last_and_blank_lines(self, write, content, segments):
        assert read("text", write(content)) == segments

    @examples(50)
    @given(st.lists(st.text(st.characters(blacklist_characters="\r\n\0", codec="utf-8")), min_size=1))
    def test_what_was_written_is_read(self, tmp_path_factory, segments):
        path = tmp_path_factory.getbasetemp() / "written.txt"
        path.write_bytes("".join(s + "\n" for s in segments).encode())
        segments[0] = segments[0].removeprefix("\ufeff")
        assert read("text", path) == segments

    @pytest.mark.parametrize(
        ("data", "options", "message"),
        [
            (b"canary\none\n", {"skip_lines": 2}, r"out\.txt: found 2 lines, expected more than the 2"),
            (b"canary\none\n", {"skip_lines": -1}, "found skip_lines -1, expected 0 or more"),
            (b"", {}, r"out\.txt: found an empty file, expected one segment per line"),
            ("eins\nzwei\ndrei f\u00fcr\n".encode("latin-1"), {}, r"out\.txt, line 3: found bytes fc, expected UTF-8"),
            (b"\xef\xbb\xbf\x80\n\n", {}, "line 1: found bytes 80, expected UTF-8"),
            (b"one\ntw\0o\n", {}, r"out\.txt, line 2: found a NUL character, expected UTF-8 text"),
            # ASCII in UTF-16 is UTF-8 with a NUL after each character.
            ("one\n".encode("utf-16-le"), {}, r"out\.txt, line 1: found a NUL character"),
        ],
    )
    def test_bad_input(self, write, data, options, message):
        with pytest.raises(InputError, match=message):
            read("text", write(data), **options)


class TestFiles:
    def test_compressed(self, write):
        assert read("text", write(gzip.compress(b"one\n"), "out.gz")) == ["one"]
        assert read("text", write(lzma.compress(b"one\n"), "out.xz")) == ["one"]
        assert read("text", str(write(gzip.compress(b"one\n"), "path.gz"))) == ["one"]

    def test_open_text_is_iterated_by_line(self, write):
        assert list(open_text(write("a\u2028b\r\nc".encode()))) == ["a\u2028b\r\n", "c"]

    @pytest.mark.parametrize(
        ("suffix", "mode"), [("tar", "w"), ("tar.gz", "w:gz"), ("tgz", "w:gz"), ("tar.xz", "w:xz")]
    )
    def test_members(self, tmp_path, suffix, mode):
        members = {"team/a.txt": b"one\n", "./team/b.txt": b"two\n", "c.gz": gzip.compress(b"three\n")}
        path = archive(tmp_path / f"runs.{suffix}", members, mode)
        found = [read("text", f"{path}!{name}") for name in ("team/a.txt", "team/b.txt", "c.gz")]
        assert found == [["one"], ["two"], ["three"]]

    def test_archive_is_decompressed_once(self, tmp_path, monkeypatch):
        path = archive(tmp_path / "runs.tar.xz", {"a": b"one\n", "b": b"two\n"})
        calls = []
        opened = lzma.LZMAFile
        monkeypatch.setattr(lzma, "LZMAFile", lambda file: calls.append(1) or opened(file))
        assert [read("text", f"{path}!{name}") for name in "abab"] == [["one"], ["two"]] * 2
        assert len(calls) == 1

    def test_rewritten_archive_is_read_again(self, tmp_path):
        path = archive(tmp_path / "runs.tar.xz", {"a": b"one\n"})
        assert read("text", f"{path}!a") == ["one"]
        archive(path, {"a": b"two\n"})
        os.utime(path, ns=(1, 1))
        assert read("text", f"{path}!a") == ["two"]

    def test_unreadable(self, tmp_path):
        for name, found in (("absent.txt", "No such file or"), ("", "Is a"), ("absent.tar!a", "No such file or")):
            path = f"{tmp_path}/{name}".rstrip("/")
            with pytest.raises(InputError, match=rf"{path}: cannot be read \({found} directory\)"):
                open_text(path)

    @pytest.mark.parametrize(
        ("name", "data"),
        [
            ("plain.gz", b"plain text\n"),
            ("plain.xz", b"plain text\n"),
            ("cut.gz", gzip.compress(b"one\n" * 99, mtime=0)[:-9]),
            ("cut.xz", lzma.compress(b"one\n" * 99)[:-9]),
            ("plain.tar!a", b"plain text\n"),
        ],
    )
    def test_damaged(self, write, tmp_path, name, data):
        write(data, name.partition("!")[0])
        with pytest.raises(InputError, match=rf"{name}: cannot be read \(damaged, or not in the format of its suffix"):
            open_text(tmp_path / name)

    def test_missing_member_suggests_one(self, tmp_path):
        path = archive(tmp_path / "runs.tar.xz", {"team/en_ewt.conllu": b"one\n"})
        with pytest.raises(InputError, match=r"no member .*en-ewt\.conllu.*; did you mean team/en_ewt\.conllu\?"):
            open_text(f"{path}!team/en-ewt.conllu")


class TestBounds:
    """What is damaged, hostile or no text costs a sentence, not the machine's memory."""

    @pytest.mark.parametrize("name", ["plain.txt", "bomb.gz", "bomb.xz", "bomb.tar.gz"])
    def test_content_beyond_the_bound_is_not_read(self, tmp_path, monkeypatch, name):
        monkeypatch.setattr("pairsig.io.files.MAX_BYTES", 2**20)
        monkeypatch.setattr("pairsig.io.files._CHUNK", 2**16)
        fits, beyond = b"\0" * (2**20 - 20 * 512), b"\0" * 2**25
        pack = {"gz": gzip.compress, "xz": lzma.compress}.get(name.rpartition(".")[2], bytes)
        path = tmp_path / name
        for data, message in ((fits, "found a NUL character"), (beyond, "found more than 1,048,576 bytes of content")):
            if ".tar" in name:
                archive(path, {"a": data}, f"w:{name.partition('.tar')[2].strip('.')}")
            else:
                path.write_bytes(pack(data))
            tracemalloc.start()
            with pytest.raises(InputError, match=rf"{name}.*: {message}"):
                open_text(f"{path}!a" if ".tar" in name else path)
            assert tracemalloc.get_traced_memory()[1] < 2**24  # xz has a window of 8 MiB
            tracemalloc.stop()

    def test_a_file_without_end(self, monkeypatch):
        monkeypatch.setattr("pairsig.io.files.MAX_BYTES", 2**25)
        with pytest.raises(InputError, match="/dev/zero: found more than 33,554,432 bytes of content"):
            open_text("/dev/zero")

    @pytest.mark.parametrize("before", ["", "x\n", "12345678901\n" * 3])
    def test_the_longest_line(self, write, monkeypatch, before):
        monkeypatch.setattr("pairsig.io.files.MAX_LINE", 12)
        for line in ("x" * 12, "x" * 12 + "\n", "x" * 12 + "\n\nx\n" + "x" * 12):
            assert open_text(write((before + line).encode())).read() == before + line
        for line in ("x" * 13, "x" * 13 + "\n", "x" * 40 + "\nx"):
            number = before.count("\n") + 1
            message = rf"out\.txt, line {number}: found a line of more than 12 bytes, expected shorter lines"
            with pytest.raises(InputError, match=message):
                open_text(write((before + line).encode()))

    def test_the_most_lines(self, write, monkeypatch):
        monkeypatch.setattr("pairsig.io.files.MAX_LINES", 3)
        assert open_text(write(b"\n\n\n")).read() == "\n\n\n"
        with pytest.raises(InputError, match=r"out\.txt: found 4 lines, expected at most 3"):
            open_text(write(b"\n\n\n\n"))


class TestDocuments:
    def test_domains_and_documents(self, write):
        path = write(gzip.compress(b"canary\tcanary\nnews\tdoc 1\n-\tdoc 2\n"), "en-de.docs.gz")
        assert read_documents(path, skip_lines=1) == (["news", "-"], ["doc 1", "doc 2"])

    def test_a_dash_is_no_document(self, write):
        assert read_documents(write(b"-\td1\n-\t-\n-\t-\n")) == (["-", "-", "-"], ["d1", "", ""])

    def test_missing_tab_names_the_line(self, write):
        with pytest.raises(InputError, match=r"line 2: found 'speech', expected domain<TAB>document"):
            read_documents(write(b"news\td1\nspeech\n"))
        with pytest.raises(InputError, match=r"line 3: found 'speech', expected"):
            read_documents(write(b"news\td1\nnews\td1\nspeech\n"), skip_lines=1)


@pytest.mark.data
def test_real_document_lists_fit_their_texts(data_dir: Path):
    n_lists = 0
    for documents in sorted(data_dir.glob("wmt2?/txt/documents/*.docs.gz")):
        pair = documents.name.removesuffix(".docs.gz")
        sources = list(documents.parents[1].glob(f"sources/*.{pair}.*")) or list(
            documents.parents[1].glob(f"sources/{pair}.*")
        )
        assert sources, documents
        domains, names = read_documents(documents)
        assert len(domains) == len(names) == len(text_reader.read(sources[0]))
        n_lists += 1
    assert n_lists >= 3
