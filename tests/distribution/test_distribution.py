"""The wheel, the source distribution and the wheelhouse are complete, and install elsewhere."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tomllib
import venv
from email.parser import Parser
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPCookieProcessor, ProxyHandler, build_opener
from zipfile import ZipFile

import pytest

pytestmark = pytest.mark.dist

ROOT = Path(__file__).parents[2]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
TRIED = Path(__file__).with_name("one_extra.py")
EXTRAS = re.search(r"^EXTRAS \?= (.*)", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)[1]


def run(*command, folder, **environment):
    """Run a command that must end well, away from the sources; return what it prints."""
    kept = {name: said for name, said in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env=kept | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def built(folder, *what, source=ROOT):
    """Build in a folder, with what is installed here."""
    build = (sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", folder, source)
    run(*build, folder=folder)


def contents(wheel):
    """Return what is in a wheel: the hash of each file, by its name."""
    with ZipFile(wheel) as archive:
        return {n: hashlib.sha256(archive.read(n)).hexdigest() for n in archive.namelist()}


def fresh(folder):
    """Make an environment with pip alone, and return the folder of its programs."""
    venv.create(folder, with_pip=True)
    return folder / "bin"


def check_program(programs, folder, *before):
    """Say the version and the help, and protect invented people, each as a process."""
    program = (*before, programs / "microveil")
    assert run(*program, "--version", folder=folder) == f"microveil {DECLARED['version']}\n"
    assert "protect" in run(*program, "--help", folder=folder)
    run(*program, "demo", "-o", "demo", folder=folder)
    assert (folder / "demo" / "release" / "data.csv").exists()


def check_page(program, folder):
    """Start the page, open it by its file as a browser would, and end it as a terminal would."""
    command = (*program, "app", folder, "--no-browser")
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True) as started:
        said = next(line for line in started.stdout if "file://" in line)
        file = Path(unquote(urlsplit(re.search(r"file://\S+", said)[0]).path))
        address = re.search(r"http://127[^\"']*", file.read_text("utf-8"))[0]
        browser = build_opener(ProxyHandler({}), HTTPCookieProcessor())
        browser.open(address).read()
        home = "http://" + urlsplit(address).netloc
        assert "people.csv" in browser.open(f"{home}/?in=demo").read().decode()
        assert browser.open(f"{home}/static/htmx.min.js").status == 200
        started.send_signal(signal.SIGINT)
        assert started.wait(20) == 0


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The wheel and the source distribution, each built of the working tree."""
    folder = tmp_path_factory.mktemp("distributions")
    built(folder, "--sdist", "--wheel")
    return folder


@pytest.fixture(scope="module")
def wheel(distributions):
    return next(distributions.glob("*.whl"))


@pytest.fixture(scope="module")
def archive(distributions):
    return next(distributions.glob("*.tar.gz"))


def test_the_wheel_holds_all_files_of_the_package_and_no_others(wheel):
    """Styles, templates, scripts, licences of others and the marker of types, as git has them."""
    listing = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "src/microveil")
    ours = run(*listing, folder=ROOT).splitlines()
    packed = {name for name in contents(wheel) if ".dist-info/" not in name}
    assert packed == {name.removeprefix("src/") for name in ours if (ROOT / name).exists()}
    assert {"microveil/py.typed", "microveil/report/page.css"} <= packed


def test_no_file_of_the_package_is_left_out_as_a_product():
    """A folder such as `build` below the package, which git ignores, would be missed silently."""
    beside = ("git", "ls-files", "--others", "--ignored", "--exclude-standard", "src/microveil")
    missed = [n for n in run(*beside, folder=ROOT).splitlines() if "__pycache__" not in n]
    assert missed == []


def test_metadata_say_what_pyproject_says_and_invent_nothing(wheel):
    """Name, version, Python, extras, licence, read-me; no author, address or page of a project."""
    with ZipFile(wheel) as opened:
        place = f"microveil-{DECLARED['version']}.dist-info"
        said = Parser().parsestr(opened.read(f"{place}/METADATA").decode())
        licence = opened.read(f"{place}/licenses/LICENSE").decode()
    assert (said["Name"], said["Version"]) == ("microveil", DECLARED["version"])
    assert (said["Requires-Python"], said["License-Expression"]) == (
        ">=3.11",
        "Apache-2.0 AND 0BSD",
    )
    assert {*said.get_all("Provides-Extra")} == {*DECLARED["optional-dependencies"]}
    assert said.get_all("Classifier") == DECLARED["classifiers"]
    assert said.get_payload().strip() == (ROOT / "README.md").read_text("utf-8").strip()
    assert licence == (ROOT / "LICENSE").read_text("utf-8")
    invented = {"Author", "Author-email", "Maintainer", "Home-page", "Project-URL"}
    assert not invented & {*said.keys()}


def test_an_index_would_take_both(wheel, archive):
    """Metadata and licence have no fault, and the read-me can be shown, as twine checks them."""
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, archive, folder=wheel.parent)


def test_the_source_distribution_holds_sources_and_docs_alone(archive):
    """Licence, read-me and changelog; no tests, no data of theirs, no products."""
    with tarfile.open(archive) as opened:
        names = [name.partition("/")[2] for name in opened.getnames()]
    tops = {name.split("/", maxsplit=1)[0] for name in names}
    alone = {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "PKG-INFO", ".gitignore"}
    assert tops == {"src", "docs", *alone}
    assert {"src/microveil/py.typed", "docs/index.md"} <= {*names}
    assert not [name for name in names if name.endswith((".pyc", ".csv", ".parquet", ".whl"))]


def test_the_source_distribution_builds_the_same_wheel(archive, wheel, tmp_path):
    """File by file, to the byte."""
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    built(tmp_path, "--wheel", source=tmp_path / archive.name.removesuffix(".tar.gz"))
    assert contents(next(tmp_path.glob("*.whl"))) == contents(wheel)


def test_the_wheel_installs_into_a_fresh_environment_and_works(wheel, tmp_path):
    """With what pip finds by itself, and nothing of the tests' environment."""
    programs = fresh(tmp_path / "environment")
    run(programs / "pip", "install", "--quiet", f"{wheel}[app]", folder=tmp_path)
    check_program(programs, tmp_path)
    check_page([programs / "microveil"], tmp_path)


@pytest.fixture(scope="module")
def plain(wheel, tmp_path_factory):
    """The folder of an environment with the wheel and what it requires, where that works.

    What is compiled there the environments of extras find, which begin as its copies.
    """
    folder = tmp_path_factory.mktemp("plain") / "environment"
    run(fresh(folder) / "pip", "install", "--quiet", wheel, folder=folder)
    run(folder / "bin" / "python", TRIED, "core", folder=folder)
    return folder


JAVA = pytest.mark.skipif(not shutil.which("java"), reason="Spark left out: Java is not installed")
WITH_SPARK = [pytest.param(extra, marks=JAVA) for extra in ("spark", "all")]


@pytest.mark.parametrize("extra", ["pandas", "files", "report", "app", *WITH_SPARK])
def test_an_extra_works_alone(wheel, plain, tmp_path, extra):
    """What it is for is done with no other extra there; pandas is for those who bring frames."""
    folder = tmp_path / "environment"
    shutil.copytree(plain, folder, symlinks=True, copy_function=os.link)
    python = folder / "bin" / "python"
    wanted = "pandas" if extra == "pandas" else f"{wheel}[{extra}]"
    run(python, "-m", "pip", "install", "--quiet", wanted, folder=tmp_path)
    run(python, TRIED, extra, folder=tmp_path)
    if extra in {"app", "all"}:
        run(python, "-m", "microveil", "demo", "-o", "demo", folder=tmp_path)
        check_page((python, "-m", "microveil"), tmp_path)


def test_names_of_extras_of_before_still_install(wheel, plain, tmp_path):
    """Instructions that were written for an earlier version bring at least what they brought."""
    asked = f"{wheel}[disk,evaluate,excel,sql,stat,zstd]"
    said = run(plain / "bin" / "pip", "install", "--dry-run", asked, folder=tmp_path)
    brought = said.partition("Would install ")[2].lower().replace("_", "-")
    before = ("scikit-learn", "formulaic", "fastexcel", "xlsxwriter", "pyreadstat",
        "adbc-driver-postgresql", "backports.zstd")  # fmt: skip
    assert [name for name in before if f"{name}-" not in brought] == []


@pytest.fixture(scope="module")
def gathered(wheel, tmp_path_factory):
    """What `make wheelhouse` makes."""
    folder = tmp_path_factory.mktemp("wheels") / "wheelhouse"
    script = ROOT / "distribution" / "wheelhouse.py"
    run(sys.executable, script, wheel, folder, "--extras", EXTRAS, folder=folder.parent)
    return folder


def shut_off():
    """Return what runs a command where there is no network, if the system has such a thing.

    Where it has not, pip is still told that there is no index.
    """
    unshare = shutil.which("unshare")
    if unshare is None:
        return ()
    tried = subprocess.run([unshare, "-rn", "true"], capture_output=True, check=False)
    return () if tried.returncode else (unshare, "-rn")


NO_INDEX = {
    "PIP_NO_INDEX": "1",
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_EXTRA_INDEX_URL": "",
    "PIP_FIND_LINKS": "",
    "HTTPS_PROXY": "http://127.0.0.1:9",
}


def test_the_wheelhouse_installs_without_a_network(gathered, tmp_path):
    """With every extra that it was made for, and what was installed works there too."""
    programs = fresh(tmp_path / "environment")
    asked = f"microveil[{EXTRAS}]"
    install = (programs / "pip", "install", "--no-index", "--find-links", gathered, asked)
    run(*shut_off(), *install, folder=tmp_path, **NO_INDEX)
    run(programs / "pip", "check", folder=tmp_path)
    check_program(programs, tmp_path, *shut_off())
    check_page([programs / "microveil"], tmp_path)


def test_pip_holds_the_wheelhouse_to_its_hashes(gathered, tmp_path):
    """Every file is listed, and one with a byte more is refused."""
    programs = fresh(tmp_path / "environment")
    folder = tmp_path / "wheelhouse"
    shutil.copytree(gathered, folder)
    install = (programs / "pip", "install", "--no-index", "--find-links", folder)
    install += ("--require-hashes", "-r", folder / "requirements.txt")
    run(*install, "--dry-run", folder=tmp_path, **NO_INDEX)
    run("sha256sum", "--check", "--strict", "SHA256SUMS", folder=folder)
    with next(folder.glob("narwhals-*.whl")).open("ab") as changed:
        changed.write(b"\0")
    with pytest.raises(AssertionError, match="DO NOT MATCH THE HASHES"):
        run(*install, folder=tmp_path, **NO_INDEX)
    with pytest.raises(AssertionError, match=r"narwhals-.*FAILED"):
        run("sha256sum", "--check", "--strict", "SHA256SUMS", folder=folder)
