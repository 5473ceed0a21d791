"""State files: whole or not at all (DESIGN.md section 4 "Writing", case f07).

A write goes to a temp file in the same folder, is synced, checked and renamed, and the folder is synced. Whoever
reads sees the old content or the new one; on an error (a full disk) the old file stays as it was and no temp file
is left. A process that is killed in between leaves one temp file, which every scan skips and `sweep` removes.
"""

from __future__ import annotations

import errno
import json
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
_CLOEXEC = os.O_CLOEXEC | os.O_NOCTTY


def write(path: str, data: bytes, *, mode: int = 0o600, durable: bool = True) -> None:
    """Replace the file at `path`, or make it. Raises OSError; then the old file is as it was.

    mode: of the new file, whatever the umask. A symlink at `path` is replaced, not followed. durable False: whole,
    but not flushed to the disk: for caches and for what a power cut makes meaningless anyway.
    """
    temp = _temp_file(path, data, mode, durable)
    try:
        os.rename(temp, path)
    except BaseException:
        _remove(temp)
        raise
    if durable:
        sync_folder(os.path.dirname(path))


def create(path: str, data: bytes, *, mode: int = 0o600, durable: bool = True) -> bool:
    """Make a file that must not exist yet, all of its content at once. False if it exists: of many callers one wins.

    Where the file system refuses hard links, the file is made exclusively and then filled. durable: as for `write`.
    """
    temp = _temp_file(path, data, mode, durable)
    try:
        os.link(temp, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if not _create_and_fill(path, data, mode):
            return False
    finally:
        _remove(temp)
    if durable:
        sync_folder(os.path.dirname(path))
    return True


def read(path: str, limit: int | None = None) -> bytes | None:
    """The bytes of a regular file, at most `limit` of them; None when there is no such file.

    Raises OSError for everything else that cannot be read: folders, pipes and devices at once, without waiting.
    """
    fd = open_regular(path)
    if fd is None:
        return None
    try:
        parts = []
        left = limit if limit is not None else -1
        while left:
            part = os.read(fd, 1 << 20 if left < 0 else min(left, 1 << 20))
            if not part:
                break
            parts.append(part)
            left -= len(part) if left > 0 else 0
        return b"".join(parts)
    finally:
        os.close(fd)


def open_regular(path: str, flags: int = os.O_RDONLY) -> int | None:
    """A descriptor of a regular file, or None when there is none. OSError for a folder, a pipe or a device."""
    try:
        fd = _open_without_waiting(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _open_without_waiting(path: str, flags: int) -> int:
    try:
        return os.open(path, flags | _CLOEXEC | os.O_NONBLOCK)
    except BlockingIOError:
        # A regular file under a lease, held for some microseconds (see inplace): the kernel lets us wait for its end.
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise
        return os.open(path, flags | _CLOEXEC)


def write_json(path: str, obj: object, *, mode: int = 0o600) -> None:
    """`write` for a JSON value, readable by people: indented, not escaped."""
    write(path, json_bytes(obj), mode=mode)


def json_bytes(obj: object) -> bytes:
    """The bytes of a JSON file; a lone surrogate becomes an escape, which reads back as it was."""
    return json.dumps(obj, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace") + b"\n"


def read_json(path: str) -> Any:
    """The JSON value in a file, or None when there is no such file. ValueError, with the path, for what is no JSON."""
    data = read(path)
    if data is None:
        return None
    if not data.strip(b"\0 \t\r\n"):
        raise ValueError(f"{path}: the file is empty")
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError(f"{path}: nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def sync_folder(path: str) -> None:
    """Make renames and new names in a folder last. Where that is refused, the change stands all the same."""
    try:
        fd = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.fsync(fd)
    except OSError:
        pass
    finally:
        os.close(fd)


def write_all(fd: int, data: bytes) -> None:
    """Every byte, over as many short writes as it takes. ENOSPC when the system takes none."""
    rest = memoryview(data)
    while rest:
        done = os.write(fd, rest)
        if done <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rest = rest[done:]


def sweep(folder: str, before_at: float) -> list[str]:
    """Remove our own temp files whose last change is before `before_at`; their names. Others' files are left alone."""
    removed: list[str] = []
    try:
        names = os.listdir(folder)
    except OSError:
        return removed
    for name in names:
        if not (name.startswith(".") and name.endswith(".tmp") and name.count(".") >= 3):
            continue
        path = os.path.join(folder, name)
        try:
            found = os.lstat(path)
            if stat.S_ISREG(found.st_mode) and found.st_mtime < before_at:
                os.unlink(path)
                removed.append(name)
        except OSError:
            continue
    return removed


def _temp_file(path: str, data: bytes, mode: int, durable: bool = True) -> str:
    """A file with `data` beside `path`, flushed to the disk when it is to be durable."""
    folder, name = os.path.split(path)
    # At most 255 bytes in a name; a character has at most four.
    short = name if len(name) < 50 else name[:50]
    temp = os.path.join(folder, f".{short}.{os.urandom(6).hex()}.tmp")
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | _CLOEXEC, mode)
    try:
        try:
            _fill(fd, data, mode, durable)
        finally:
            os.close(fd)
    except BaseException:
        _remove(temp)
        raise
    return temp


def _fill(fd: int, data: bytes, mode: int, durable: bool = True) -> None:
    os.fchmod(fd, mode)
    write_all(fd, data)
    if durable:
        os.fsync(fd)
    if os.fstat(fd).st_size != len(data):
        raise OSError(errno.EIO, "the file does not hold what was written")


def _create_and_fill(path: str, data: bytes, mode: int) -> bool:
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | _CLOEXEC, mode)
    except FileExistsError:
        return False
    try:
        try:
            _fill(fd, data, mode)
        finally:
            os.close(fd)
    except BaseException:
        _remove(path)
        raise
    return True


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
