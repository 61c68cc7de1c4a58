// Entities as brackets below the text.

import { make, written } from "./elements.js";

const COLOURS = 10; // as many as page.css has
const LABEL_SHARE = 0.6; // width of a letter of a label, in letters of the text
const LABEL_GAP = 1; // letters of the text around a label
const LONGEST_LABEL = 24;

/** The class that gives an element the colour of a type. */
export const colour = (number) => `type-${number % COLOURS}`;

/**
 * A confidence in two digits. It is cut and not rounded, so that it never seems to reach a threshold that it misses;
 * a little is added first, as 0.29 * 100 is less than 29.
 */
export const digits = (confidence) => (Math.floor(confidence * 100 + 1e-9) / 100).toFixed(2);

/**
 * Give each entity of a line the lane nearest to the text that is free, as {entity: lane}. Short ones go first, so
 * that nested brackets are inside. Labels take room, too.
 */
export function lanes(line, entities) {
  const taken = [];
  const found = new Map();
  const depths = new Uint16Array(line.text.length); // lanes that brackets need at each place
  const length = ({ start, end }) => end - start;
  for (const entity of [...entities].sort((a, b) => length(a) - length(b) || a.start - b.start)) {
    const { start, end, behind } = room(line, entity);
    let lane = depths.subarray(start, end).reduce((one, other) => Math.max(one, other), 0);
    while (taken[lane] && !isFree(taken[lane], start, behind)) lane++;
    while (taken.length <= lane) taken.push(new Uint8Array(line.text.length));
    taken[lane].fill(1, start, behind);
    depths.fill(lane + 1, start, end);
    found.set(entity, lane);
  }
  return found;
}

/** Where a bracket lies in its line, and the end of it and its label. */
function room(line, { start, end, label }) {
  const [from, to] = [start - line.start, Math.min(end - line.start, line.text.length)];
  const labelled = from < 0 ? 0 : from + Math.ceil(label.length * LABEL_SHARE) + LABEL_GAP;
  return { start: Math.max(from, 0), end: to, behind: Math.min(Math.max(to, labelled), line.text.length) };
}

function isFree(cells, start, end) {
  for (let place = start; place < end; place++) if (cells[place]) return false;
  return true;
}

/** What stands below a bracket: the type, cut if it is long, and the confidence in two digits. */
export function label(type, confidence) {
  const short = type.length > LONGEST_LABEL ? `${type.slice(0, LONGEST_LABEL - 1)}…` : type;
  return `${short.replace(/[\p{Cc}\p{Cf}]/gu, "·")} ${digits(confidence).replace(/^0/, "")}`;
}

/**
 * Fill a piece of a line with its text and the entities that touch it, which come by their start, wider ones first.
 * Elements can only nest: an entity that crosses another one, or a border of the piece, is drawn in several parts.
 */
export function draw(piece, entities, lane) {
  const root = document.createDocumentFragment();
  const open = []; // from the outermost: {entity, element}
  const borders = bordersOf(piece, entities);
  let next = 0;
  for (let index = 0; index + 1 < borders.length; index++) {
    const [from, to] = [borders[index], borders[index + 1]];
    const opening = closed(open, from);
    while (next < entities.length && entities[next].start <= from) opening.push(entities[next++]);
    for (const entity of opening.sort((a, b) => b.end - a.end)) {
      const element = part(entity, lane.get(entity), from);
      (open.at(-1)?.element ?? root).append(element);
      open.push({ entity, element });
      deepen(open[0].element, lane.get(entity));
    }
    for (const { entity, element } of open) if (entity.end === to) element.classList.add("ends");
    written(open.at(-1)?.element ?? root, piece.text.slice(from - piece.start, to - piece.start));
  }
  piece.element.replaceChildren(root);
}

/** Where something begins or ends in a piece, in order. */
function bordersOf(piece, entities) {
  const stop = piece.start + piece.text.length;
  const places = new Set([piece.start, stop, ...entities.flatMap(({ start, end }) => [start, end])]);
  return [...places].filter((place) => piece.start <= place && place <= stop).sort((a, b) => a - b);
}

/** Close what ends at a place, and what lies inside it; the latter goes on and is returned. */
function closed(open, place) {
  const first = open.findIndex(({ entity }) => entity.end <= place);
  if (first < 0) return [];
  return open.splice(first).map(({ entity }) => entity).filter(({ end }) => end > place);
}

/** The outermost element makes room for the lowest bracket inside it, on the lines of the screen where it stands. */
function deepen(outermost, lane) {
  const depth = Number(outermost.dataset.depth ?? 0);
  if (lane <= depth) return;
  outermost.dataset.depth = lane;
  outermost.style.setProperty("--depth", lane);
}

/** One part of an entity; the first is the one that can be focused and that has a label. */
function part(entity, lane, from) {
  const element = make("span", `entity ${colour(entity.colour)}`);
  element.dataset.number = entity.number;
  element.title = `${entity.type} ${digits(entity.confidence)}`;
  element.style.setProperty("--lane", lane);
  element.style.setProperty("--sure", entity.confidence);
  if (from === entity.start) begin(element, entity);
  return element;
}

function begin(element, entity) {
  element.classList.add("begins");
  element.dataset.label = entity.label;
  element.tabIndex = -1;
  element.setAttribute("role", "group");
  element.setAttribute("aria-roledescription", "entity");
  element.setAttribute("aria-label", `${entity.type}, confidence ${digits(entity.confidence)}`);
}
