"""Options are read and checked by the types of their fields."""

from __future__ import annotations

import pytest

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.learning.objective.contrastive_options import read_field, read_options


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("batch=64", 64),
        ("batch=6e2", 600),
        ("epochs=none", None),
        ("rate=1e-3", 0.001),
        ("temperature=none", None),
        ("within=true", True),
        ("within=none", None),
        ("from_scratch=false", False),
        ("normalize=query", "query"),
        ("normalize=none", "none"),
        ("normalize=1,0.5", (1.0, 0.5)),
        ("length_target=2,0.5", (2.0, 0.5)),
        ("length_target=2", (2.0, 1.0)),
        ("length_target=none", None),
        ("dimensions=8,16", (8, 16)),
        ("prompts=query: ,passage: ", ("query: ", "passage: ")),
        ("loss=clip", "clip"),
    ],
)
def test_a_field_is_read_by_its_type(text, value):
    name = text.partition("=")[0]
    read = read_options([text], osp.EncoderRecipe)[name]
    assert (read, type(read)) == (value, type(value))
    assert read_field(name, text.partition("=")[2], osp.EncoderRecipe) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("batch=many", r"^batch = 'many': expected int, written as NAME=VALUE$"),
        ("epochs=inf", r"^epochs = 'inf': expected int \| None, written as NAME=VALUE$"),
        ("within=yes", r"^within = 'yes': expected bool \| None, written as NAME=VALUE$"),
        ("dimensions=8,x", r"^dimensions = '8,x': expected tuple\[int, \.\.\.\], written as NAME=VALUE$"),
        ("length_target=x", r"^length_target = 'x': expected tuple\[float, float\] \| None, written as NAME=VALUE$"),
        ("normalize=quary", "did you mean query"),
        ("btach=3", r"^unknown option 'btach': did you mean batch"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_line(text, message):
    with pytest.raises(OffsphereError, match=message):
        read_options([text], osp.EncoderRecipe)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch": 2.5}, r"^batch = 2\.5: expected int$"),
        ({"batch": True}, r"^batch = True: expected int$"),
        ({"temperature": "0.1"}, r"^temperature = '0\.1': expected float \| None$"),
        ({"within": 1}, r"^within = 1: expected bool \| None$"),
        ({"loss": 3}, r"^loss = 3: expected str$"),
    ],
)
def test_a_value_of_another_type_is_refused(options, message):
    with pytest.raises(OffsphereError, match=message):
        osp.Recipe(**options)


def test_a_whole_number_is_a_number():
    assert osp.Recipe(rate=1, temperature=None).rate == 1
