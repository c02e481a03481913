"""What a column may be by its name and by the shape of its values: one table of words.

Words are those of survey files and registers in several languages. A name is taken apart into
words of letters; whole codes of programs (DB030 of EU-SILC) stand with their digits.
"""

import re
from collections.abc import Iterable

import numpy as np
import polars

from microveil.errors import DataError
from microveil.schema import Cells, Kind
from microveil.table.restore import Numbers
from microveil.table.table import Table, numbered_alike

HEAD = 1000
# What repeats like the numbers of households: this share of the records or more are not the first
# of theirs, and none has more.
REPEATED, LARGEST_UNIT = 0.2, 30

# The words, each a pattern over letters in lower case.

# Numbers of people and households, without digits and signs: ID, caseid, persnr, idauniq.
OF_PEOPLE = re.compile(
    "(case|p|hh?|pers?|person|patient|pat|u?subj|subject|resp|respondent|participant|ind|indiv"
    "|individual|house|household|fam|family|member|client|customer|student|pupil|emp|employee"
    "|worker|user|rec|record|row|unique|study|serial|xwave|global|u|gu|uu|merge|hogar|foyer"
    "|menage|haushalt|nucleo)?(id|ident|identifier)s?"
    "|(case|p|per|pers|person|patient|pat|subj|subject|resp|respondent|ind|indiv|client|customer"
    "|student|pupil|employee|rec|record|row|id|ident|serial|study|hh|haushalts?|huishoud)"
    "(nr|no|num|number|nummer)"
    "|id(auniq|hh|hous|hogar|hog|men|ind|pers|pers?on|no|nr)|hhidpn|[ph]idp|seqn|serial|sporder"
    "|ssn|nino|mrn|pnr|bsn|pesel|cpf|dni|nif|nie|nss|svnr|personnummer|codicefiscale"
)
# Numbers of people where nothing else stands in the name: PERSON, not PERSONS or PERSON_AGE.
WHOLE_OF_PEOPLE = re.compile("person|resp|respondent|participant")
# One may number them whose name ends so, if it is no other word, and its values repeat.
ENDS_SO = re.compile(
    "(?!.*(aid|acid|lipid|lid|grid|valid|solid|fluid|covid|oid|bid|mid|kid|rapid|hybrid|humid"
    "|arid|rigid|vivid|avid|liquid)$).*(id|nr)"
)
# What names or reaches a person; and what does only where it is text: NOTE is a grade in German,
# NOMBRE a number in French.
OF_NAMES = re.compile(
    "(full|sur|last|first|fore|given|family|maiden|middle)?names?|vorname|nachname|familienname"
    "|nom|prenom|prénom|apellidos?|cognome|imie|imię|nazwisko|naam|voornaam|achternaam"
    "|fornamn|förnamn|efternamn|ad(d)?ress(e)?|anschrift|street|stra(ss|ß)e|rue|phone"
    "|telephone|telefon|email|mail|iban"
)
OF_TEXT = re.compile(
    "nombres?|mobile|comments?|remarks?|notes?|freetext|bemerkung(en)?|anmerkung(en)?"
    "|kommentare?|freitext|commentaires?|observaciones|uwagi|opmerking(en)?"
)
# EU-SILC: households and persons; weights of its files D, H, R and P.
SILC_PEOPLE = re.compile("[dhrp][bx]030")
SILC_WEIGHTS = re.compile("db0[89]0|rb0(50|6[0-4])|rl070|pb0(40|[5-8]0)")
# A survey's weights (WEIGHTS, fnlwgt, PWGTP1, W_POND, HRF of Hochrechnung), and what may be a
# body's as well.
OF_WEIGHTS = re.compile(
    "[a-z]+weights?|weights|[a-z]*(wgts?|wght|wgtp)|wts|(per|hh|asec|earn|hous|ind|final|samp)wts?"
    "|wt(finl|supp|ss[a-z]*)|pond[a-z]*|peso[ef][a-z]*|pesi|[a-z]*gewichte|hochrechnung[a-z]*"
    "|[hp]*hrf|weegfactor|wegings?factor|factore[lx]|facexp|fexp?|extri[a-z]*|wagi"
)
OF_EITHER = re.compile("weight|wt|[a-z]*gewicht|peso|poids|waga|vikt|vekt|paino")
OF_MASS = re.compile(
    "(over|under|birth|body)(weight)?|(geburts|koerper|körper|lichaams|ueber|über)[a-z]*"
    "|kgs?|kilos?|g|grams?|lbs?|corporel|corporeo|corporal|ciala|masa"
)
# A table that measures bodies: a plain weight in it is one of theirs.
OF_BODIES = re.compile(
    "heights?|bmi|imc|groesse|größe|koerpergroesse|taille|altura|estatura|talla|statura|lengte"
    "|wzrost|langd|längd|hoyde|høyde|pituus"
)
OF_PLACES = re.compile(
    "lat|lon|lng|latitude|longitude|(geo|gps|geograph[a-z]*)?(breite|laenge|länge)(ngrad)?"
    "|(breiten|laengen|längen)grad|latitud|longitud|latitudine|longitudine|[xy]coord[a-z]*"
    "|coord[a-z]*[xy]|easting|northing|rechtswert|hochwert|szerokosc|dlugosc"
)
OF_COORDINATES = re.compile("coord[a-z]*|koord[a-z]*|utm|gps|geo")
OF_BIRTHS = re.compile(
    "dob|yob|birth[a-z]*|born|geb|geb(urt|oren|dat|jahr|tag)[a-z]*|gebj|nais[a-z]*|nascita"
    "|nac|nacim[a-z]*|nascim[a-z]*|urodz[a-z]*|fodt|født|fodelse[a-z]*|födelse[a-z]*|geboorte[a-z]*"
)
# Weights of grown people and children lie here, in kilograms or pounds, and half of them within.
BODY, TYPICAL = (1.5, 700.0), (25.0, 260.0)


def _words(name: str) -> list[str]:
    """Take a name apart: into words of letters, also where a capital begins one."""
    apart = re.sub(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])", " ", name)
    return re.findall(r"[^\W\d_]+", name.casefold()) + re.findall(r"[^\W\d_]+", apart.casefold())


def _called(name: str, words: re.Pattern[str]) -> bool:
    return any(map(words.fullmatch, _words(name)))


def likely_identifier(table: Table, name: str) -> bool:
    """Whether a numeric column holds whole numbers that are all different."""
    if table.kind(name) not in (Kind.WHOLE, Kind.DECIMAL):
        return False
    numbers = table.numbers(name, shared=True)
    # The first records tell of most columns that they are none, without a look at all of it.
    if not _are_different_and_whole(present(numbers.in_order(slice(0, HEAD)))):
        return False
    values = present(numbers)
    return len(values) > 1 and _are_different_and_whole(values)


def likely_person(table: Table, name: str) -> bool:
    """Whether a column is called as the numbers of people are, and holds whole numbers or text."""
    if not named_like_person(name):
        return False
    kind = table.kind(name)
    if kind is Kind.DECIMAL:
        values = present(table.numbers(name, shared=True))
        if not np.array_equal(np.rint(values), values):
            return False
    elif kind not in (Kind.WHOLE, Kind.OTHER):
        return False
    is_sure = _named_as_people(name)
    return is_sure or table.n_records <= LARGEST_UNIT * values_repeated(table, name)


def likely_name(table: Table, name: str) -> bool:
    """Whether text is called as people's names, addresses and free text are."""
    is_called = named_like_name(name) or OF_TEXT.fullmatch(_letters(name)) is not None
    return table.kind(name) is Kind.OTHER and is_called


def named_like_person(name: str) -> bool:
    """Whether a column is called as the numbers of people are: by its name alone."""
    called = "".join(re.findall("[a-z]+", name.casefold()))
    return _named_as_people(name) or ENDS_SO.fullmatch(called) is not None


def named_like_name(name: str) -> bool:
    """Whether a column is called as people's names and addresses are: by its name alone."""
    return OF_NAMES.fullmatch(_letters(name)) is not None


def named_like_weight(name: str, others: Iterable[str]) -> bool:
    """Whether a column is called as a survey's weights are: by its name and ``others`` beside it.

    A plain weight is one unless another column is called as what bodies are measured by.
    """
    if _called(name, OF_MASS):
        return False
    if _called(name, OF_WEIGHTS) or SILC_WEIGHTS.fullmatch(name.casefold()):
        return True
    return _called(name, OF_EITHER) and not any(_called(other, OF_BODIES) for other in others)


def _named_as_people(name: str) -> bool:
    whole = name.casefold()
    called = "".join(re.findall("[a-z]+", whole))
    patterns = OF_PEOPLE.fullmatch(called), SILC_PEOPLE.fullmatch(whole)
    return any(patterns) or WHOLE_OF_PEOPLE.fullmatch(whole) is not None


def _letters(name: str) -> str:
    return "".join(re.findall(r"[^\W\d_]+", name.casefold()))


def values_repeated(table: Table, name: str) -> int:
    """Count the different values of a column of which some are there twice; 0 where none is."""
    try:
        alike, absent = numbered_alike(table, name)
    except DataError:
        return 0
    held = alike[~absent]
    n_values = polars.Series(held).n_unique()
    return n_values if n_values < len(held) else 0


def likely_units(table: Table, name: str) -> bool:
    """Whether whole numbers or text repeat as those of households do: together, a few of each."""
    kind = table.kind(name)
    if kind is Kind.DECIMAL:  # as statistical packages store whole numbers
        values = present(table.numbers(name, shared=True))
        if not np.array_equal(np.rint(values), values):
            return False
    elif kind not in (Kind.WHOLE, Kind.OTHER):
        return False
    try:
        alike, absent = numbered_alike(table, name)
    except DataError:
        return False
    begins = np.flatnonzero(np.diff(alike, prepend=-1, append=-1))
    n_runs = len(begins) - 1
    repeated = len(alike) - n_runs >= REPEATED * len(alike)
    if absent.any() or n_runs <= 2 or not repeated or np.diff(begins).max() > LARGEST_UNIT:
        return False
    return polars.Series(alike).n_unique() == n_runs  # no unit's records lie apart


def likely_weights(table: Table, name: str) -> bool:
    """Whether a column is called as a survey's weights are, and holds numbers of 0 or more."""
    if not (named_like_weight(name, table.names) and _may_weigh(table, name)):
        return False
    return not _called(name, OF_EITHER) or _called(name, OF_WEIGHTS) or not _of_bodies(table, name)


def likely_body_weight(table: Table, name: str) -> bool:
    """Whether a column is called as weights are, and is a body's by its name, table or range."""
    if not (_called(name, OF_EITHER) or _called(name, OF_WEIGHTS)) or not _may_weigh(table, name):
        return False
    return not likely_weights(table, name)


def _may_weigh(table: Table, name: str) -> bool:
    if table.kind(name) not in (Kind.WHOLE, Kind.DECIMAL):
        return False
    values = present(table.numbers(name, shared=True))
    return bool(values.any() and not (values < 0).any())


def _of_bodies(table: Table, name: str) -> bool:
    """Whether numbers lie where the weights of bodies do."""
    values = present(table.numbers(name, shared=True))
    within = bool((values >= BODY[0]).all() and (values <= BODY[1]).all())
    return within and TYPICAL[0] <= float(np.median(values)) <= TYPICAL[1]


def likely_coordinate(table: Table, name: str) -> bool:
    """Whether numbers are called as coordinates are: they show where somebody lives."""
    if table.kind(name) not in (Kind.WHOLE, Kind.DECIMAL):
        return False
    words = _words(name)
    return _called(name, OF_PLACES) or (
        _called(name, OF_COORDINATES) and bool({"x", "y", "e", "n", "east", "north"} & {*words})
    )


def likely_birth(table: Table, name: str) -> bool:
    """Whether a column is called as dates or years of birth are, and holds such."""
    return table.kind(name) in (Kind.DATE, Kind.WHOLE) and _called(name, OF_BIRTHS)


def present(numbers: Numbers) -> Cells:
    """Return the values of a column that are there, and finite."""
    values = numbers.values if numbers.missing is None else numbers.values[~numbers.missing]
    return values[np.isfinite(values)] if values.dtype.kind == "f" else values


def _are_different_and_whole(values: Cells) -> bool:
    """Whether they are whole numbers of which none is there twice."""
    whole = values.dtype.kind == "i" or bool(np.array_equal(np.rint(values), values))
    return whole and polars.Series(values).n_unique() == len(values)
