"""The page of an ``Audit``: template, figures and the Vega bundle in one file that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from offsphere.auditing.run import Audit
from offsphere.base.extras import load_extra
from offsphere.base.plain import plain
from offsphere.base.shown_ids import shown_id
from offsphere.comparison.units import unit_of
from offsphere.engines.settings import setting_for
from offsphere.report import learn_figures, scorer_figures, shape_figures, threshold_figures
from offsphere.report.ceiling_figure import ceiling_forest
from offsphere.report.document_groups import document_groups
from offsphere.report.evidence_links import EvidenceLinks
from offsphere.report.figure import Figure
from offsphere.report.group_figure import gains_by_group
from offsphere.report.guide_sections import guide_markup
from offsphere.report.how_measured import how_measured
from offsphere.report.live_data import live_data, live_heads
from offsphere.report.scorer_figures import choice_cells
from offsphere.report.terms import MarkedTerms
from offsphere.report.thumbnails import thumbnail
from offsphere.report.token_figure import token_length_forest
from offsphere.report.vega_bundle import BUILT, made_bundle
from offsphere.wording.glossary import Term
from offsphere.wording.headline import split_headline

LARGEST = 2_950_000  # bytes of a page, which are filled with queries to look at
LIVE_TAG = '<script type="application/json" id="live-data">'  # text from the data is escaped and cannot hold it


def to_html(audit: Audit, engine: str | None = None) -> str:
    """The report of an audit as one HTML file that needs nothing else; all text from the data is escaped.

    Args:
        audit: What ``offsphere.audit`` returned.
        engine: The search engine whose settings are shown first; the first we know unless said.

    Returns:
        The page.

    Raises:
        UnknownNameError: Where no engine of that name is known.
    """
    advice, procedure = audit.advice, audit.table.procedure
    shown = setting_for(advice.settings, engine) if engine is not None else advice.settings[0]
    figures = figures_of(audit)
    told = {finding.sentence: finding for finding in advice.findings}
    page = render(
        "page.html",
        figures,
        audit=audit,
        headlines=[(split_headline(sentence), told[sentence]) for sentence in advice.verdict],
        links=EvidenceLinks({figure.name: figure for figure in figures}),
        guide_markup=guide_markup,
        engine=shown.engine,
        lowered="scorer.lower()" in shown.store,
        choices=choice_cells(procedure) if procedure is not None else [],
        unit=unit_of(audit.table.task),
        how=how_measured(audit.table),
        task=audit.table.task,
        wrong=audit.advice.about("wrong"),
        training=audit.advice.about("training"),
        more=[*audit.advice.about("scorer")[1:], *audit.advice.about("lists")],
        provenance=audit.provenance,
        documents=document_groups(audit.documents),
        live=live_heads(audit.rerankable, audit.compared) if audit.rerankable is not None else None,
        live_script=_unescaped(_read("live.js") + _read("knobs.js")),
    )
    return _with_live_data(page, audit)


def render(name: str, figures: Sequence[Figure], **values: Any) -> str:
    """Fill a template of ours: a page with its figures, style and scripts inside."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(_read),
    )
    environment.filters["shown_id"] = shown_id
    used: dict[str, Term] = {}
    return environment.get_template(name).render(
        terms=lambda: MarkedTerms(used),
        used=used,
        figures={figure.name: figure for figure in figures},
        specs={figure.name: _json_for_script(figure.spec) for figure in figures},
        style=_unescaped(_read("page.css")),
        script=_unescaped(_read("page.js") + _read("copy.js")),
        bundle=_unescaped(vega_bundle()),
        thumbnail=thumbnail,
        tracks=[track.name for track in learn_figures.TRACKS],
        **values,
    )


def _with_live_data(page: str, audit: Audit) -> str:
    """Put what is ranked again into the room that the rest of the page leaves."""
    if audit.rerankable is None:
        return page
    before, tag, after = page.partition(LIVE_TAG)
    data = live_data(audit.rerankable, audit.compared, audit.table.metric, LARGEST - len(page.encode()))
    return f"{before}{tag}{_json_for_script(data)}{after}"


def figures_of(audit: Audit) -> list[Figure]:
    """All figures of an audit that its evidence allows."""
    figures = [
        scorer_figures.forest(audit),
        gains_by_group(audit),
        scorer_figures.exponent_curve_figure(audit),
        shape_figures.length_histogram(audit),
        shape_figures.text_length(audit),
        ceiling_forest(audit),
        token_length_forest(audit),
        shape_figures.spectrum(audit.shape),
        shape_figures.contributions(audit.shape),
        shape_figures.hub_figure(audit.shape),
        scorer_figures.differences(audit),
    ]
    if audit.thresholds is not None:
        figures.append(threshold_figures.cut_curves(audit.thresholds))
    if audit.learned is not None:
        figures += [learn_figures.learned_forest(audit.learned), *learn_figures.learned_tracks(audit.learned)]
    if audit.ablation is not None:
        figures += [learn_figures.grid_forest(audit.ablation), *learn_figures.grid_tracks(audit.ablation)]
    if audit.training is not None:
        figures += learn_figures.training_tracks(audit.training)
    return [figure for figure in figures if figure is not None]


def vega_bundle() -> str:
    """Give the JavaScript of charts that was built with the package; in a checkout that never was, make it.

    Raises:
        MissingExtraError: It was not built, and vl-convert is not installed.
    """
    if (files("offsphere.report") / BUILT).is_file():
        return _read(BUILT)
    load_extra("vl_convert")
    return made_bundle()


def _unescaped(content: str) -> Any:
    """Our own files, which need no escaping; a closing tag inside a script would end it."""
    from markupsafe import Markup

    return Markup(content.replace("</script", "<\\/script"))  # noqa: S704  # ours, not the user's


def _json_for_script(spec: Mapping[str, Any]) -> Any:
    """JSON that cannot end the script it stands in, whatever the data holds."""
    from markupsafe import Markup

    text = json.dumps(plain(spec), allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704  # just escaped


def _read(name: str) -> str:
    return (files("offsphere.report") / name).read_text("utf-8")
