"""SPSS files whose data are compressed."""

from functools import partial

from microveil.files.spss_format import batches as _batches
from microveil.files.spss_format import opened, outlined

__all__ = ["batches", "opened", "outlined"]

batches = partial(_batches, is_packed=True)
