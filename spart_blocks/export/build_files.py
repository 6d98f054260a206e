"""Build files for the C of a subdiagram, and its README."""

from __future__ import annotations

from collections.abc import Collection

from spart_blocks.export.interface import Member
from spart_blocks.export.step import StepCode

CORTEX_M7 = "-mcpu=cortex-m7 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard"


def makefile(code: StepCode) -> str:
    """The Makefile: the step as a library, and the loop around it as a program."""
    name = code.name
    return f"""# {name}: `make` builds the library and the loop, `make check` builds them under
# the sanitizers and runs the loop for a second, with frames or without, `make board` is for a
# Cortex-M7.
# An export may be written over this folder.
CC = cc
CFLAGS = -std=c99 -O2 -Wall -Wextra -Wpedantic
LOOP = main.c sb_loop.c sb_link.c

all: lib{name}.a {name}

{name}.o: {name}.c {name}.h sb_fixed_rate.h sb_step.h
\t$(CC) $(CFLAGS) -c {name}.c

lib{name}.a: {name}.o
\t$(AR) rcs $@ {name}.o

{name}: $(LOOP) {name}_model.h {name}_links.h sb_loop.h sb_link.h {name}.o
\t$(CC) $(CFLAGS) -pthread -o $@ $(LOOP) {name}.o -lm

check: $(LOOP) {name}.c sb_fixed_rate.h sb_step.h
\t$(CC) $(CFLAGS) -g -fsanitize=address,undefined -fno-sanitize-recover=all -DWAIT=0 \\
\t  -pthread -o {name}_checked $(LOOP) {name}.c -lm
\t./{name}_checked 1

board: {name}.c {name}.h sb_fixed_rate.h sb_step.h
\tarm-none-eabi-gcc {CORTEX_M7} $(CFLAGS) -c -o {name}_board.o {name}.c
\tarm-none-eabi-size {name}_board.o

clean:
\trm -f *.o lib{name}.a {name} {name}_checked

.PHONY: all check board clean
"""


def cmake_lists(code: StepCode) -> str:
    """CMakeLists.txt: the library, and on POSIX systems the loop."""
    name = code.name
    return f"""# {name}: cmake -B build && cmake --build build
cmake_minimum_required(VERSION 3.10)
project({name} C)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library({name}_step STATIC {name}.c)
target_include_directories({name}_step PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
if(NOT MSVC)
  target_compile_options({name}_step PRIVATE -Wall -Wextra -Wpedantic)
  target_link_libraries({name}_step PUBLIC m)
endif()

if(UNIX AND NOT CMAKE_CROSSCOMPILING)
  add_executable({name} main.c sb_loop.c sb_link.c)
  find_package(Threads REQUIRED)
  target_link_libraries({name} PRIVATE {name}_step Threads::Threads)
endif()
"""


def readme(code: StepCode, linked: Collection[str]) -> str:
    """README.md: the files, how to build them, how to call the step. linked: inputs that main.c
    receives over links.
    """
    name, schedule = code.name, code.schedule
    states = len(code.part.program.x0)
    method = f", {states} states by {schedule.method}" if states else ""
    return f"""# {name}

C99 of {code.part.program.name}: {float(schedule.rate):g} steps per second{method}, in
{code.real}. It needs math.h alone, allocates nothing, and keeps its state in your structs, so
several copies can run side by side.

| file | what it is |
| --- | --- |
| `{name}.h`, `{name}.c` | the step: this is all that a board needs |
| `{name}_model.h` | the step over flat arrays, for the loop |
| `main.c`, `{name}_links.h`, `sb_loop.*`, `sb_link.*` | a loop with deadlines, for POSIX systems |
| `Makefile`, `CMakeLists.txt` | either builds all of it |

## Build and run

```sh
make                          # or: cmake -B build && cmake --build build
./{name} 10      # the loop, for ten seconds; without a number until Ctrl-C
make check                    # under the address and undefined-behaviour sanitizers
make board                    # for a Cortex-M7, with arm-none-eabi-gcc: its size
```

## On a board

Add `{name}.c` to the project, and call the step from a timer that fires every
{float(schedule.step):g} s:

```c
#include "{name}.h"

static {name}_inputs u;
static {name}_outputs y;
static {name}_parameters p;
static {name}_state s;

void start(void);
void every_period(void);

void start(void) {{
  {name}_nominal(&u, &p); /* the parameters of the diagram; change some now */
  {name}_init(&s, &p);
}}

void every_period(void) {{
  /* read the sensors into u */
  if ({name}_output(&s, &u, &p, &y) == {name}_OK) {{
    /* write y to the actuators */
    if ({name}_update(&s, &u, &p) == {name}_OK) return;
  }}
  /* {name}_STOPPED, _NOT_FINITE or _FAULT: put the actuators where they are safe */
}}
```

## Inputs, outputs, parameters

{_table("input", code.interface.inputs, linked)}{_table("output", code.interface.outputs)}\
{_table("parameter", code.interface.parameters)}\
Matrices are stored row by row. `{name}_table` has the parameters by name, with their bounds;
`{name}_check` tests the values against their bounds.
"""


def _table(kind: str, members: tuple[Member, ...], linked: Collection[str] | None = None) -> str:
    """A table of members. linked: for inputs, the names of those that come over links."""
    if not members:
        return ""
    rows = [f"| {kind} | in C | shape |", "| --- | --- | --- |"]
    if linked is not None:
        rows = [f"{rows[0]} in main.c |", f"{rows[1]} --- |"]
    for m in members:
        size = f"[{m.size}]" if m.shape else ""
        shape = " x ".join(map(str, m.shape)) or "a number"
        rows.append(f"| {m.name.replace('|', ' ')} | `{m.field}{size}` | {shape} |")
        if linked is not None:
            rows[-1] += " over a link |" if m.name in linked else " as at the start |"
    return "\n".join(rows) + "\n\n"
