"use strict";
// The error browser: passages with gold entities drawn above the text and predictions below it.
// Text from outside becomes text nodes and attributes only, never markup.
(() => {
  const PAGE = 20;
  const LANE = 19; // pixels for a bar and its label
  const LINE = 24; // pixels for a line of text without bars
  const LABEL_SHARE = 0.72; // width of a letter of a label, in letters of the text
  const LONGEST_LABEL = 22;
  const MENTION = 80;
  const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u;
  // Runs of white space, single characters of scripts without blanks, and pieces of words, none of which wraps.
  const TOKEN = /\s+|[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\u{20000}-\u{3ffff}]|[^\s\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\u{20000}-\u{3ffff}]{1,24}/gu;

  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const colour = (type) => `type-${data.colours[type]}`;
  const passages = data.passages.map(([id, number, note, before, text, after, golds, predictions]) => ({
    id, number, note, before, text, after, golds, predictions,
    searched: `${id}\n${text}`.toLowerCase(),
  }));
  let chosen = [];
  let page = 0;

  function make(name, style, text) {
    const element = document.createElement(name);
    if (style) element.className = style;
    if (text !== undefined) write(element, text);
    return element;
  }

  /** Append text; characters that are invisible or turn the direction of text show as their number. */
  function write(parent, text) {
    for (const part of text.split(new RegExp(`(${CONTROLS.source})`, "u"))) {
      if (part.length === 1 && CONTROLS.test(part)) {
        const shown = document.createElement("span");
        shown.className = "control";
        shown.textContent = `U+${part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
        parent.append(shown);
      } else if (part) {
        parent.append(part);
      }
    }
  }

  /** Everything in a passage as [system, type, kind]; gold marks once for each system. */
  function* marks(passage) {
    for (const [type, kinds] of passage.golds) {
      for (let system = 0; system < kinds.length; system++) yield [system, type, kinds[system]];
    }
    for (let system = 0; system < passage.predictions.length; system++) {
      for (const [type, kind] of passage.predictions[system]) yield [system, type, kind];
    }
  }

  function wanted() {
    const number = (id) => (find(id).value === "" ? null : Number(find(id).value));
    return {
      system: number("filter-system"),
      type: number("filter-type"),
      kind: find("filter-kind").value,
      text: find("filter-text").value.trim().toLowerCase(),
    };
  }

  /** How many marks of a passage fit the filters; -1 if the passage does not. */
  function fitting(passage, filter) {
    if (filter.text && !passage.searched.includes(filter.text)) return -1;
    let fit = 0;
    let mistakes = 0;
    for (const [system, type, kind] of marks(passage)) {
      if (filter.system !== null && system !== filter.system) continue;
      if (filter.type !== null && type !== filter.type) continue;
      if (kind) mistakes++;
      if (filter.kind === "mistake" ? kind : filter.kind === "" || filter.kind === "none" || kind === Number(filter.kind)) fit++;
    }
    if (filter.kind === "none") return fit && !mistakes ? 0 : -1;
    if (filter.kind === "") return fit || filter.type === null ? mistakes : -1;
    return fit || -1;
  }

  function choose() {
    const filter = wanted();
    let mistakes = 0;
    chosen = passages.filter((passage) => {
      const fit = fitting(passage, filter);
      mistakes += Math.max(fit, 0);
      return fit >= 0;
    });
    page = 0;
    const count = (number) => number.toLocaleString("en");
    find("browser-count").textContent =
      `${count(chosen.length)} of ${count(passages.length)} passages, with ${count(mistakes)} mistakes that fit`;
    draw();
  }

  function draw() {
    const pages = Math.max(1, Math.ceil(chosen.length / PAGE));
    page = Math.min(Math.max(page, 0), pages - 1);
    const shown = chosen.slice(page * PAGE, (page + 1) * PAGE);
    find("passages").replaceChildren(...shown.map(card));
    find("page-number").textContent = `page ${page + 1} of ${pages}`;
    find("page-before").disabled = page === 0;
    find("page-after").disabled = page === pages - 1;
  }

  function card(passage) {
    const { system } = wanted();
    const article = make("article", "passage");
    article.tabIndex = 0;
    article.setAttribute("aria-label", `document ${passage.id}, passage ${passage.number}`);
    const head = make("p", "passage-head");
    head.append(make("bdi", "", passage.id), ` · passage ${passage.number}`);
    if (passage.note) head.append(make("strong", "", ` · ${passage.note}`));
    article.append(head, context(passage.before), drawn(passage, system), context(passage.after), listed(passage, system));
    return article;
  }

  /** What stands around the passage in its document. */
  function context(text) {
    const line = make("p", "context", text.trim());
    line.dir = "auto";
    return line;
  }

  /** The bars of one side as {type, wrong, label, title, offsets}. */
  function bars(passage, system, only, prefix) {
    if (system === null) {
      return passage.golds.map(([type, kinds, offsets]) => bar(type, only === null ? kinds.every(Boolean) : kinds[only] > 0, "gold", offsets, ""));
    }
    return passage.predictions[system].map(([type, kind, confidence, , offsets]) =>
      bar(type, kind > 0, kind ? data.kinds[kind] : "right", offsets, prefix, confidence));
  }

  function bar(type, wrong, state, offsets, prefix, confidence = null) {
    const name = data.types[type];
    const short = name.length > LONGEST_LABEL ? `${name.slice(0, LONGEST_LABEL - 1)}…` : name;
    const sure = confidence === null ? "" : `, confidence ${confidence}`;
    const label = `${prefix}${wrong ? "✗ " : ""}${short}`.replace(new RegExp(CONTROLS.source, "gu"), "·");
    return { type, wrong, label, title: `${prefix}${name}: ${state}${sure}`, offsets };
  }

  /** Give each bar the lane nearest to the text that is free; short bars first, so that nested ones are inside. */
  function arrange(list) {
    const lanes = [];
    const length = (each) => each.offsets[each.offsets.length - 1] - each.offsets[0];
    for (const each of [...list].sort((a, b) => length(a) - length(b) || a.offsets[0] - b.offsets[0])) {
      const start = each.offsets[0];
      const end = Math.max(start + length(each), start + each.label.length * LABEL_SHARE + 1);
      let lane = lanes.findIndex((taken) => taken.every(([from, to]) => end <= from || to <= start));
      if (lane < 0) lane = lanes.push([]) - 1;
      lanes[lane].push([start, end]);
      each.lane = lane;
    }
    return lanes.length;
  }

  /** The text of a passage with its bars. */
  function drawn(passage, only) {
    const golds = bars(passage, null, only, "");
    const above = arrange(golds);
    golds.forEach((each) => { each.above = true; });
    const all = [...golds];
    let below = 0;
    data.systems.forEach(({ key }, system) => {
      if (only !== null && only !== system) return;
      const own = bars(passage, system, only, data.systems.length > 1 ? `${key} ` : "");
      const lanes = arrange(own);
      own.forEach((each) => { each.lane += below; });
      below += lanes;
      all.push(...own);
    });
    const block = make("p", "passage-text");
    block.dir = "auto";
    block.style.lineHeight = `${LINE + (above + below) * LANE}px`;
    // Half of the space between lines is above the first one; bars need as much as they have lanes.
    block.style.top = `${((above - below) * LANE) / 2}px`;
    segments(passage.text, all, block);
    return block;
  }

  /** Cut the text where bars begin or end, and draw the bars of each piece. */
  function segments(text, all, block) {
    const cuts = new Set([0, text.length]);
    for (const each of all) each.offsets.forEach((offset) => cuts.add(offset));
    const borders = [...cuts].sort((a, b) => a - b);
    for (let index = 0; index + 1 < borders.length; index++) {
      const [start, end] = [borders[index], borders[index + 1]];
      const over = all.filter(({ offsets }) => offsets[0] <= start && end <= offsets[offsets.length - 1]);
      const part = text.slice(start, end);
      if (!over.length) write(block, part);
      else tokens(part, start, over, block);
    }
  }

  function tokens(part, offset, over, block) {
    for (const match of part.matchAll(TOKEN)) {
      const start = offset + match.index;
      const end = start + match[0].length;
      const token = make("span", "token", match[0]);
      for (const each of over) token.append(stroke(each, start, end));
      block.append(token);
    }
  }

  /** The part of a bar at one token. */
  function stroke(each, start, end) {
    const { offsets } = each;
    const line = make("i", `bar ${colour(each.type)} ${each.above ? "above" : "below"}`);
    line.setAttribute("aria-hidden", "true");
    line.title = each.title;
    line.style[each.above ? "bottom" : "top"] = `calc(100% + ${each.lane * LANE}px)`;
    let covered = false;
    for (let index = 0; index < offsets.length; index += 2) covered ||= offsets[index] <= start && end <= offsets[index + 1];
    if (each.wrong) line.classList.add("wrong");
    if (!covered) line.classList.add("gap");
    if (start === offsets[0]) {
      line.classList.add("first");
      line.dataset.label = each.label;
    }
    if (end === offsets[offsets.length - 1]) line.classList.add("last");
    return line;
  }

  /** The mistakes of a passage in words. */
  function listed(passage, only) {
    const list = make("ul", "passage-mistakes");
    data.systems.forEach(({ key }, system) => {
      if (only !== null && only !== system) return;
      const prefix = data.systems.length > 1 ? `${key} ` : "";
      for (const [type, kind, confidence, nearest, offsets] of passage.predictions[system]) {
        if (!kind) continue;
        const item = entry(prefix, data.kinds[kind], "predicted", type, mention(passage, offsets));
        if (confidence !== null) item.append(` with confidence ${confidence}`);
        if (nearest >= 0) item.append("; gold is ", ...named(passage.golds[nearest][0], mention(passage, passage.golds[nearest][2])));
        list.append(item);
      }
      for (const [type, kinds, offsets] of passage.golds) {
        if (kinds[system]) list.append(entry(prefix, data.kinds[kinds[system]], "gold", type, mention(passage, offsets)));
      }
    });
    return list;
  }

  function entry(prefix, kind, side, type, text) {
    const item = make("li", "");
    item.append(make("span", "kind", `${prefix}${kind}`), ` ${side} `, ...named(type, text));
    return item;
  }

  function named(type, text) {
    return [make("bdi", `type ${colour(type)}`, data.types[type]), " “", make("bdi", "", text), "”"];
  }

  function mention(passage, offsets) {
    const parts = [];
    for (let index = 0; index < offsets.length; index += 2) parts.push(passage.text.slice(offsets[index], offsets[index + 1]));
    const text = parts.join(" … ");
    return text.length > MENTION ? `${text.slice(0, MENTION).replace(/[\ud800-\udbff]$/, "")}…` : text;
  }

  function legend() {
    const line = make("p", "legend");
    line.append("Gold above the text, predictions below it. ");
    const sample = (style, text) => {
      const part = make("span", "legend-part");
      part.append(make("i", `legend-bar ${style}`), ` ${text}`);
      return part;
    };
    line.append(sample("", "right, or found by some system"), " ", sample("wrong", "✗ wrong, or found by none"));
    const types = make("p", "legend");
    data.types.forEach((name, number) => {
      types.append(make("bdi", `type ${colour(number)}`, name), " ");
    });
    find("legend").append(line, types);
  }

  /** Move to another passage, over the border of the page if need be. */
  function step(change) {
    const cards = [...find("passages").children];
    const place = cards.indexOf(document.activeElement?.closest?.(".passage"));
    const next = place < 0 ? 0 : place + change;
    if (next >= 0 && next < cards.length) return focus(cards[next]);
    if (turn(change)) focus(change > 0 ? find("passages").firstElementChild : find("passages").lastElementChild);
  }

  function turn(change) {
    const before = page;
    page += change;
    draw();
    return page !== before;
  }

  function focus(element) {
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: "nearest" });
  }

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const inside = event.target.closest(".passage");
    const turned = (change) => { if (turn(change)) focus(find("passages").firstElementChild); };
    const actions = {
      j: () => step(1), k: () => step(-1), n: () => turned(1), p: () => turned(-1), "/": () => find("filter-text").focus(),
      ArrowDown: inside && (() => step(1)), ArrowUp: inside && (() => step(-1)),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  function follow(link) {
    find("filter-system").value = link.dataset.system;
    find("filter-type").value = "";
    find("filter-kind").value = link.dataset.kind;
    find("filter-text").value = "";
    choose();
  }

  for (const id of ["filter-system", "filter-type", "filter-kind"]) find(id).addEventListener("change", choose);
  find("filter-text").addEventListener("input", choose);
  find("page-before").addEventListener("click", () => { turn(-1); focus(find("passages").firstElementChild); });
  find("page-after").addEventListener("click", () => { turn(1); focus(find("passages").firstElementChild); });
  document.querySelectorAll("a[data-kind]").forEach((link) => link.addEventListener("click", () => follow(link)));
  document.addEventListener("keydown", press);
  legend();
  find("browser").hidden = false;
  choose();
})();
