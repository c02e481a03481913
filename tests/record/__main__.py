"""Write the record anew, or the texts that it is the digests of."""

from record.sections import RECORD, SECTIONS
from record.writing import write_record

write_record(RECORD, SECTIONS)
