"""Looking at and making things below a folder that a jail could write, without following any link that it planted.

Every path is walked from a trusted `root`, one component at a time, by directory descriptors.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal

from hqt.errors import ServiceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path, PurePath
    from typing import BinaryIO

Kind = Literal["missing", "file", "folder", "link", "other"]
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def kind(root: Path, relative: PurePath) -> Kind:
    """Return what is at `root/relative`; "link" also when a folder on the way is one."""
    try:
        with _opened(root, relative.parent) as folder:
            mode = os.stat(relative.name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError as error:
        if error.errno == errno.ELOOP:
            return "link"
        if error.errno == errno.ENOTDIR:
            return "link" if _has_link(root, relative) else "missing"
        if error.errno == errno.ENOENT:
            return "missing"
        raise ServiceError(f"cannot look at {root / relative}: {error.strerror}") from error
    if stat.S_ISLNK(mode):
        return "link"
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"


def make_folder(root: Path, relative: PurePath) -> None:
    """Make `root/relative` and the folders on the way, where they are missing."""
    with _refusing_links(root, relative), _opened(root, relative, make=True):
        pass


def make_file(root: Path, relative: PurePath, content: bytes) -> None:
    """Make the file `root/relative` with that content, unless something is there."""
    with _refusing_links(root, relative), _opened(root, relative.parent, make=True) as folder:
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(relative.name, flags, 0o600, dir_fd=folder)
        except FileExistsError:
            return
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)


def replace_file(root: Path, relative: PurePath, content: bytes) -> None:
    """Put a file for the user alone at `root/relative`, whole or not at all, in place of a file or link that is there.

    Raises:
        OSError: it cannot be written, or a folder on the way is a link.

    """
    with _opened(root, relative.parent, make=True) as folder:
        fresh = f".{relative.name}.{secrets.token_hex(8)}"  # a name that nobody can have planted
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(fresh, flags, 0o600, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            os.replace(fresh, relative.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(fresh, dir_fd=folder)
            raise


def read_file(root: Path, relative: PurePath, limit: int) -> bytes:
    """Return at most `limit` bytes of the regular file `root/relative`; nothing when it is missing or none."""
    with opened_file(root, relative) as file:
        return file.read(limit) if file else b""


@contextmanager
def opened_file(root: Path, relative: PurePath) -> Iterator[BinaryIO | None]:
    """Open the regular file `root/relative` for reading; None when it is missing or none."""
    if kind(root, relative) != "file":
        yield None
        return
    with _refusing_links(root, relative), _opened(root, relative.parent) as folder:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(relative.name, flags, dir_fd=folder), "rb") as file:
            yield file


@contextmanager
def _opened(root: Path, relative: PurePath, *, make: bool = False) -> Iterator[int]:
    descriptor = os.open(root, _FOLDER)
    try:
        for part in relative.parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=descriptor)
            inner = os.open(part, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _refusing_links(root: Path, relative: PurePath) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        what = "is a link or not a folder" if error.errno in (errno.ELOOP, errno.ENOTDIR) else error.strerror
        raise ServiceError(f"cannot guard {root / relative}: {what}", "replace it by a plain file or folder") from error


def _has_link(root: Path, relative: PurePath) -> bool:
    path = root
    for part in relative.parts:
        path /= part
        if path.is_symlink():
            return True
    return False
