// The text in lines, and these in pieces. Only pieces near the visible part of the page are drawn with their
// entities, the others are plain text: so a long text costs no more than what is seen of it.

import { find, make, written } from "./elements.js";
import { layOut } from "./lanes.js";
import { draw } from "./marks.js";

const LONGEST = 1200; // characters of a piece
const MARGIN = "600px"; // how far from the visible part a piece is drawn
const MANY = 100; // lines, from which on the browser lays out only those that are seen

let lines = []; // {block, start, text, entities, visible, pieces: [{line, element, start, text, fresh}]}
let near = new Set();
let selected = null;
let observer = null;
let entitiesByNumber = [];

/** Show a text; its entities, by start and wider ones first, come with the first filter. */
export function openText(text, entities) {
  observer?.disconnect();
  near = new Set();
  selected = null;
  lines = linesOf(text);
  entitiesByNumber = entities;
  share(entities);
  find("marked").classList.toggle("many", lines.length > MANY);
  find("marked").replaceChildren(...lines.map(({ block }) => block));
  find("marked").scrollTop = 0;
  observe();
}

/** Lines with their ends. */
function linesOf(text) {
  let start = 0;
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((part) => {
    const line = { block: make("div", part.trim() ? "line" : "line blank"), start, text: part, entities: [], visible: [] };
    line.block.dir = "auto";
    line.pieces = piecesOf(line);
    line.block.append(...line.pieces.map(({ element }) => element));
    start += part.length;
    return line;
  });
}

/** A line in pieces, cut at blanks where there are some, and never inside of a character. */
function piecesOf(line) {
  const pieces = [];
  for (let from = 0; from < line.text.length; ) {
    let to = Math.min(from + LONGEST, line.text.length);
    const blank = to < line.text.length ? line.text.lastIndexOf(" ", to) : -1;
    if (blank > from) to = blank;
    if (line.text.codePointAt(to - 1) > 0xffff) to++;
    const text = line.text.slice(from, to);
    pieces.push({ line, element: written(make("span"), text), start: line.start + from, text, fresh: true });
    from = to;
  }
  return pieces;
}

/** Tell every line its entities. */
function share(entities) {
  let first = 0;
  for (const line of lines) {
    const stop = line.start + line.text.length;
    while (first < entities.length && entities[first].end <= line.start) first++;
    for (let place = first; place < entities.length && entities[place].start < stop; place++) {
      if (entities[place].end > line.start) line.entities.push(entities[place]);
    }
  }
}

function observe() {
  const pieces = new Map(lines.flatMap((line) => line.pieces).map((piece) => [piece.element, piece]));
  observer = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) near[isIntersecting ? "add" : "delete"](pieces.get(target));
    refreshNear();
  }, { root: find("marked"), rootMargin: MARGIN });
  for (const element of pieces.keys()) observer.observe(element);
}

/** Show these entities and no others; lines whose entities stay the same are left alone. */
export function showEntities(shown) {
  const kept = new Set(shown);
  for (const line of lines) {
    const visible = line.entities.filter((entity) => kept.has(entity));
    if (same(line.visible, visible)) continue;
    line.visible = visible;
    for (const piece of line.pieces) piece.fresh = false;
  }
  refreshNear();
}

/** Draw what is near the visible part, and put its brackets and labels in their places. */
function refreshNear() {
  near.forEach(refresh);
  const blocks = new Map();
  for (const { line, element } of near) {
    if (!line.visible.length && !line.block.querySelector(".labels")) continue;
    const { elements } = blocks.get(line) ?? blocks.set(line, { block: line.block, elements: [], entityOf }).get(line);
    elements.push(...element.querySelectorAll(".entity"));
  }
  layOut([...blocks.values()]);
}

const entityOf = (element) => entitiesByNumber[element.dataset.number];

const same = (one, other) => one.length === other.length && one.every((entity, place) => entity === other[place]);

function refresh(piece) {
  if (piece.fresh) return;
  piece.fresh = true;
  const stop = piece.start + piece.text.length;
  draw(piece, piece.line.visible.filter(({ start, end }) => start < stop && end > piece.start));
  if (selected) mark();
}

/** The elements of an entity, drawn if they were not; the first can be focused. */
export function partsOf(entity) {
  for (const { start, text, pieces } of lines) {
    if (start >= entity.end || start + text.length <= entity.start) continue;
    for (const piece of pieces) {
      if (piece.start < entity.end && piece.start + piece.text.length > entity.start) refresh(piece);
    }
  }
  return find("marked").querySelectorAll(`[data-number="${entity.number}"]`);
}

/** Set off one entity, or none. */
export function select(entity) {
  for (const element of find("marked").querySelectorAll(".selected")) element.classList.remove("selected");
  selected = entity;
  if (selected) mark();
}

function mark() {
  const parts = find("marked").querySelectorAll(`[data-number="${selected.number}"]`);
  for (const element of parts) element.classList.add("selected");
}

new ResizeObserver(refreshNear).observe(find("marked"));
// Paper has no visible part.
addEventListener("beforeprint", () => lines.forEach(({ pieces }) => pieces.forEach(refresh)));
