"""The page: template, figures and the Vega bundle in one file that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from offsphere.audit.run import Audit
from offsphere.base.plain import plain
from offsphere.report import learn_figures, scorer_figures, shape_figures
from offsphere.report.figure import Figure


def to_html(found: Audit) -> str:
    """The whole report. All text from the data is escaped."""
    return rendered(
        "page.html",
        figures_of(found),
        found=found,
        task=found.table.task,
        wrong=found.advice.about("wrong"),
        training=found.advice.about("training"),
        more=found.advice.about("scorer")[1:],
        provenance=found.provenance,
    )


def rendered(name: str, figures: Sequence[Figure], **values: Any) -> str:
    """A page with its figures, style and scripts inside."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(_read),
    )
    return environment.get_template(name).render(
        figures={figure.name: figure for figure in figures},
        specs={figure.name: _inside_script(figure.spec) for figure in figures},
        style=_safe(_read("page.css")),
        script=_safe(_read("page.js")),
        bundle=_safe(_bundle()),
        tracks=[track[0] for track in (*learn_figures.TRACKS, *learn_figures.MORE)],
        **values,
    )


def figures_of(found: Audit) -> list[Figure]:
    """All figures that the evidence allows."""
    made = [
        scorer_figures.forest(found),
        scorer_figures.sweep(found),
        shape_figures.length_histogram(found),
        shape_figures.text_length(found),
        shape_figures.spectrum(found),
        shape_figures.contributions(found),
        shape_figures.hubs(found),
        scorer_figures.differences(found),
    ]
    if found.learned is not None:
        made += [learn_figures.learned_forest(found.learned), *learn_figures.learned_tracks(found.learned)]
    if found.ablation is not None:
        made += [learn_figures.grid_forest(found.ablation), *learn_figures.grid_tracks(found.ablation)]
    if found.training is not None:
        made += learn_figures.training_tracks(found.training)
    return [figure for figure in made if figure is not None]


def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed, as the installed vl-convert carries them."""
    import altair as alt
    import vl_convert

    wanted = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    known = vl_convert.get_vegalite_versions()
    bundle: str = vl_convert.javascript_bundle(vl_version=wanted if wanted in known else known[-1])  # type: ignore[call-arg]
    return bundle


def _safe(content: str) -> Any:
    """Our own files, which need no escaping; a closing tag inside a script would end it."""
    from markupsafe import Markup

    return Markup(content.replace("</script", "<\\/script"))  # noqa: S704  # ours, not the user's


def _inside_script(spec: Mapping[str, Any]) -> Any:
    """JSON that cannot end the script it stands in, whatever the data holds."""
    from markupsafe import Markup

    text = json.dumps(plain(spec), allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704  # just escaped


def _read(name: str) -> str:
    return (files("offsphere.report") / name).read_text("utf-8")
