"""Files of the web: fetched whole and never onto the disk, or refused in our words."""

import datetime
import gzip
import ipaddress
import json
import ssl
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import polars as pl
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import microveil as mv
from command import run
from microveil.commands.files import protect_file
from microveil.commands.measuring import assess_files
from microveil.files import download
from microveil.files.reading import read_file
from microveil.table import memory

SECRET = "SECRET77"
TABLE = pl.DataFrame({"AGE": range(20, 60), "NAME": [SECRET, "x"] * 20})
CSV = TABLE.write_csv().encode()
ASKED = {"method": "dp-um", "k": 5, "epsilon": 1, "attributes": ["AGE"], "bounds": {"AGE": (0, 99)}}


class Site(BaseHTTPRequestHandler):
    """Pages by their path: what is fetched, and what goes wrong."""

    asked = ()

    def do_GET(self):
        type(self).asked = (self.path, dict(self.headers))
        page = self.path.partition("?")[0].strip("/").replace("/", "_").replace(".", "_")
        getattr(self, page, self.missing)()

    def answer(self, body, code=200, **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def people_csv(self):
        self.answer(CSV, Content_Length=str(len(CSV)))

    def people_csv_gz(self):
        self.answer(gzip.compress(CSV))  # of a size that is not said

    def unsaid_csv(self):
        self.answer(CSV)

    def bomb_csv_gz(self):
        self.answer(gzip.compress(b"A\n" + b"1\n" * 5_000_000))

    def moved_csv(self):
        self.answer(b"", 302, Location="/people.csv")

    def elsewhere_csv(self):
        self.answer(b"", 301, Location=self.path.partition("?")[2])

    def around_csv(self):
        self.answer(b"", 302, Location="/around.csv")

    def cut_csv(self):
        self.answer(CSV[:100], Content_Length=str(len(CSV)))

    def chunked_csv(self):
        self.answer(b"ff\r\n" + CSV[:20], Transfer_Encoding="chunked")

    def slow_csv(self):
        self.answer(CSV[:20], Content_Length=str(len(CSV)))
        time.sleep(3)

    def broken_csv(self):
        self.wfile.write(b"HTTP/1.1 " + SECRET.encode() + b"\r\n\r\n")

    def large_csv(self):
        self.answer(CSV, Content_Length=str(10**15))

    def missing(self):
        self.answer(SECRET.encode() * 20, 404)

    def log_message(self, *_arguments):
        pass


@pytest.fixture(scope="module")
def site():
    """Return the address of a site, all of whose errors are quick."""
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), Site) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("no_proxy", "*")
        patch.setattr(download, "_SECONDS", 1.5)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def refusal(place):
    """Return the error of reading, which must be ours and hold nothing that was fetched."""
    with pytest.raises(mv.FileError) as caught:
        mv.read(place)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def test_a_file_is_read_as_from_the_disk(site, tmp_path, monkeypatch):
    """Of any format, compressed too, with the digest of its bytes, and without a copy of it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))  # where no file can be made
    (tmp_path / "people.csv").write_bytes(CSV)
    read = read_file(f"{site}/people.csv")
    assert read.frame.equals(TABLE)
    assert read.digest == read_file(tmp_path / "people.csv").digest
    assert read_file(f"{site}/people.csv.gz").frame.equals(TABLE)
    assert read_file(f"{site}/moved.csv").frame.equals(TABLE)


def test_a_release_says_the_name_of_the_file_alone(site, tmp_path):
    """What stands behind it in a URL may open doors: it is sent, and nothing is said of it."""
    place = f"{site}/people.csv?token={SECRET}"
    done = run(
        "protect", place, "--method=dp-um", "--k=5", "--epsilon=1", "--attributes=AGE",
        "--bounds=AGE=0:99", "--population=all", "-o", "out", folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert Site.asked[0] == f"/people.csv?token={SECRET}"
    manifest = json.loads((tmp_path / "out-custodian" / "manifest.json").read_text())
    assert manifest["input"]["name"] == "people.csv"
    for path in tmp_path.rglob("*.*"):
        assert SECRET.encode() not in path.read_bytes(), path
    assert SECRET not in done.stdout + done.stderr
    done = run("inspect", place, "-o", "recipe.toml", folder=tmp_path)
    assert SECRET not in done.stdout + done.stderr
    assert "protect DATA --recipe" in done.stdout
    assert assess_files(place, tmp_path / "out", ["AGE"], text=None).guarantee is not None
    assert SECRET not in refusal(f"{site}/none.csv?token={SECRET}")
    protect_file(f"{site}/people.csv.gz", tmp_path / "packed", **ASKED)
    assert (tmp_path / "packed" / "data.csv.gz").exists()


@pytest.mark.parametrize(
    ("page", "rule"),
    [
        ("none.csv", "it answers 404"),
        ("around.csv", "it answers 302"),
        ("cut.csv", "must be fetched whole"),
        ("chunked.csv", "must be fetched whole"),
        ("broken.csv", "must be fetched whole"),
        ("slow.csv", "within 1.5 seconds"),
        ("large.csv", "half of the memory that is free"),
        ("people.pdf", "must end with one of"),
    ],
)
def test_what_does_not_come_whole_is_refused(site, page, rule):
    """In words of ours, none of the server's; the command line ends with 2."""
    assert rule in refusal(f"{site}/{page}")


def test_a_file_larger_than_memory_is_refused_on_the_way(site, monkeypatch):
    """Where the server does not say its size, and where it unpacks to more."""
    monkeypatch.setattr(memory, "free_memory", lambda: 600)
    assert "half of the memory" in refusal(f"{site}/people.csv")
    assert "half of the memory" in refusal(f"{site}/unsaid.csv")
    monkeypatch.setattr(memory, "free_memory", lambda: 1_000_000)
    assert "half of the memory" in refusal(f"{site}/bomb.csv.gz")


@pytest.mark.parametrize("target", ["file:///etc/hostname", "ftp://127.0.0.1/p.csv", "data:,A"])
def test_a_redirection_leads_nowhere_but_to_the_web(site, target):
    """A server cannot name files of this machine."""
    said = refusal(f"{site}/elsewhere.csv?{target}")
    assert "a redirection must lead to http or https" in said or "it answers 301" in said


def test_nobody_there_is_an_error_of_ours(site):
    """Without the words of the system."""
    assert site
    assert "the server must be reached" in refusal("http://127.0.0.1:9/people.csv")


def test_no_server_is_sent_who_asks(site, monkeypatch, tmp_path):
    """Neither from what a program installed, nor from a file of passwords."""
    (tmp_path / ".netrc").write_text(f"machine 127.0.0.1 login ann password {SECRET}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    read_file(f"{site}/people.csv")
    assert SECRET not in str(Site.asked)
    assert "Authorization" not in Site.asked[1]


# Encrypted ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def encrypted(site, tmp_path_factory):
    """Return the address of the site by TLS, and its certificate, which nobody signed."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    host = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([host]), critical=False)
        .sign(key, hashes.SHA256())
    )
    form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    certificate, private = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private)
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        assert site
        yield f"https://127.0.0.1:{server.server_port}", certificate
        server.shutdown()


def test_a_server_that_nobody_vouches_for_is_refused(encrypted):
    """Its certificate is looked at."""
    assert "its certificate is not valid" in refusal(f"{encrypted[0]}/people.csv")


def test_a_redirection_keeps_to_what_is_encrypted(encrypted, site, monkeypatch):
    """From https to https, never to http; from http to https it may lead."""
    place, certificate = encrypted
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert read_file(f"{place}/moved.csv").frame.equals(TABLE)
    assert read_file(f"{site}/elsewhere.csv?{place}/people.csv").frame.equals(TABLE)
    said = refusal(f"{place}/elsewhere.csv?{site}/people.csv")
    assert "from https to https" in said
