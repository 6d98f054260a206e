"""Small models of Simulink, written as .mdl, as .slx, and as .mdl with the XML of an .slx."""

from __future__ import annotations

import itertools
import zipfile
from html import escape


def _of_text(key, value):
    """A parameter in sections of text; a list is a cell array."""
    if isinstance(value, list):
        cells = "".join(f'Cell "{cell}"\n' for cell in value)
        return f'Array {{\nType "Cell"\n{cells}PropName "{key}"\n}}\n'
    text = value.replace("\n", "\\n")
    return f'{key} "{text}"\n'


def _of_xml(key, value):
    if isinstance(value, list):
        cells = "".join(f'<Cell Class="char">{escape(cell)}</Cell>' for cell in value)
        return f'<Array PropName="{key}" Type="Cell">{cells}</Array>'
    return f'<P Name="{key}">{escape(value)}</P>'


class Model:
    """A system of blocks and lines. Lines are from (block, port) to a list of (block, port)."""

    def __init__(self, **settings):
        self.settings, self.blocks, self.lines = settings, [], []

    def block(self, kind, name, ports=(1, 1), inside=None, **values):
        self.blocks.append((kind, name, ports, values, inside))
        return name

    def line(self, start, *ends, name=""):
        pairs = [e if isinstance(e, tuple) else (e, 1) for e in (start, *ends)]
        self.lines.append((pairs[0], pairs[1:], name))

    def chain(self, *names):
        for one, other in itertools.pairwise(names):
            self.line(one, other)

    def mdl(self):
        head = "".join(f'  {key} "{value}"\n' for key, value in self.settings.items())
        return f"Model {{\n{head}{self._system()}}}\n"

    def _system(self):
        text = "System {\n"
        for kind, name, ports, values, inside in self.blocks:
            text += f'Block {{\nBlockType {kind}\nName "{name}"\nPorts [{ports[0]}, {ports[1]}]\n'
            text += "".join(_of_text(key, value) for key, value in values.items())
            text += (inside._system() if inside else "") + "}\n"
        for (start, port), ends, name in self.lines:
            text += f'Line {{\nName "{name}"\nSrcBlock "{start}"\nSrcPort {port}\n'
            for end, place in ends:
                text += f'Branch {{\nDstBlock "{end}"\nDstPort {place}\n}}\n'
            text += "}\n"
        return text + "}\n"

    def parts(self, apart=True):
        """The XML of an .slx by name. apart: whether each system is a part of its own, as in newer
        files."""
        found = {}
        root = self._xml(found, "system_root", apart)
        head = "".join(_of_xml(key, value) for key, value in self.settings.items())
        calls = "".join(_of_xml(k, v) for k, v in self.settings.items() if k.endswith("Fcn"))
        found["simulink/blockdiagram.xml"] = (
            f"<ModelInformation><Model>{calls}{root}</Model></ModelInformation>"
        )
        found["simulink/configSet0.xml"] = f"<ConfigSet><Object>{head}</Object></ConfigSet>"
        return found

    def _xml(self, found, ref, apart):
        ids = {name: str(k) for k, (_, name, *_) in enumerate(self.blocks, 1)}
        text = "<System>"
        for kind, name, ports, values, inside in self.blocks:
            text += f'<Block BlockType="{kind}" Name="{escape(name)}" SID="{ids[name]}">'
            text += f'<PortCounts in="{ports[0]}" out="{ports[1]}"/>'
            text += "".join(_of_xml(key, value) for key, value in values.items())
            text += (inside._xml(found, f"{ref}_{ids[name]}", apart) if inside else "") + "</Block>"
        for (start, port), ends, name in self.lines:
            begin = f"out:{port}" if str(port).isdigit() else port
            text += f'<Line><P Name="Name">{name}</P><P Name="Src">{ids[start]}#{begin}</P>'
            for end, place in ends:
                rest = f"in:{place}" if str(place).isdigit() else place
                text += f'<Branch><P Name="Dst">{ids[end]}#{rest}</P></Branch>'
            text += "</Line>"
        if not apart:
            return text + "</System>"
        found[f"simulink/systems/{ref}.xml"] = text + "</System>"
        return f'<System Ref="{ref}"/>'

    def write(self, path):
        """Write it in the form of the suffix: .package.mdl is the text package, .one.slx the zip
        file with one part for all systems."""
        if path.suffix == ".slx":
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, text in self.parts(not path.name.endswith(".one.slx")).items():
                    archive.writestr(name, text)
        elif path.name.endswith(".package.mdl"):
            body = "".join(
                f"__MWOPC_PART_BEGIN__ /{name}\n{text}\n" for name, text in self.parts().items()
            )
            head = "# MathWorks OPC Text Package\nModel {\n  Version 24.2\n}\n"
            path.write_text(f"{head}__MWOPC_PACKAGE_BEGIN__ R2024b\n{body}__MWOPC_PACKAGE_END__\n")
        else:
            path.write_text(self.mdl())
        return path
