"""What the system refuses is told as such; everything else stays a bug."""

from __future__ import annotations

import errno

import pytest

from coleo.model.errors import refused_by_system


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EMFILE])
def test_what_a_person_can_mend_names_the_file_and_what_to_do(number: int) -> None:
    refused = refused_by_system(OSError(number, "refused", "/some/file"))
    assert refused is not None
    assert (refused.exit_code, refused.file, refused.found) == (1, "/some/file", "refused")
    assert refused.todo


@pytest.mark.parametrize(
    "error", [OSError(errno.EBADF, "bad"), OSError("no number"), FileNotFoundError(errno.ENOENT, "")]
)
def test_what_nobody_can_mend_stays_a_bug(error: OSError) -> None:
    assert refused_by_system(error) is None
