"""What a test on Linux can take from microveil as Windows would: modules, names, answers.

`hide` lets every module of microveil that is imported afterwards see an `os` and a `signal` as
they are on Windows, and none of the modules that are missing there. Other libraries, which have
their own ways on Windows, see the system as it is.
"""

import builtins
import os
import signal
import types

MISSING = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix", "syslog", "crypt"}
OF_OS = [
    "O_CLOEXEC",
    "O_NOFOLLOW",
    "O_NONBLOCK",
    "O_DIRECTORY",
    "O_TMPFILE",
    "O_SYNC",
    "O_DSYNC",
    "O_NOCTTY",
    "O_PATH",
    "fork",
    "forkpty",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getgroups",
    "getpgid",
    "getpgrp",
    "getsid",
    "setsid",
    "setpgid",
    "setuid",
    "killpg",
    "pread",
    "preadv",
    "pwrite",
    "pwritev",
    "fchmod",
    "fchown",
    "chown",
    "lchown",
    "chroot",
    "mkfifo",
    "mknod",
    "sysconf",
    "statvfs",
    "fstatvfs",
    "sched_getaffinity",
    "sched_setaffinity",
    "sched_yield",
    "uname",
    "wait",
    "wait3",
    "wait4",
    "WIFSIGNALED",
    "WEXITSTATUS",
    "getloadavg",
    "nice",
    "sync",
    "fdatasync",
    "lockf",
    "sendfile",
    "pipe2",
    "posix_fadvise",
    "posix_fallocate",
    "posix_spawn",
    "memfd_create",
    "openpty",
    "ttyname",
    "ctermid",
    "getrandom",
    "register_at_fork",
    "fchdir",
    "getxattr",
    "setxattr",
    "splice",
    "eventfd",
    "copy_file_range",
]
OF_SIGNAL = [
    "SIGKILL",
    "SIGHUP",
    "SIGALRM",
    "SIGUSR1",
    "SIGUSR2",
    "SIGPIPE",
    "SIGCHLD",
    "SIGQUIT",
    "SIGSTOP",
    "SIGCONT",
    "SIGWINCH",
    "alarm",
    "setitimer",
    "pause",
    "pthread_kill",
    "pthread_sigmask",
    "sigwait",
    "sigpending",
    "siginterrupt",
]


class Seen(types.ModuleType):
    """A module without what Windows lacks in it."""

    def __init__(self, module, missing, **instead):
        super().__init__(module.__name__)
        self.__dict__.update(instead)
        self._module, self._missing = module, missing

    def __getattr__(self, name):
        if name in self._missing:
            raise AttributeError(f"Windows has no {self.__name__}.{name}")
        return getattr(self._module, name)

    def __setattr__(self, name, value):
        if name.startswith("_"):
            super().__setattr__(name, value)
        else:
            setattr(self._module, name, value)


def _refused(path, flags, *args, **kwargs):
    """Open a file, and no folder: Windows opens none."""
    if os.path.isdir(path):  # noqa: PTH112 -- it may be a number
        raise PermissionError(13, "Permission denied")
    return os.open(path, flags, *args, **kwargs)


def _synced(descriptor):
    """Bring a file to the disk that is open for writing: Windows does it for no other."""
    import fcntl

    if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(9, "Bad file descriptor")
    os.fsync(descriptor)


def _killed(pid, number):
    raise AssertionError(f"Windows would end process {pid} at once, and not send it {number}")


def hide():
    """Let microveil see Windows from here on."""
    plain = builtins.__import__
    seen = {
        "os": Seen(os, {*OF_OS}, name="nt", open=_refused, fsync=_synced, kill=_killed, O_BINARY=0),
        "signal": Seen(signal, {*OF_SIGNAL}),
    }

    def imported(name, globals=None, locals=None, fromlist=(), level=0):  # noqa: A002
        if not str((globals or {}).get("__name__")).startswith("microveil"):
            return plain(name, globals, locals, fromlist, level)
        if level == 0 and name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"Windows has no {name}", name=name)
        found = plain(name, globals, locals, fromlist, level)
        return seen.get(name, found) if level == 0 else found

    builtins.__import__ = imported
