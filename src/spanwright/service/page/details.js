// What is known about one entity.

import { counted, find, make, named } from "./elements.js";
import { neighbours } from "./reading.js";

const LISTED = 8; // neighbours of each kind
const LONGEST = 60; // characters of a neighbour's text

/** Show an entity; `go` is called with a neighbour that is chosen, `close` when the details shall go. */
export function showDetails(entity, go, close) {
  const head = make("p", "details-head", named(entity.type, `type ${entity.style}`));
  const button = make("button", "plain close", "✕");
  button.type = "button";
  button.setAttribute("aria-label", "Close the details");
  button.addEventListener("click", close);
  const mention = make("p", "mention");
  mention.dir = "auto";
  mention.append(named(entity.text));
  const panel = find("details");
  panel.replaceChildren(head, button, mention, facts(entity, go));
  panel.hidden = false;
}

export function hideDetails() {
  find("details").hidden = true;
}

function facts(entity, go) {
  const list = make("dl", "facts");
  const add = (name, ...value) => list.append(make("div", "", make("dt", "", name), make("dd", "", ...value)));
  const [start, end] = entity.points;
  add("Characters", `${start} to ${end}`, make("span", "quiet", ` (${counted(end - start, "character", "characters")})`));
  add("Confidence", meter(entity), entity.confidence.toFixed(3));
  for (const [name, others] of nesting(entity)) add(name, ...buttons(others, go));
  return list;
}

function meter({ confidence, style }) {
  const filled = make("span", "");
  filled.style.width = `${confidence * 100}%`;
  const bar = make("span", `meter ${style}`, filled);
  bar.setAttribute("aria-hidden", "true");
  return bar;
}

/** The entities around this one by how they lie to it. */
function nesting(entity) {
  const { outside, inside, same, crossing } = neighbours(entity);
  const rows = [["Inside", outside], ["Contains", inside], ["Same span as", same], ["Crosses", crossing]];
  return rows.filter(([, others]) => others.length);
}

/** Entities as buttons that lead to them. */
function buttons(others, go) {
  const shown = others.slice(0, LISTED).map((other) => neighbour(other, go));
  return others.length > LISTED ? [...shown, make("span", "quiet", `and ${others.length - LISTED} more`)] : shown;
}

function neighbour(other, go) {
  const points = [...other.text];
  const text = points.length > LONGEST ? `${points.slice(0, LONGEST).join("")}…` : other.text;
  const button = make("button", `neighbour ${other.style}`, named(text), make("small", "", named(other.type)));
  button.type = "button";
  button.addEventListener("click", () => go(other));
  return button;
}
