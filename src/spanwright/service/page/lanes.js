// Where brackets and their labels go: measured as the text stands on the screen, so that nothing lies over anything.

import { make } from "./elements.js";

const GAP = 6; // pixels between two labels
const FONT = "600 12px -apple-system, 'Segoe UI', Inter, Roboto, Cantarell, Ubuntu, 'Noto Sans', 'Liberation Sans', system-ui, sans-serif";
const PADDING = 4; // pixels at the ends of a label, as page.css has them

const pen = document.createElement("canvas").getContext("2d");
const widths = new Map();

function widthOf(label) {
  pen.font = FONT;
  if (!widths.has(label)) widths.set(label, Math.ceil(pen.measureText(label).width) + 2 * PADDING);
  return widths.get(label);
}

/**
 * Give each entity the lane nearest to the text that is free on all rows where it stands, as {entity: lane}. They come
 * as {entity, parts}, short ones first, so that nested brackets are inside; a part is {row, left, right, from, to}: its
 * row, its bracket, and the room that this takes with its label.
 */
export function arrange(placed) {
  const rows = new Map();
  const found = new Map();
  for (const { entity, parts } of placed) {
    const pairs = parts.flatMap((part) => (rows.get(part.row) ?? []).map((other) => [part, other]));
    const inner = pairs.filter(([part, { left, right }]) => part.left < right && left < part.right);
    const taken = pairs.filter(([part, { from, to }]) => part.from < to && from < part.to).map(([, { lane }]) => lane);
    let lane = inner.reduce((deepest, [, other]) => Math.max(deepest, other.lane + 1), 0);
    while (taken.includes(lane)) lane++;
    for (const part of parts) rows.set(part.row, [...(rows.get(part.row) ?? []), { ...part, lane }]);
    found.set(entity, lane);
  }
  return found;
}

/** Put the brackets of blocks into lanes, and their labels below them. A block is {block, elements, entityOf}. */
export function layOut(blocks) {
  const measured = blocks.map((each) => ({ ...each, placed: measure(each) }));
  for (const { elements, entityOf, placed } of measured) sink(elements, entityOf, arrange(placed));
  // Lines have grown meanwhile.
  const drawn = measured.map((each) => [each.block, labelsOf(each)]);
  for (const [block, labels] of drawn) {
    block.querySelector(":scope > .labels")?.remove();
    if (labels.length) block.append(make("div", "labels", ...labels));
  }
}

/** The parts of each entity of a block, one for each row, short entities first. */
function measure({ block, elements, entityOf }) {
  const { left: edge, width } = block.getBoundingClientRect();
  const found = new Map();
  for (const { element, rect, row } of rowsOf(elements)) {
    const entity = entityOf(element);
    const parts = found.get(entity) ?? found.set(entity, new Map()).get(entity);
    const part = parts.get(row) ?? { row, left: Infinity, right: -Infinity, begins: false };
    part.left = Math.min(part.left, rect.left - edge);
    part.right = Math.max(part.right, rect.right - edge);
    part.begins ||= element.classList.contains("begins") && rect.first;
    part.bottom = Math.max(part.bottom ?? -Infinity, rect.bottom);
    parts.set(row, part);
  }
  const length = ({ start, end }) => end - start;
  return [...found]
    .map(([entity, parts]) => ({ entity, parts: [...parts.values()].map((part) => withLabel(part, entity, width)) }))
    .sort(({ entity: a }, { entity: b }) => length(a) - length(b) || a.start - b.start);
}

/** The rectangles of elements with the number of the row in which each stands. */
function rowsOf(elements) {
  const all = elements.flatMap((element) => [...element.getClientRects()].map(({ left, right, top, bottom }, place) => (
    { element, rect: { left, right, top, bottom, first: place === 0 } })));
  all.sort((a, b) => a.rect.top - b.rect.top);
  let row = 0;
  return all.map((each, place) => {
    if (place && each.rect.top - all[place - 1].rect.top > 8) row++;
    return { ...each, row };
  });
}

/** A part with its label, which says on later rows that the entity goes on, and never leaves the block. */
function withLabel(part, entity, width) {
  const label = part.begins ? entity.label : `… ${entity.goesOn}`;
  const [room, own] = [widthOf(label), Math.max(0, part.left)];
  const at = Math.max(0, Math.min(own, width - room));
  return { ...part, label, at, from: Math.min(part.left, at), to: Math.max(part.right, at + room) + GAP };
}

/** Lower the brackets into their lanes; outermost elements make room for the lowest bracket inside them. */
function sink(elements, entityOf, lanes) {
  const depths = new Map();
  for (const element of elements) {
    const lane = lanes.get(entityOf(element)) ?? 0;
    element.style.setProperty("--lane", lane);
    let outermost = element;
    while (outermost.parentElement.matches(".entity")) outermost = outermost.parentElement;
    depths.set(outermost, Math.max(depths.get(outermost) ?? 0, lane));
  }
  for (const [element, depth] of depths) element.style.setProperty("--depth", depth);
}

function labelsOf(each) {
  const { top } = each.block.getBoundingClientRect();
  return measure(each).flatMap(({ entity, parts }) => parts.map(({ label, at, bottom }) => {
    const element = make("span", `label ${entity.style}`);
    element.dataset.label = label;
    element.style.left = `${at}px`;
    element.style.top = `${bottom - top}px`;
    return element;
  }));
}
