// Draw every figure in the colours of the page, and again when these change.
const themes = {
  light: { accent: "#2563c9", second: "#c2601a", muted: "#6f757d", ink: "#1c1d1f", soft: "#5d6167", line: "#e3e5e8" },
  dark: { accent: "#7fb0ff", second: "#f0a15e", muted: "#969ca4", ink: "#e9eaec", soft: "#a2a7ae", line: "#33373d" },
};
const dark = matchMedia("(prefers-color-scheme: dark)");
const print = matchMedia("print");

function config(theme, narrow) {
  return {
    background: "transparent",
    font: "system-ui, sans-serif",
    view: { stroke: null },
    axis: { labelColor: theme.soft, titleColor: theme.soft, gridColor: theme.line, domainColor: theme.line, tickColor: theme.line, titleFontWeight: "normal", labelLimit: narrow ? 130 : 260 },
    legend: { labelColor: theme.soft, titleColor: theme.soft, labelLimit: 260, columns: narrow ? 1 : 0 },
    text: { fill: theme.soft },
  };
}
function drawOne(place) {
  const theme = dark.matches && !print.matches ? themes.dark : themes.light;
  let text = document.getElementById("spec-" + place.dataset.figure).textContent;
  for (const name of ["accent", "second", "muted"]) text = text.replaceAll('"@' + name + '"', '"' + theme[name] + '"');
  const options = { renderer: "svg", actions: false, config: config(theme, place.clientWidth < 560) };
  return vegaEmbed(place, JSON.parse(text), options).catch((error) => console.error(error));
}
const draw = () => document.querySelectorAll(".chart").forEach(drawOne);

// At first a chart at a time, so that the page answers in between; whoever prints at once gets all at once.
(async () => {
  for (const place of document.querySelectorAll(".chart")) {
    await new Promise((go) => setTimeout(go));
    if (!place.firstChild) await drawOne(place);
  }
})();
dark.addEventListener("change", draw);
print.addEventListener("change", draw);

// A term's meaning stands below it, inside the window; without this script it stands at the foot of the window.
function put(term) {
  if (!term) return;
  const tip = term.querySelector(".tip");
  Object.assign(tip.style, { left: "0", top: "0", right: "auto", bottom: "auto" });
  const word = term.getBoundingClientRect(), size = tip.getBoundingClientRect();
  const below = word.bottom + 6 + size.height <= innerHeight ? word.bottom + 6 : word.top - 6 - size.height;
  tip.style.left = Math.max(8, Math.min(word.left, document.documentElement.clientWidth - size.width - 8)) + "px";
  tip.style.top = Math.max(8, below) + "px";
}
function show(event) {
  const term = event.target.closest?.(".term");
  term?.classList.remove("quiet");
  put(term);
}
document.addEventListener("mouseover", show);
document.addEventListener("focusin", show);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") for (const term of document.querySelectorAll(".term")) term.classList.toggle("quiet", term.matches(":hover, :focus"));
});
addEventListener("scroll", () => put(document.activeElement?.closest(".term")), { passive: true });
