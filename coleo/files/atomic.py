"""Atomic writes of state files: whole and durable, or not at all (DESIGN.md section 4 "Writing", case f07)."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def write(path: str, data: bytes, *, mode: int = 0o600) -> None:
    """Put `data` at `path`: a temp file in the same folder, flushed, takes its place, and the folder is flushed.

    On any error the old file is unchanged and no temp file is left. Raises OSError.
    """
    folder = os.path.dirname(path) or "."
    temp = _write_temp(folder, os.path.basename(path), data, mode)
    try:
        os.rename(temp, path)
    except BaseException:
        _unlink(temp)
        raise
    sync_folder(folder)


def create(path: str, data: bytes, *, mode: int = 0o600) -> bool:
    """Make a file that does not exist yet, with its whole content at once. False when it exists. Raises OSError."""
    folder = os.path.dirname(path) or "."
    temp = _write_temp(folder, os.path.basename(path), data, mode)
    try:
        try:
            os.link(temp, path)
        except FileExistsError:
            return False
        except OSError:
            return _create_without_link(path, data, mode)
    finally:
        _unlink(temp)
    sync_folder(folder)
    return True


def _create_without_link(path: str, data: bytes, mode: int) -> bool:
    """For file systems without hard links: exclusive, but a reader may see it half written."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        return False
    try:
        _fill(descriptor, data, mode)
    except BaseException:
        _unlink(path)
        raise
    finally:
        os.close(descriptor)
    return True


def _write_temp(folder: str, name: str, data: bytes, mode: int) -> str:
    temp = os.path.join(folder, f".{name}.{os.urandom(6).hex()}.tmp")
    descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        _fill(descriptor, data, mode)
    except BaseException:
        _unlink(temp)
        raise
    finally:
        os.close(descriptor)
    return temp


def _fill(descriptor: int, data: bytes, mode: int) -> None:
    """All of `data`, whatever the kernel takes at a time; checked by its size and flushed."""
    os.fchmod(descriptor, mode)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    if os.fstat(descriptor).st_size != len(data):
        raise OSError(5, "the file does not have the size that was written")
    os.fsync(descriptor)


def write_json(path: str, obj: object) -> None:
    """`write` of one JSON value, indented by one blank, UTF-8."""
    write(path, json.dumps(obj, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace") + b"\n")


def read_json(path: str) -> Any:
    """The JSON value at `path`, None when there is no file. Raises ValueError for what is no JSON."""
    data = read(path)
    if data is None:
        return None
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read(path: str, limit: int | None = None) -> bytes | None:
    """The bytes at `path` (at most `limit`), None when there is no file. Raises OSError for all other trouble."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        parts: list[bytes] = []
        left = limit if limit is not None else 1 << 62
        while left > 0:
            part = os.read(descriptor, min(left, 1 << 20))
            if not part:
                break
            parts.append(part)
            left -= len(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def sync_folder(folder: str) -> None:
    """Make a rename or a new name durable; file systems that cannot flush a folder are left in peace."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
