"""Exported controllers of ros2_control, compiled against stubs of ROS 2 and driven by a host."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import spart_blocks as sb
from spart_blocks.export import controller_files, plan_of, step_code, write_package
from spart_blocks.export.ros2_control.plan import DEPENDENCIES
from spart_blocks.program.subdiagram import subdiagram_of

MODEL = Path(__file__).parents[2] / "models" / "spacecraft_3dof.urdf"
JOINTS = ("Joint_1", "Joint_2", "Joint_3")
PID = f"""
name: arm
robots:
  sc: {{urdf: {MODEL.name}, base: floating}}
clocks:
  computer: {{rate: 50}}
blocks:
  goal: {{type: STEP, T: 0.1, off: 0, on: [0.5, -0.3, 0.2]}}
  pid: {{type: JOINT_PID_S, clock: computer, kp: [30, 30, 15], ki: 15, kd: [15, 15, 6], N: 50}}
  plant: {{type: MULTIBODY, robot: sc}}
  torques: {{type: SCOPE}}
wires:
  - goal -> pid.qd
  - plant.qm -> pid.qm
  - pid -> plant.taum, torques
run: {{T: 1}}
"""

STUBS = Path(__file__).with_name("ros2_stubs")
CXX = ("-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{STUBS}")
C = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fPIC", "-c")
VERSIONS = {"humble": (), "jazzy": ("-DSB_JAZZY",)}


def written(folder, text, **options):
    """The diagram of a text, and the code and package of its part."""
    folder.mkdir(exist_ok=True)
    shutil.copy(MODEL, folder)
    path = folder / "diagram.yaml"
    path.write_text(text)
    diagram = sb.load(path)
    code = step_code(subdiagram_of(diagram), **options)
    plan = plan_of(diagram, code)
    write_package(controller_files(plan), folder / "package")
    return diagram, code, plan


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def built_host(version, folder):
    path = folder / f"host_{version}"
    source = STUBS / "host.cpp"
    run(["g++", *CXX, *VERSIONS[version], "-rdynamic", source, "-o", path, "-ldl"])
    return path


def built_plugin(version, package, name, folder):
    """A package's plugin as its CMakeLists.txt builds it, but not optimised."""
    inner = package / "include" / package_name(package)
    step, made = folder / "step.o", folder / f"plugin_{version}.so"
    run(["gcc", *C, f"-I{inner}", package / "src" / f"{name}.c", "-o", step])
    flags = [*CXX, *VERSIONS[version], "-fPIC", "-shared", f"-I{package / 'include'}"]
    run(["g++", *flags, package / "src" / "controller.cpp", step, "-o", made])
    return made


AMENT = """
foreach(name ament_export_include_directories ament_export_libraries ament_export_dependencies
    ament_package)
  cmake_language(EVAL CODE "function(${name})\nendfunction()")
endforeach()
function(pluginlib_export_plugin_description_file category file)
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    message(FATAL_ERROR "there is no ${file}")
  endif()
endfunction()
if(UP_TO_JAZZY)
  function(ament_target_dependencies target scope)
    foreach(name IN LISTS ARGN)
      target_link_libraries(${target} ${scope} ${${name}_TARGETS})
    endforeach()
  endfunction()
endif()
"""
"""What CMake finds of ament: the functions that packages call, doing as little as they can."""


def built_by_cmake(package, folder, *, up_to_jazzy):
    """Builds and installs a package by its CMakeLists.txt; returns where it is installed."""
    names = ("ament_cmake", *DEPENDENCIES)
    for name in names:
        found = folder / "found" / name / f"{name}Config.cmake"
        found.parent.mkdir(parents=True)
        made = f"add_library({name}::{name} INTERFACE IMPORTED)\n"
        made += f"target_include_directories({name}::{name} INTERFACE {STUBS})\n"
        found.write_text(
            f"{AMENT if name == names[0] else made}set({name}_TARGETS {name}::{name})\n"
        )
    build, installed = folder / "build", folder / "installed"
    options = [f"-DCMAKE_PREFIX_PATH={folder / 'found'}", f"-DUP_TO_JAZZY={up_to_jazzy}"]
    strict = ["-DCMAKE_CXX_FLAGS=-Werror", "-DCMAKE_C_FLAGS=-Werror"]
    run(["cmake", "-S", package, "-B", build, "-Werror=dev", *options, *strict])
    run(["cmake", "--build", build])
    run(["cmake", "--install", build, "--prefix", installed])
    return installed


def package_name(package):
    (found,) = (package / "include").iterdir()
    return found.name


@dataclass
class Update:
    """What an update returned. costs: the allocations and locks in it."""

    ok: bool
    costs: int
    commands: list[float]


@dataclass
class Hosted:
    """A plugin in a host. logs: what it said."""

    host: Path
    plugin: Path
    logs: list[str] = field(default_factory=list)

    def __enter__(self):
        self.process = subprocess.Popen(
            [self.host, self.plugin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        assert self.process.wait(60) == 0
        self.process.stdout.close()

    def ask(self, *words):
        text = " ".join(word.hex() if isinstance(word, float) else str(word) for word in words)
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()
        while (line := self.process.stdout.readline()).startswith("log "):
            self.logs.append(line[4:].rstrip("\n"))
        assert line, "the host has ended"
        return line.rstrip("\n")

    def started(self, rate, **overrides):
        """The plugin, active."""
        self.ask("rate", rate)
        for name, value in overrides.items():
            self.ask("override", name.replace("__", "."), value)
        for verb in ("init", "configure", "activate"):
            assert self.ask(verb) == "success", (verb, self.logs)
        return self

    def update(self):
        status, costs, *commands = self.ask("update").split()
        return Update(status == "0", int(costs), [float.fromhex(word) for word in commands])
