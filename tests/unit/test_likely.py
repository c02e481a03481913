"""What a column may be by its name and the shape of its values."""

import numpy as np
import pytest

from microveil.table import (
    likely_birth,
    likely_body_weight,
    likely_coordinate,
    likely_person,
    likely_units,
    likely_weights,
    missing_seen,
    open_table,
)

N = 60
TWICE = np.arange(N) // 2
AS = {
    likely_person: (
        "caseid CASEID hhid db030 DB030 rb030 hb030 px030 idauniq idhous hid pid personid serial "
        "serialno SERIALNO sporder idno mergeid persnr hhnr pernum hhidpn id_hogar pesel"
    ),
    likely_weights: (
        "fnlwgt pond W_POND PONDERACION gewichte Haushaltsgewichte pesoe pesofit wgt PWGTP12 "
        "pweight perwt hhwt asecwt wtfinl db090 RB050 pb040 phrf hhrf pspwght dweight anweight "
        "factorel FACEXP wegingsfactor extri WEIGHTS"
    ),
    likely_coordinate: (
        "lat LON latitude Longitude Breite breitengrad laengengrad längengrad x_coord Y_COORD "
        "coordx latitud longitudine easting rechtswert geoLat utm_x"
    ),
    likely_birth: "dob yob birthYear geb_jahr Geburtsjahr naissance nascita fecha_nac geboortejaar",
}
NOT = {
    likely_person: "db040 rb090 paid acid covid hsize age serialize income children_no",
    likely_weights: "age rb060x db095 ponder_lbs koerpergewicht peso_kg birth_weight weightless "
    "respond factor growth",
    likely_coordinate: "plate flat platform relation lonely breitband x y coordinator latest",
    likely_birth: "subborn rebirths nace nacional gebiet birds age",
}


@pytest.mark.parametrize("likely", AS, ids=lambda one: one.__name__)
def test_words_of_survey_files_are_known(likely):
    """In the languages of those files, whatever capitals and signs there are."""
    known = {name: likely(open_table({name: TWICE}), name) for name in AS[likely].split()}
    assert [name for name in known if not known[name]] == []
    known = {name: likely(open_table({name: TWICE}), name) for name in NOT[likely].split()}
    assert [name for name in known if known[name]] == []


@pytest.mark.parametrize("name", ["weight", "WEIGHT", "gewicht", "peso", "poids", "waga", "wt"])
def test_a_plain_weight_is_a_survey_s_unless_bodies_are_measured(name):
    """By the columns beside it, or where all values are those of bodies."""
    survey, body = np.linspace(0.4, 2.9, N), np.linspace(41, 118, N)
    height = np.linspace(150, 195, N)
    for table, is_survey in (
        ({name: survey}, True),
        ({name: survey * 5000}, True),
        ({name: body}, False),
        ({name: survey, "HEIGHT": height}, False),
        ({name: body, "groesse": height}, False),
    ):
        opened = open_table(table)
        assert likely_weights(opened, name) is is_survey
        assert likely_body_weight(opened, name) is not is_survey


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([5, -1, 7], ()),
        ([0, 1, 5], ()),
        ([5, -1, -9, 7], (-9, -1)),
        ([5, -2, 7], (-2,)),
        ([5.5, -1.0, 0.0], ()),
    ],
)
def test_minus_one_and_nought_are_no_codes_by_themselves(values, codes):
    """Beside other codes the first is one."""
    assert missing_seen(open_table({"X": np.array(values)}), "X").likely_codes == codes


def test_units_are_known_by_their_shape():
    """They stand together and repeat, a few of each; what is scattered does not."""
    assert likely_units(open_table({"U": TWICE}), "U")
    assert not likely_units(open_table({"U": np.arange(N) % 30}), "U")
