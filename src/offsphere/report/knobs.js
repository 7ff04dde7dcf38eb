// The knobs of the page: one frame for each move, everything by textContent, so that no text of the data is markup.
if (live) (() => {
  const { data } = live;
  const at = (id) => document.getElementById(id);
  const made = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const signed = (value, digits = 4) => (value < 0 ? "\u2212" : "+") + Math.abs(value).toFixed(digits);
  const setting = { chain: 0, exponent: 1, weight: null };
  const cosine = live.value({ chain: 0, exponent: 1, weight: null });

  // The curve of the vectors that are chosen, computed when they are chosen first.
  const low = -1, high = 2, step = 0.1, curves = new Map();
  function curve(chain) {
    if (!curves.has(chain)) {
      const points = [];
      for (let k = 0; k <= Math.round((high - low) / step); k++) {
        const exponent = Math.round((low + k * step) * 100) / 100;
        points.push([exponent, live.value({ chain, exponent, weight: null })]);
      }
      curves.set(chain, points);
    }
    return curves.get(chain);
  }

  const picture = at("try-curve"), wide = 640, tall = 190, left = 56, right = 12, upper = 14, lower = 34;
  const drawn = (tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  let scale = null, point = null, level = null;
  function drawCurve() {
    const points = curve(setting.chain), values = points.map(([, value]) => value).concat(cosine);
    const least = Math.min(...values), most = Math.max(...values), room = (most - least || 0.02) * 0.08;
    const x = (exponent) => left + ((exponent - low) / (high - low)) * (wide - left - right);
    const y = (value) => upper + ((most + room - value) / (most - least + 2 * room || 1)) * (tall - upper - lower);
    scale = { x, y };
    picture.replaceChildren();
    for (const share of [0, 0.5, 1]) {
      const value = least + share * (most - least);
      picture.append(drawn("line", { class: "grid", x1: left, x2: wide - right, y1: y(value), y2: y(value) }), drawn("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, value.toFixed(3)));
    }
    for (const [exponent, word] of [[-1, "\u22121"], [0, "0: dot"], [1, "1: cosine"], [2, "2"]]) {
      picture.append(drawn("line", { class: "grid", x1: x(exponent), x2: x(exponent), y1: upper, y2: tall - lower }), drawn("text", { x: x(exponent), y: tall - lower + 16, "text-anchor": exponent === 2 ? "end" : exponent === -1 ? "start" : "middle" }, word));
    }
    level = drawn("line", { class: "level", x1: left, x2: wide - right });
    point = drawn("circle", { class: "point", r: 6 });
    picture.append(drawn("path", { class: "curve", d: "M" + points.map(([exponent, value]) => `${x(exponent).toFixed(1)},${y(value).toFixed(1)}`).join("L") }), level, point);
    picture.append(drawn("text", { x: (left + wide) / 2, y: tall - 2, "text-anchor": "middle" }, "exponent of document length"));
  }

  // A picture by its address, where the page has it; its name is the text beside it.
  const pictured = (address) => {
    if (!address || !address.startsWith("data:image/jpeg;base64,")) return [];
    const image = made("img", "tiny");
    image.src = address;
    image.alt = "";
    return [image];
  };

  // One list of results: its documents, those that are relevant marked.
  function results(entries, scores) {
    const list = made("ol");
    entries.forEach(({ document: number, grade }, rank) => {
      const line = made("li", grade > 0 ? "relevant" : "");
      const about = [data.ids[number], `length ${Number(live.documentLengths[number]).toPrecision(3)}`];
      if (scores) about.push(`score ${scores[rank].toPrecision(4)}`);
      if (grade > 0) about.push("relevant");
      line.append(made("small", "", about.join(" \u00b7 ")), made("br"), ...pictured(data.pictures?.[number]), document.createTextNode(data.texts[number]));
      list.append(line);
    });
    return list;
  }

  // An id as a shell takes it.
  const typed = (id) => (/^[\w.:@/-]+$/.test(id) ? id : "'" + id.replaceAll("'", "'\\''") + "'");

  // The table of queries: sorted, searched, a part of it shown, each row opens.
  const body = at("try-rows"), search = at("try-search"), more = at("try-more"), tally = at("try-count");
  const part = 25;
  // Queries that somebody asked for stay above the others until a head is clicked.
  let limit = part, order = { key: "change", down: true, first: data.asked }, rows = [];
  const change = (row) => (row[2] === null || row[3] === null ? 0 : row[2] - row[3]);
  const keys = {
    query: (number) => (data.queries[number][1] || data.queries[number][0]).toLowerCase(),
    first: (number) => data.queries[number][2] ?? -1,
    second: (number) => data.queries[number][3] ?? -1,
    change: (number) => Math.abs(change(data.queries[number])),
  };
  const open = new Set(data.held ? [0] : []);
  const shown = new Map(); // number of a query: what of its row follows the knobs
  function fill() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = data.queries.map((_, number) => number).filter((number) => {
      const text = (data.queries[number][0] + " " + data.queries[number][1]).toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const key = keys[order.key], sign = order.down ? -1 : 1;
    found.sort((a, b) => (a < order.first || b < order.first ? a - b : key(a) < key(b) ? -sign : key(a) > key(b) ? sign : a - b));
    rows = found;
    body.replaceChildren();
    shown.clear();
    for (const number of rows.slice(0, limit)) addRow(number);
    tally.textContent = `${Math.min(limit, rows.length).toLocaleString("en")} of ${rows.length.toLocaleString("en")}${words.length ? " found" : ""}`;
    if (words.length && data.listed < data.total) tally.textContent += ` among the ${data.listed.toLocaleString("en")} queries listed here, of ${data.total.toLocaleString("en")}`;
    more.hidden = rows.length <= limit;
    follow();
  }
  function addRow(number) {
    const [id, text, first, second] = data.queries[number], held = number < data.held;
    const line = made("tr"), asked = made("td");
    if (held) {
      const button = made("button", "opens", text || id);
      button.type = "button";
      button.setAttribute("aria-expanded", String(open.has(number)));
      button.addEventListener("click", () => {
        if (open.has(number)) open.delete(number);
        else open.add(number);
        const place = shown.get(number);
        button.setAttribute("aria-expanded", String(open.has(number)));
        place.below.hidden = !open.has(number);
        follow();
      });
      asked.append(...pictured(data.query_pictures?.[number]), button);
    } else asked.append(made("span", "", text || id));
    if (text) asked.append(made("small", "id", " " + id));
    if (!held) asked.append(made("br"), made("small", "elsewhere", `results not in this page: audit again with --show ${typed(id)}`));
    const told = (value) => (value === null ? "" : value.toFixed(3));
    const mine = made("td", "mine");
    const gain = change(data.queries[number]);
    line.append(asked, made("td", "", told(first)), made("td", "", told(second)), made("td", gain > 0 ? "better" : gain < 0 ? "worse" : "", first === null ? "" : signed(gain, 3)), mine);
    body.append(line);
    if (!held) return;
    const below = made("tr", "below"), cell = made("td"), three = made("div", "three");
    cell.colSpan = 5;
    const yours = made("div");
    data.compared.forEach((name, side) => {
      const column = made("div");
      column.append(made("h4", "", name), results(live.compared(side, number)));
      three.append(column);
    });
    three.append(yours);
    cell.append(three);
    below.append(cell);
    below.hidden = !open.has(number);
    body.append(below);
    shown.set(number, { mine, below, yours });
  }

  // What follows the knobs in the rows that one sees.
  function follow() {
    const ready = live.prepare(setting), name = live.name(setting);
    for (const [number, { mine, below, yours }] of shown) {
      mine.textContent = live.ndcg(number, ready).toFixed(3);
      if (below.hidden) continue;
      const { places, scores } = live.top(number, ready, 5);
      yours.replaceChildren(made("h4", "", `yours: ${name}`), results(places.map((place) => live.shown(number, place)), scores));
    }
  }

  const slider = at("try-exponent"), told = at("try-exponent-value"), weight = at("try-weight");
  let waiting = false;
  function turn() {
    waiting = false;
    const value = live.value(setting), gain = value - cosine;
    told.textContent = setting.exponent.toFixed(2).replace("-", "\u2212");
    at("try-name").textContent = live.name(setting);
    at("try-value").textContent = value.toFixed(4);
    at("try-gain").textContent = signed(gain);
    at("try-gain").className = gain > 5e-5 ? "better" : gain < -5e-5 ? "worse" : "";
    const mixed = setting.weight !== null;
    at("try-polar").classList.toggle("idle", mixed);
    const across = Math.min(tall - lower, Math.max(upper, scale.y(value)));
    for (const end of ["y1", "y2"]) level.setAttribute(end, across);
    point.setAttribute("cx", scale.x(setting.exponent));
    point.setAttribute("cy", scale.y(value));
    point.style.display = mixed ? "none" : "";
    follow();
  }
  function soon() {
    if (!waiting) requestAnimationFrame(turn);
    waiting = true;
  }
  slider.addEventListener("input", () => {
    setting.exponent = Number(slider.value);
    setting.weight = null;
    weight.value = "";
    soon();
  });
  weight.addEventListener("input", () => {
    const typed = weight.value === "" ? null : Number(weight.value);
    const fits = typed === null || (typed >= 0 && typed <= 1);
    weight.setCustomValidity(fits ? "" : "a number from 0 to 1");
    if (fits) setting.weight = typed;
    soon();
  });
  for (const radio of document.querySelectorAll("input[name=chain]")) radio.addEventListener("change", () => {
    setting.chain = Number(radio.value);
    drawCurve();
    soon();
  });
  at("try-reset").addEventListener("click", () => {
    Object.assign(setting, { chain: 0, exponent: 1, weight: null });
    slider.value = "1";
    weight.value = "";
    document.querySelector("input[name=chain]").checked = true;
    drawCurve();
    soon();
  });
  search.addEventListener("input", () => {
    limit = part;
    fill();
  });
  more.addEventListener("click", () => {
    limit += part;
    fill();
  });
  for (const head of document.querySelectorAll("#try button[data-key]")) head.addEventListener("click", () => {
    const key = head.dataset.key;
    order = { key, down: order.key === key ? !order.down : key !== "query" };
    for (const other of document.querySelectorAll("#try th")) other.removeAttribute("aria-sort");
    head.closest("th").setAttribute("aria-sort", order.down ? "descending" : "ascending");
    fill();
  });
  at("try-note").textContent = data.note;
  drawCurve();
  fill();
  turn();
})();
