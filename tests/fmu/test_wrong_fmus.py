"""FMU files are untrusted: what is wrong with one is told before anything of it is used."""

from __future__ import annotations

import io
import shutil
import stat
import zipfile

import fmu_files
import pytest

from spart_blocks.base.errors import InputError, SpartWarning
from spart_blocks.fmu import archive as _fmu_file
from spart_blocks.fmu.archive import read_model, unpack
from spart_blocks.results import archives

XML2 = fmu_files.XML2


@pytest.fixture
def refused(tmp_path):
    """refused(bytes or the arguments of write_fmu) -> what is said of such a file."""

    def told(content=None, **more):
        file = tmp_path / "some.fmu"
        if content is None:
            fmu_files.write_fmu(file, **more)
        else:
            file.write_bytes(content)
        with pytest.raises(InputError) as caught:
            read_model(file)
        assert str(caught.value).startswith(f"{file}: some.fmu ")
        return str(caught.value)

    return told


def test_what_is_no_zip_file_is_refused(refused):
    assert "is not an FMU: File is not a zip file" in refused(b"text")
    assert "is not an FMU: File is not a zip file" in refused(b"")


def test_a_folder_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(InputError, match="is not a file"):
        read_model(tmp_path)
    with pytest.raises(InputError, match=r"none\.fmu does not exist"):
        read_model(tmp_path / "none.fmu")


def test_a_zip_file_without_a_description_is_refused(refused):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zip_file:
        zip_file.writestr("other.xml", "")
    assert "is not an FMU: it has no modelDescription.xml" in refused(archive.getvalue())


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        ("", "modelDescription.xml that is not XML"),
        ("<a>", "modelDescription.xml that is not XML"),
        (b"\xff\xfe\x00", "modelDescription.xml that is not XML"),
        ("<a/>", "names no version of FMI"),
        (XML2.replace('fmiVersion="2.0"', 'fmiVersion="1.0"'), "is of FMI 1.0\n  the block"),
        (XML2.replace('fmiVersion="2.0"', 'fmiVersion="3.0-beta.1"'), "is of FMI 3.0-beta.1"),
        (XML2.replace("CoSimulation ", "ModelExchange ").replace(
            ' canHandleVariableCommunicationStepSize="true"', ""), "is not for co-simulation"),
        (XML2.replace('valueReference="3"', 'valueReference="x"'), "that is not FMI 2.0: "),
        (XML2.replace('modelIdentifier="lag"', 'modelIdentifier="../../lag"'), "a C identifier"),
        (XML2.replace("<fmiModel", "<!DOCTYPE a [<!ENTITY b 'c'>]><fmiModel", 1), "a DOCTYPE"),
        (XML2.replace("<fmiModel", "<!DOCTYPE a SYSTEM '/etc/passwd'><fmiModel", 1), "a DOCTYPE"),
        (XML2.replace('encoding="UTF-8"?>', 'encoding="UTF-16"?><!DOCTYPE a [<!ENTITY b "c">]>')
         .encode("utf-16"), "a DOCTYPE"),
    ],
)  # fmt: skip
def test_a_description_that_cannot_be_used_is_refused(refused, xml, text):
    assert text in refused(xml=xml, code=b"")


def test_a_description_that_breaks_a_rule_but_can_be_read_is_a_warning(tmp_path):
    xml = XML2.replace('name="off" valueReference="10" causality="output" variability="discrete"',
                       'name="off" valueReference="10" causality="output"')  # fmt: skip
    file = fmu_files.write_fmu(tmp_path / "lag.fmu", xml=xml)
    with pytest.warns(SpartWarning, match=r"lag\.fmu has a modelDescription.xml that is not FMI 2"):
        assert read_model(file).variables["off"].kind == "Boolean"


def test_entities_of_a_description_are_never_expanded(refused):
    # A billion laughs: expanded it would have 10^9 characters.
    levels = "".join(f"<!ENTITY l{k} '{f'&l{k - 1};' * 10}'>" for k in range(1, 10))
    doctype = f"<!DOCTYPE a [<!ENTITY l0 'laugh'>{levels}]>"
    xml = XML2.replace("<fmiModel", f"{doctype}<fmiModel", 1).replace("Lag", "&l9;")
    assert "a DOCTYPE" in refused(xml=xml, code=b"")


def test_an_array_that_would_fill_the_memory_is_refused(refused):
    xml = fmu_files.XML3.replace('<Dimension start="2"/>', '<Dimension start="4000000000"/>')
    assert "has a variable of shape (4000000000,): 'motor.q'" in refused(
        version=3, xml=xml, code=b""
    )


@pytest.mark.parametrize("version", [2, 3])
def test_a_file_without_a_library_for_this_machine_says_which_it_has(tmp_path, version):
    good = fmu_files.write_fmu(tmp_path / "good.fmu", version)
    bad = tmp_path / "bad.fmu"
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(bad, "w") as out:
        out.writestr("modelDescription.xml", source.read("modelDescription.xml"))
        out.writestr("binaries/toaster64/lag.so", "")
    with pytest.raises(InputError, match=r"no library for this machine \(.+\): .* toaster64$"):
        read_model(bad)
    with zipfile.ZipFile(bad, "a") as out:
        out.writestr("sources/lag.c", "")
    with pytest.raises(InputError, match=r"its sources are in it: `fmpy compile bad\.fmu`"):
        read_model(bad)


@pytest.mark.parametrize(
    "name", ["../out", "resources/../../out", "/etc/out", "resources\\..\\out", "C:/out", "a/.."]
)
def test_names_that_lead_out_of_the_folder_are_refused(refused, name):
    assert "holds a file whose name leads elsewhere" in refused(more={name: "x"})


@pytest.mark.parametrize(
    "name", ["resources/.", "resources//data", "./a", "resources/" + "x" * 300]
)
def test_names_that_no_file_has_are_refused(refused, name):
    assert "whose name no file can have" in refused(more={name: "x"})


@pytest.mark.parametrize(
    "more",
    [
        {"resources/data": "x", "resources/data/table": "y"},
        {"resources/data/table": "y", "resources/data": "x"},
        {"resources": "x", "resources/data": "y"},
        {"resources/a/": "", "resources/a": "x"},
    ],
)
def test_a_file_and_a_folder_of_one_name_are_refused(refused, more):
    assert "holds two things of one name: 'resources" in refused(more=more)


def test_a_name_that_comes_twice_is_refused(refused, tmp_path):
    file = fmu_files.write_fmu(tmp_path / "twice.fmu")
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("modelDescription.xml", "")
    assert "two things of one name: 'modelDescription.xml'" in refused(file.read_bytes())


def test_a_name_that_is_no_text_is_refused(refused, tmp_path):
    file = fmu_files.write_fmu(tmp_path / "named.fmu", more={"resources/\u20ac": "x"})
    raw = file.read_bytes().replace("\u20ac".encode(), b"\xed\xb3\xbf")
    assert "some.fmu" in refused(raw)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_take_minutes_to_unpack_are_refused(refused, tmp_path, method):
    file = fmu_files.write_fmu(tmp_path / "packed.fmu")
    with zipfile.ZipFile(file, "a", method) as archive:
        archive.writestr("resources/zeros", bytes(1000))
    assert f"is packed by method {method}; it must be stored or deflated" in refused(
        file.read_bytes()
    )


def test_a_list_of_files_without_end_is_not_read(refused, tmp_path, monkeypatch):
    file = fmu_files.write_fmu(tmp_path / "many.fmu", more={f"a{k}": "" for k in range(2000)})
    monkeypatch.setattr(archives, "MOST_DIRECTORY", 50_000)
    monkeypatch.setattr(zipfile, "ZipFile", None)  # it would be read here
    assert "a list of its files that is too long" in refused(file.read_bytes())


def test_links_are_refused(tmp_path):
    file = fmu_files.write_fmu(tmp_path / "some.fmu")
    with zipfile.ZipFile(file, "a") as archive:
        link = zipfile.ZipInfo("resources/link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(InputError, match="holds a link: 'resources/link'"):
        read_model(file)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path):
    file = fmu_files.write_fmu(tmp_path / "some.fmu")
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        for k in range(3):
            with archive.open(f"resources/{k}", "w") as member:
                for _ in range(200):
                    member.write(bytes(2**20))
    assert file.stat().st_size < 2**20
    with pytest.raises(InputError, match="would unpack to more than 512 MB"):
        read_model(file)


def test_a_file_that_tells_less_than_it_holds_is_refused(tmp_path, monkeypatch):
    file = fmu_files.write_fmu(tmp_path / "some.fmu", more={"resources/data": "x" * 1000})
    model = read_model(file)
    # As if what is told of the sizes had been small: what is written is counted as well.
    monkeypatch.setattr(_fmu_file, "_check_names", lambda *_: None)
    monkeypatch.setattr(_fmu_file, "MOST_BYTES", 500)
    monkeypatch.setattr(_fmu_file, "_opened", lambda path: zipfile.ZipFile(path))
    with pytest.raises(InputError, match="unpacks to more than"):
        unpack(model, tmp_path / "out")


def test_too_many_files_are_refused(refused, monkeypatch):
    monkeypatch.setattr(_fmu_file, "MOST_FILES", 10)
    assert "holds more than 10 files" in refused(more={f"resources/{k}": "" for k in range(10)})


def test_a_damaged_file_is_refused(tmp_path):
    file = fmu_files.write_fmu(tmp_path / "some.fmu", more={"resources/data": "x" * 1000})
    file.write_bytes(file.read_bytes().replace(b"x" * 1000, b"b" * 1000))
    model = read_model(file)
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match="cannot be unpacked: 'resources/data': Bad CRC-32"):
        unpack(model, tmp_path / "out")


def test_only_what_a_run_needs_is_unpacked(tmp_path):
    more = {"documentation/index.html": "", "sources/lag.c": "", "resources/a/b.txt": "1"}
    file = fmu_files.write_fmu(tmp_path / "some.fmu", more=more)
    out = tmp_path / "out"
    out.mkdir()
    unpack(read_model(file), out)
    found = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert found == {fmu_files.LIBRARY[2], "resources/a/b.txt"}
    shutil.rmtree(out)
