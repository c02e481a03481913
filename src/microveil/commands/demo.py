"""Invented people in a folder of their own, to try the product on."""

from pathlib import Path

from microveil.datasets import invented_people
from microveil.errors import FileError, refused_by_system
from microveil.files.disk import written_whole

INVENTED = 5000
# What sets other methods next to dp-synthetic, on two columns, with what they need declared.
COMPARED = (
    "--methods", "dp-synthetic,laplace,idp-vector,idp-cbls", "--k", "10", "--epsilon", "3",
    "--delta", "1e-9", "--attributes", "AGE,INCOME", "--bounds", "AGE=16:110",
    "--bounds", "INCOME=0:400000", "--resolution", "INCOME=0.01", "--exact-cells", "allow",
)  # fmt: skip


def write_people(folder: Path) -> Path:
    """Write invented people to people.csv in a folder, which must be new or empty."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_taken = any(folder.iterdir())
    except OSError as error:
        rule = "it cannot be used"
        raise refused_by_system(folder, rule, error, "name another folder") from None
    if is_taken:
        raise FileError(
            f"{folder}", "a demo needs a new or empty folder", "name another folder, or empty it"
        )
    written_whole(folder / "people.csv", invented_people(INVENTED).write_csv)
    return folder / "people.csv"
