"""PostgreSQL as Debian packs it, started for tests: by a socket in a folder of its own alone."""

import contextlib
import functools
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["PROGRAMS", "server"]

_FOUND = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
# Of the newest version that is installed; None where there is none.
PROGRAMS = next((path for path in reversed(_FOUND) if (path / "initdb").exists()), None)
RULES = "local all guarded scram-sha-256\nlocal all all trust\n"


@contextlib.contextmanager
def server():
    """Run a server, and give the folder of its socket; the user "guarded" needs a password."""
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path must be short
    how = {"cwd": folder, "check": True, "stdout": subprocess.DEVNULL}
    if os.geteuid() == 0:  # as which it refuses to run
        names = {entry.pw_name: entry for entry in pwd.getpwall()}
        other = names.get("postgres") or names["nobody"]
        os.chown(folder, other.pw_uid, other.pw_gid)
        how |= {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}
    data, log = folder / "data", folder / "log"
    call = functools.partial(subprocess.run, **how)
    make = ("-D", data, "-A", "trust", "-U", "steward", "-E", "UTF8", "--no-locale", "--no-sync")
    run = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
    try:
        call([PROGRAMS / "initdb", *make])
        (data / "pg_hba.conf").write_text(RULES)
        control = PROGRAMS / "pg_ctl"
        call([control, "-D", data, "-l", log, "-o", run, "-w", "start"])
        try:
            yield folder
        finally:
            call([control, "-D", data, "-m", "immediate", "-w", "stop"])
    finally:
        shutil.rmtree(folder)
