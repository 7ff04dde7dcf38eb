"""The page of ``factorize demo``: pictures of the cosines of learned factors, which differ while no score does."""

from __future__ import annotations

from importlib.resources import files

from offsphere.factors.experiment import Experiment
from offsphere.report.raster import picture


def factors_to_html(experiment: Experiment) -> str:
    """The experiment as one HTML file that needs nothing else: verdict, a picture a panel, and the table."""
    import jinja2
    from markupsafe import Markup

    here = files("offsphere.report")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string((here / "factors.html").read_text("utf-8"))
    style = Markup((here / "page.css").read_text("utf-8"))  # noqa: S704  # ours, not the user's
    panels = [(panel, picture(panel.cosines)) for panel in experiment.panels]
    return template.render(experiment=experiment, panels=panels, style=style)
