"""Names that PostgreSQL would cut."""

import polars as pl
import pytest

import microveil as mv
from postgresql_server import server

pytestmark = pytest.mark.postgresql


def test_a_name_that_postgresql_would_cut_is_refused(tmp_path):
    """By the column, with the limit, before a table or a folder appears; 63 bytes are written."""
    asked = {"method": "mdav", "k": 5, "attributes": ["AGE"]}
    with server() as folder:
        into = f"postgresql://steward@/postgres?host={folder}&table=released"
        for name, is_written in (("ä" * 32, False), ("x" * 64, False), ("x" * 63, True)):
            frame = pl.DataFrame({"AGE": range(40), name: range(40)})
            release = mv.protect(frame, keep=[name], **asked)
            if is_written:
                release.write(tmp_path / "out", into=into)
                assert mv.read(into).frame.columns == ["AGE", name]
                continue
            with pytest.raises(mv.FileError, match=rf"column '{name[:30]}.* at most 63 bytes"):
                release.write(tmp_path / "out", into=into)
            assert list(tmp_path.iterdir()) == []
