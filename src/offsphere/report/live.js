// Rank again by the library's formulas: the page holds inner products, lengths and grades, and no vectors.
const live = (() => {
  const holder = document.getElementById("live-data");
  if (!holder) return null;
  const data = JSON.parse(holder.textContent);
  const bytes = (text) => {
    const letters = atob(text), array = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) array[i] = letters.charCodeAt(i);
    return array.buffer;
  };
  const numbers = data.bytes === 2 ? Uint16Array : Uint32Array;
  const { held, width, nothing } = data, count = data.ids.length;
  const candidates = new numbers(bytes(data.candidates)), pair = new numbers(bytes(data.pair));
  const dots = new Float32Array(bytes(data.dots));
  const queryLengths = new Float32Array(bytes(data.query_lengths));
  const documentLengths = new Float32Array(bytes(data.document_lengths));
  const grades = new Float64Array(held * width);
  for (const [query, place, grade] of data.grades) grades[query * width + place] = grade;
  const depth = Number(data.metric.split("@")[1]);
  const discounts = Array.from({ length: depth }, (_, rank) => 1 / Math.log2(rank + 2));
  const total = data.weights.reduce((sum, weight) => sum + weight, 0);

  // What a setting is called in the library; `offsphere compare --scorer` takes the same.
  function name(setting) {
    const number = (value) => String(Math.round(value * 1e6) / 1e6);
    const formula = setting.weight !== null ? `norm-mix(${number(setting.weight)})`
      : setting.exponent === 1 ? "cosine" : setting.exponent === 0 ? "dot" : `polar(1, ${number(setting.exponent)})`;
    const chain = data.chains[setting.chain];
    return chain ? `${chain} + ${formula}` : formula;
  }

  // What each document gives to a score, once for all queries: 1 / |d|^g, or |d| itself where lengths are mixed in.
  function prepare(setting) {
    const start = setting.chain * count, powers = new Float64Array(count);
    const exponent = setting.weight !== null ? 1 : setting.exponent;
    for (let i = 0; i < count; i++) powers[i] = exponent === 0 ? 1 : 1 / Math.pow(documentLengths[start + i], exponent);
    return { ...setting, start, powers };
  }

  // The best documents of a query under a prepared setting: places among its candidates, and scores; ties by document.
  function top(query, ready, most = depth) {
    const first = query * width, row = (ready.chain * held + query) * width;
    const length = queryLengths[ready.chain * held + query];
    const divisor = ready.weight === null && ready.exponent === 0 ? 1 : length || 1;
    const places = [], scores = [];
    for (let place = 0; place < width; place++) {
      const found = candidates[first + place];
      if (found === nothing) break;
      let score = (dots[row + place] / divisor) * ready.powers[found];
      if (ready.weight !== null) score = ready.weight * score + (1 - ready.weight) * (divisor + documentLengths[ready.start + found]);
      if (Number.isNaN(score)) score = -Infinity;
      if (places.length === most && score <= scores[most - 1]) continue;
      let rank = places.length < most ? places.length : most - 1;
      while (rank > 0 && scores[rank - 1] < score) {
        places[rank] = places[rank - 1];
        scores[rank] = scores[rank - 1];
        rank--;
      }
      places[rank] = place;
      scores[rank] = score;
    }
    return { places, scores };
  }

  function ndcg(query, ready) {
    let gain = 0;
    top(query, ready).places.forEach((place, rank) => { gain += grades[query * width + place] * discounts[rank]; });
    return data.best[query] > 0 ? gain / data.best[query] : 0;
  }

  // The value of a setting over all queries: those that were drawn count for those that were not.
  function value(setting) {
    const ready = prepare(setting);
    let sum = 0;
    for (let query = 0; query < held; query++) sum += data.weights[query] * ndcg(query, ready);
    return sum / total;
  }

  const shown = (query, place) => ({ document: candidates[query * width + place], grade: grades[query * width + place] });
  const gradeOf = (query, document) => {
    for (let place = 0; place < width; place++) if (candidates[query * width + place] === document) return grades[query * width + place];
    return 0;
  };
  function compared(side, query) {
    const size = pair.length / (2 * held), start = (side * held + query) * size;
    return Array.from(pair.slice(start, start + size)).filter((document) => document !== nothing).map((document) => ({ document, grade: gradeOf(query, document) }));
  }
  return { data, name, prepare, top, ndcg, value, shown, compared, documentLengths };
})();
