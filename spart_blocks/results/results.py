"""Results for users: the data of a run, with methods to show and write them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from spart_blocks.base.html import of_motion
from spart_blocks.results.run_data import RunData

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure

    from spart_blocks.results.configs import JointMotion

# Drawing and writing are imported where they are used: most runs do neither.


class Results(RunData):
    """The results of a run. Arrays are read-only; copy one to change it.

    t (N,) [s]; signals: name to (N, ...); states: block to (N, nstates). aliases: short names for
    signals ('ctrl' for 'ctrl.tau'); units: signal to unit. info: facts of the run: engine, solver,
    steps, evaluations, wall_time [s], versions, and "notes", lines on details that affect the
    numbers and are easily overlooked. state_names: block to the names of its states, if it names
    them. levels: signal to the names of its values 1, 2, ..., if it numbers states, as that of a
    STATE_MACHINE. entries: signal to the names of its entries, such as the joints. recompute:
    returns a signal that was not kept, (N, ...), or raises KeyError.

    Results can be copied and pickled. A copy can compute the same signals as the original. After a
    pickle, signals that were not kept can be computed for native runs only.
    """

    def _repr_html_(self) -> str:
        """HTML for notebooks: a table of the kept signals, a small plot, and the robots in
        motion.
        """
        from spart_blocks.results.notebook import to_html

        return to_html(self)

    def configs(self, block: str) -> Mapping[str, JointMotion]:
        """The motion of each joint of a plant's robot, by the joint's name."""
        from spart_blocks.results.configs import configs_of

        return configs_of(self, block)

    def config(self, block: str, joint: str) -> JointMotion:
        """The motion of one joint of a plant's robot: q, dq and ddq (N,).

        Raises InputError where the block has no such joint.
        """
        from spart_blocks.results.configs import config_of

        return config_of(self, block, joint)

    def to_dataframe(self, *names: str) -> pandas.DataFrame:
        """The columns of `table(*names)` as a pandas DataFrame, a row for each sample.

        `attrs["units"]` has the unit of each column, '' where unknown. Needs pandas (extra
        `pandas`); raises InputError where it is not installed, and for unknown names.
        """
        from spart_blocks.results.frames import to_dataframe

        return to_dataframe(self, names)

    def to_xarray(self, *names: str) -> xarray.Dataset:
        """The given signals, or all signals and states, as an xarray Dataset over 't' [s].

        One variable (N, ...) for each, with its unit in `attrs["units"]` if known. Its axes besides
        't' are 'plant.qm.0', ...; that of named states has the names as coordinates. Needs xarray
        (extra `xarray`); raises InputError as `to_dataframe` does.
        """
        from spart_blocks.results.frames import to_xarray

        return to_xarray(self, names)

    def summary(self, versions: bool = False) -> str:
        """A summary of the run as text. versions: also list the versions of the packages."""
        from spart_blocks.results.summary import summary

        return summary(self, versions)

    def save(self, path: str | Path) -> Path:
        """Write to .npz (everything), .csv (columns) or .mat, by the suffix; atomically."""
        from spart_blocks.results.files import save

        return save(self, path)

    @staticmethod
    def load(path: str | Path) -> Results:
        """Load an .npz file written by `save`, or an .mcap file written by `sb.record`. The file is
        not trusted: no pickles."""
        from spart_blocks.results.files import load

        return load(Results, path)

    def plot(self, *names: str, show: bool | None = None) -> list[Figure]:
        """One figure for each scope, or one with a panel for each named signal.

        With neither scopes nor names: a panel for each kept signal, or each state.
        show: open them in windows. In a notebook they are shown in the cell unless it is False.
        """
        from spart_blocks.results.plots import plot, presented

        return presented(plot(self, names), show)

    def animate(
        self, path: str | Path, diagram: object = None, *, root: str | Path | None = None
    ) -> Path:
        """Write the motion of the run's robots as one HTML file; returns its path. See
        `sb.animate`: results that are loaded from a file need their diagram, or its file.
        """
        written: Path = of_motion("animate")(self, path, diagram, root=root)
        return written

    def save_plots(self, folder: str | Path, fmt: str = "png") -> list[Path]:
        """Write the figures of `plot()` into a folder, made if missing: png, svg or pdf."""
        from spart_blocks.results.plots import save_plots

        return save_plots(self, folder, fmt)
