"""The folder of an export: it builds, runs, and talks over its links."""

import hashlib
import json
import re
import shutil
import signal
import socket
import struct
import subprocess
import time
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from free_ports import free_port

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.export import live_links, package_files, step_code, write_package
from spart_blocks.export.loaded import STRICT
from spart_blocks.program.subdiagram import subdiagram_of

ROOT = Path(__file__).parents[2]

CONTROLLER = """
blocks:
  sensors:
    type: UDP_IN
    port: 1111
    frame: {fields: {q: 2 f64}, sequence: u32, checksum: crc32}
    timeout: 0.25
  ctrl: {type: GAIN, K: [[2.0, 0.0], [0.0, -3.0]]}
  actuators:
    type: UDP_OUT
    port: 2222
    frame: {fields: {tau: 2 f64}, sequence: u32}
    safe: {tau: 0.5}
wires: [sensors.q -> ctrl, ctrl -> actuators.tau]
export: {part: ctrl, name: gains}
"""
RATE = 50  # Hz: a socket keeps what is sent for seconds in which nobody reads
PATIENCE = 120.0  # s, until something is given up that should happen at once


def export(diagram, folder, **options):
    code = step_code(subdiagram_of(diagram), **options)
    write_package(package_files(code, live_links(diagram, code.part)), folder)
    return code.name


def make(folder, *arguments):
    command = ["make", "CFLAGS=-std=c99 -O2 -Wall -Wextra -Wpedantic -Werror", *arguments]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@pytest.fixture(scope="module")
def controller(tmp_path_factory):
    """The built main program of a controller, its port, and the actuators' socket."""
    folder = tmp_path_factory.mktemp("gains")
    port = free_port()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as actuators:
        actuators.bind(("127.0.0.1", 0))
        actuators.settimeout(PATIENCE)
        text = CONTROLLER.replace("1111", str(port))
        text = text.replace("2222", str(actuators.getsockname()[1]))
        path = folder / "gains.yaml"
        path.write_text(text)
        name = export(sb.load(path), folder / "code", rate=RATE)
        make(folder / "code")
        yield folder / "code" / name, port, actuators


def sensor_frame(number, q):
    body = struct.pack("<I2d", number, *q)
    return body + struct.pack("<I", zlib.crc32(body))


def waiting(actuators):
    """The torques of all frames that have come, without a wait for more."""
    actuators.setblocking(False)
    found = []
    with suppress(BlockingIOError):
        while True:
            found.append(torque(actuators))
    actuators.settimeout(PATIENCE)
    return found


def torque(actuators):
    return struct.unpack("<I2d", actuators.recv(2000))[1:]


def until(actuators, wanted, feed=lambda: None):
    """Read frames until one has these torques."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        feed()
        if torque(actuators) == wanted:
            return
    raise AssertionError(f"no frame with {wanted} came")


@pytest.fixture
def start(controller):
    """Starts the program; what is still running at the end of a test is killed."""
    started = []

    def begin(*arguments):
        waiting(controller[2])
        command = [controller[0], *arguments]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield begin
    for one in started:
        one.kill()
        one.communicate()


@pytest.fixture
def feed(controller):
    """Sends a sensor frame with q = (1, 2), newer each time."""
    numbers = iter(range(1, 10**9))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        place = ("127.0.0.1", controller[1])
        yield lambda: out.sendto(sensor_frame(next(numbers), (1.0, 2.0)), place)


def said_at_the_end(running, number=signal.SIGINT):
    running.send_signal(number)
    return running.communicate(timeout=PATIENCE)[0]


def test_it_sends_what_it_computes_of_what_it_receives_and_counts_it(controller, start, feed):
    actuators = controller[2]
    running = start()
    until(actuators, (2.0, -6.0), feed)
    text = said_at_the_end(running)
    assert running.returncode == 0
    assert re.search(r"sensors: received [1-9]\d*, lost \d+, late 0, malformed 0", text)
    assert re.search(r"actuators: sent [1-9]\d*, errors 0", text)


def test_it_runs_for_the_time_that_it_is_given(start, feed):
    running = start("0.3")
    while running.poll() is None:
        feed()
        time.sleep(0.01)
    assert running.returncode == 0
    steps, seconds, left_out = re.search(
        r"gains: (\d+) steps in ([\d.]+) s.*steps left out (\d+)", running.stdout.read(), re.DOTALL
    ).groups()
    assert int(steps) + int(left_out) == 0.3 * RATE
    assert float(seconds) >= 0.3


def test_stale_inputs_give_the_safe_outputs_and_fresh_ones_end_that(controller, start, feed):
    actuators = controller[2]
    running = start()
    until(actuators, (2.0, -6.0), feed)
    until(actuators, (0.5, 0.5))  # nothing is fed now
    until(actuators, (2.0, -6.0), feed)
    assert re.search(r"steps with stale inputs [1-9]", said_at_the_end(running))


ENDS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
CRASHES = [signal.SIGSEGV, signal.SIGBUS]


@pytest.mark.parametrize("number", [*ENDS, *CRASHES])
def test_it_sends_the_safe_outputs_however_it_ends(controller, start, feed, number):
    actuators = controller[2]
    running = start()
    until(actuators, (2.0, -6.0), feed)
    said_at_the_end(running, number)
    assert running.returncode == (0 if number in ENDS else -number)
    assert waiting(actuators)[-1] == (0.5, 0.5)


def test_hostile_packets_are_counted_and_change_nothing(controller, start, feed):
    actuators = controller[2]
    running = start()
    until(actuators, (2.0, -6.0), feed)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for data in (b"", b"x", b"\xff" * 24, sensor_frame(5, (9, 9))[:-1] + b"!", b"\x00" * 2000):
            out.sendto(data, ("127.0.0.1", controller[1]))
    seen = {torque(actuators) for _ in range(10) if feed()}
    until(actuators, (2.0, -6.0), feed)
    assert seen <= {(2.0, -6.0), (0.5, 0.5)}  # what is right, or safe where nothing came in time
    assert "malformed 5" in said_at_the_end(running)


def test_a_port_that_is_taken_is_told(controller):
    program, port, _ = controller
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", port))
        run = subprocess.run([program, "1"], capture_output=True, text=True)
    assert run.returncode == 2
    assert f"sensors: cannot receive at UDP 127.0.0.1:{port}: Address already in use" in run.stderr
    assert subprocess.run([program, "soon"], capture_output=True).returncode == 2


def test_the_check_waits_for_nobody_and_the_loop_says_for_whom_it_waits(tmp_path):
    path = tmp_path / "gains.yaml"
    path.write_text(CONTROLLER.replace("1111", str(free_port())).replace("2222", str(free_port())))
    name = export(sb.load(path), tmp_path / "code")
    make(tmp_path / "code", "all", "check")
    with subprocess.Popen(
        [tmp_path / "code" / name, "0.1"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as run:
        try:
            assert run.stderr.readline() == b"gains: waiting for a first frame over sensors\n"
        finally:
            run.kill()


@pytest.mark.parametrize(
    ("address", "told"), [("::1", ""), ("fe80::1%nowhere", "fe80::1%nowhere:1111: ")]
)
def test_an_address_of_ipv6_may_name_its_interface(tmp_path, address, told):
    text = CONTROLLER.replace("    port: 1111", f"    port: 1111\n    address: '{address}'")
    (tmp_path / "gains.yaml").write_text(text.replace("1111", "1111" if told else str(free_port())))
    name = export(sb.load(tmp_path / "gains.yaml"), tmp_path / "code")
    make(tmp_path / "code")
    with subprocess.Popen([tmp_path / "code" / name], stderr=subprocess.PIPE, text=True) as one:
        said = one.stderr.readline()  # that it waits for a frame, or why it cannot run
        if not told:
            one.terminate()
        said += one.communicate(timeout=PATIENCE)[1]
    assert told in said
    assert "Success" not in said
    assert one.returncode == (2 if told else 0)


def test_it_builds_with_cmake_and_under_the_sanitizers(tmp_path):
    name = export(sb.load("diagrams/spacecraft_pd.yaml"), tmp_path / "code", real="float")
    make(tmp_path / "code", "check")
    if shutil.which("cmake"):
        for command in (["cmake", "-B", "build"], ["cmake", "--build", "build"]):
            run = subprocess.run(command, cwd=tmp_path / "code", capture_output=True, text=True)
            assert run.returncode == 0, run.stderr
        assert subprocess.run([tmp_path / "code" / "build" / name, "0.1"]).returncode == 0


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"contains files that are not from an export\n.*-o"):
        write_package({"README.md": "x"}, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(InputError, match="is a file"):
        write_package({"README.md": "x"}, tmp_path / "thesis.tex")
    with pytest.raises(InputError, match=r"cannot write .*code: "):
        write_package({"README.md": "x"}, tmp_path / "thesis.tex" / "code")


def test_a_makefile_alone_is_no_earlier_export(tmp_path):
    (tmp_path / "Makefile").write_text("all: thesis")
    with pytest.raises(InputError, match="contains files that are not from an export"):
        write_package({"Makefile": "x"}, tmp_path)
    assert (tmp_path / "Makefile").read_text() == "all: thesis"


def test_an_export_is_written_over_an_earlier_one(tmp_path):
    diagram = sb.load("diagrams/spacecraft_pd.yaml")
    name = export(diagram, tmp_path / "code")
    before = (tmp_path / "code" / f"{name}.c").read_text()
    export(diagram, tmp_path / "code", rate=100)
    assert (tmp_path / "code" / f"{name}.c").read_text() != before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".spart")]


def seen(folder):
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def test_what_another_export_wrote_before_is_gone(tmp_path):
    """Else a build that takes all C of the folder has two programs in it."""
    code = tmp_path / "code"
    first = export(sb.load("diagrams/spacecraft_pd.yaml"), code)
    (code / "notes.txt").write_text("mine")
    (code / "plant.c").write_text("/* mine */")
    named = step_code(subdiagram_of("diagrams/dual_arm.yaml", ["left"]), name="other")
    paths = write_package(package_files(named), code)
    assert seen(code) == {path.name for path in paths} | {"notes.txt", "plant.c"}
    assert not [name for name in seen(code) if name.startswith(first)]
    assert export(sb.load("diagrams/spacecraft_pd.yaml"), code) == first
    assert not [name for name in seen(code) if name.startswith("other")]
    assert (code / "plant.c").read_text() == "/* mine */"


def test_a_file_of_an_earlier_export_that_was_changed_stays(tmp_path):
    code = tmp_path / "code"
    name = export(sb.load("diagrams/spacecraft_pd.yaml"), code)
    source = code / f"{name}.c"
    source.write_text(f"{source.read_text()}/* years of work */")
    write_package(
        package_files(step_code(subdiagram_of("diagrams/dual_arm.yaml"), name="other")), code
    )
    assert [path for path in seen(code) if path.startswith(name)] == [source.name]


def test_a_list_of_files_leads_nowhere_else(tmp_path):
    """Whatever stands in the list of an earlier export, nothing outside its folder is removed,
    nor what is no file."""
    code, other = tmp_path / "code", tmp_path / "other.txt"
    other.write_text("x")
    export(sb.load("diagrams/spacecraft_pd.yaml"), code)
    (code / "data").mkdir()
    digest = hashlib.sha256(b"x").hexdigest()
    for text in (
        json.dumps({"files": {"../other.txt": digest, str(other): digest, "data": digest}}),
        json.dumps({"files": {"..": digest, "": digest, ".": 3, "a\0b": digest}}),
        json.dumps([1]),
        "nonsense",
        "\udcff",
    ):
        (code / ".spart-export.json").write_text(text, errors="surrogateescape")
        export(sb.load("diagrams/spacecraft_pd.yaml"), code)
        assert other.read_text() == "x"
        assert (code / "data").is_dir()


@pytest.mark.parametrize("blocks", [["joints"], ["joints", "base"]])
def test_a_part_without_outputs_is_refused(blocks):
    with pytest.raises(InputError, match=r"(?s)gives nothing.*ctrl, .*plant"):
        subdiagram_of("diagrams/spacecraft_pd.yaml", blocks)


def test_the_same_diagram_gives_the_same_files():
    texts = [package_files(step_code(subdiagram_of("diagrams/dual_arm.yaml"))) for _ in range(2)]
    assert texts[0] == texts[1]


def c_of(page):
    return "\n".join(re.findall(r"^```c\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE))


def test_the_c_that_pages_show_compiles(tmp_path):
    export(sb.load("diagrams/arm_over_udp.yaml"), tmp_path / "code")
    flags = [*STRICT, "-c", "shown.c"]
    for page in (ROOT / "docs" / "board.md", tmp_path / "code" / "README.md"):
        (tmp_path / "code" / "shown.c").write_text(c_of(page))
        run = subprocess.run(["cc", *flags], cwd=tmp_path / "code", capture_output=True, text=True)
        assert run.returncode == 0, run.stderr


def test_the_functions_that_the_page_lists_are_those_of_the_header():
    code = step_code(subdiagram_of("diagrams/arm_over_udp.yaml"))
    header = " ".join(code.header.split())
    shown = c_of(ROOT / "docs" / "export.md").replace("NAME", code.name)
    declarations = re.findall(r"^\w.*?;", re.sub(r"/\*.*?\*/", "", shown), re.MULTILINE)
    assert len(declarations) == 6
    for declaration in declarations:
        assert " ".join(declaration.split()) in header
