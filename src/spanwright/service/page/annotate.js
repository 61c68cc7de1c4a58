// The page to annotate on: one text after another, with suggestions that are accepted, corrected or removed.

import { numberOf, useColours } from "./colours.js";
import { onDrawer } from "./drawer.js";
import { counted, find, make } from "./elements.js";
import { onHelp } from "./help.js";
import { Marks } from "./marking.js";
import { colour, digits, shortName } from "./marks.js";
import { hideNotice, onNotice, showNotice } from "./notice.js";
import { pointsIn, unitsOf } from "./offsets.js";
import { entityAt, focus, openEntities, showThose, target } from "./reading.js";
import * as service from "./service.js";

const TYPING = "input, textarea, select";

let texts = []; // [id, done]
let types = []; // names, in the order of their keys
let place = 0; // of the text that is shown
let current = null; // {text, version, ...} of it
let marks = null;
let chosen = null; // the key of the mark that is worked on
let isNew = false; // whether it was just added by a key, and arrows move it
let selected = null; // [start, end] of what is selected in the text
let isSaved = true;

function list(type) {
  if (type && !types.includes(type)) types.push(type);
}

/** Do something that may fail; the notice says why, and offers to do it again. */
async function attempt(action, again) {
  hideNotice();
  try {
    await action();
    return true;
  } catch (problem) {
    if (!(problem instanceof service.ServiceError)) throw problem;
    if (problem.status === 409) await attempt(() => open(place));
    showNotice(problem, again);
    return false;
  }
}

async function start() {
  await attempt(async () => {
    const found = await service.texts();
    ({ texts, types } = found);
    useColours(found.colours);
    const first = texts.findIndex(([, done]) => !done);
    await open(Math.max(first, 0));
  }, start);
}

/** Open the text at a place; what is not saved of another one is kept if nobody minds. */
async function go(to) {
  if (!texts[to] || (!isSaved && !confirm("What you changed in this text is not saved. Leave it?"))) return;
  await attempt(() => open(to), () => go(to));
}

/** Show the text at a place. If the model fails, the text is there all the same, without suggestions. */
async function open(to) {
  const found = await service.textAt(to);
  let problem = null;
  const suggested = found.done || found.entities.length ? found.entities : await suggestions(found.text).catch((failed) => {
    problem = failed;
    return [];
  });
  const units = unitsOf(found.text);
  const words = found.words.map(([start, end]) => [units(start), units(end)]);
  suggested.forEach(({ type }) => list(type));
  marks = new Marks(words, suggested.map((entity) => ({
    ...entity,
    start: units(entity.start),
    end: units(entity.end),
    fragments: entity.fragments?.map(([start, end]) => [units(start), units(end)]),
    open: !found.done,
  })));
  [place, current, chosen, isNew, selected, isSaved] = [to, found, null, false, null, true];
  texts[to][1] = found.done; // by somebody else, perhaps
  find("marked").scrollTop = 0;
  listTexts();
  draw();
  if (problem) throw problem;
}

/** What the model finds in a text that comes without suggestions. */
async function suggestions(text) {
  return text.trim() ? (await service.tag({ texts: [text] })).entities : [];
}

/** Draw the text with its marks as they are now. */
function draw() {
  const top = find("marked").scrollTop;
  openEntities(current.text, marks.list.map((mark) => ({
    ...mark,
    confidence: 1,
    style: `${colour(numberOf(mark.type))}${mark.open ? " open" : ""}${mark.key === chosen ? " chosen" : ""}`,
    label: `${shortName(mark.type)}${mark.open ? "?" : ""}`,
    goesOn: shortName(mark.type),
    title: mark.type,
    spoken: `${mark.type}, ${stateOf(mark)}`,
  })));
  const shown = showThose(() => true);
  find("marked").scrollTop = top;
  const entity = shown.find(({ key }) => key === chosen);
  if (entity) focus(entity);
  showChosen(marks.find(chosen));
  tell();
}

const stateOf = ({ open, confidence }) =>
  !open ? "accepted" : confidence === null || confidence === undefined ? "suggested" : `suggested with confidence ${digits(confidence)}`;

/** The panel about the chosen mark, or about words that are selected. */
function showChosen(mark) {
  find("chosen").hidden = !mark && !selected;
  for (const id of ["accept", "reject"]) find(id).hidden = !mark;
  for (const each of document.querySelectorAll(".borders")) each.hidden = !mark;
  find("accept").disabled = !mark?.open;
  const [from, to] = mark ? [mark.start, mark.end] : selected ?? [0, 0];
  find("chosen-state").textContent = mark ? `${mark.type}, ${stateOf(mark)}` : "Mark these words as";
  find("chosen-text").textContent = current.text.slice(from, to);
  find("types").replaceChildren(...types.map((type, number) => typeButton(type, number, mark?.type === type)));
}

function typeButton(type, number, pressed) {
  const button = make("button", colour(numberOf(type)), type);
  if (number < 9) button.append(make("kbd", "with-keys", String(number + 1)));
  button.type = "button";
  button.setAttribute("aria-pressed", pressed);
  button.addEventListener("mousedown", (event) => event.preventDefault()); // the selection stays
  button.addEventListener("click", () => give(type));
  return button;
}

function tell() {
  const [open, all] = [marks.open.length, marks.list.length];
  const done = texts.filter(([, is]) => is).length;
  find("status").textContent = open ? `${counted(open, "suggestion", "suggestions")} to judge` : counted(all, "entity", "entities");
  find("progress-words").textContent = `Text ${place + 1} of ${texts.length}, ${done} done`;
  find("progress").max = texts.length;
  find("progress").value = done;
  find("undo").disabled = !marks.past.length;
  find("accept-all").disabled = !open;
  find("before").disabled = !place;
  find("after").disabled = place + 1 >= texts.length;
  find("reason").hidden = !current.reason;
  find("reason").textContent = `Chosen because: ${current.reason}`;
}

function listTexts() {
  find("texts").replaceChildren(...texts.map(([id, done], number) => {
    const button = make("button", done ? "done" : "", `${number + 1}. ${id}`);
    button.type = "button";
    button.setAttribute("aria-current", number === place);
    button.addEventListener("click", () => go(number));
    return make("li", "", button);
  }));
}

/** Change the marks, and choose one. */
function change(action, key = chosen) {
  action();
  isSaved = false;
  choose(marks.find(key) ? key : null);
}

function choose(key) {
  chosen = key;
  selected = null;
  draw();
}

/** Give the chosen mark a type, or mark with it what is selected. */
function give(type) {
  if (selected) {
    const [from, to] = selected;
    getSelection().removeAllRanges();
    let key;
    change(() => { key = marks.add(from, to, type); });
    choose(key ?? null);
  } else if (marks.find(chosen)) {
    change(() => marks.retype(chosen, type));
  }
  isNew = false;
}

/** Accept or remove the chosen mark, and go on to the next one that nobody has judged. */
function judge(action) {
  const mark = marks.find(chosen);
  if (!mark) return;
  const rest = marks.open.filter(({ key }) => key !== chosen).sort((a, b) => a.start - b.start);
  const next = rest.find(({ start }) => start >= mark.start) ?? rest[0];
  isNew = false;
  change(() => marks[action](mark.key), next?.key ?? (action === "remove" ? null : mark.key));
}

/** A new mark at the chosen one, or at the first word, which arrow keys move. */
function begin() {
  const [from, to] = wordAt(marks.find(chosen)?.start ?? 0) ?? [];
  if (to === undefined || !types.length) return;
  let key;
  change(() => { key = marks.add(from, to, types.find((type) => !taken(from, to, type)) ?? types[0]); });
  choose(key);
  isNew = true;
}

const wordAt = (start) => marks.words.find(([, stop]) => stop > start);

const taken = (from, to, type) => marks.list.some((mark) => mark.start === from && mark.end === to && mark.type === type);

async function save() {
  if (marks.open.length) {
    return showNotice({ status: 1, message: `${counted(marks.open.length, "suggestion is", "suggestions are")} not judged yet. Accept or remove them, or accept all.` });
  }
  const saved = await attempt(async () => {
    const points = (unit) => pointsIn(current.text.slice(0, unit));
    current.version = await service.saveText(place, current.version, marks.list.map(({ start, end, type, fragments, concepts }) => ({
      start: points(start), end: points(end), type, fragments: fragments?.map((range) => range.map(points)), concepts,
    })));
    isSaved = true;
    texts[place][1] = true;
  }, save);
  if (!saved) return;
  const next = [...texts.keys()].map((each) => (place + 1 + each) % texts.length).find((each) => !texts[each][1]);
  listTexts();
  tell();
  if (next !== undefined) await go(next);
  else find("status").textContent = "Saved. All texts are done.";
}

/** Remember what is selected in the text; a tap on a button would take it away. */
function look() {
  const selection = getSelection();
  const inside = (node) => find("marked").contains(node);
  if (!current || selection.isCollapsed || !inside(selection.anchorNode) || !inside(selection.focusNode)) return;
  const range = selection.getRangeAt(0);
  const before = range.cloneRange();
  before.selectNodeContents(find("marked"));
  before.setEnd(range.startContainer, range.startOffset);
  const from = before.toString().length;
  const to = from + range.toString().length;
  if (!current.text.slice(from, to).trim()) return;
  selected = [from, to];
  chosen = null;
  showChosen();
}

const KEYS = {
  a: () => judge("accept"), enter: () => judge("accept"), x: () => judge("remove"), delete: () => judge("remove"), backspace: () => judge("remove"),
  n: begin, s: save, u: undo, j: () => go(place + 1), k: () => go(place - 1), escape: () => choose(null),
  ",": () => stretch("start", -1), ".": () => stretch("start", 1),
};

function undo() {
  change(() => marks.undo());
}

function stretch(border, step) {
  if (marks.find(chosen)) change(() => marks.stretch(chosen, border, step));
}

function press(event) {
  const { key, shiftKey } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest(`${TYPING}, dialog[open]`) || !marks) return;
  const act = actionOf(key, shiftKey, event);
  if (!act) return;
  event.preventDefault();
  act();
}

function actionOf(key, shift, event) {
  if (/^[1-9]$/.test(key)) return types[key - 1] && (() => give(types[key - 1]));
  if (shift && key.toLowerCase() === "a") return () => change(() => marks.acceptAll());
  if (key.startsWith("Arrow")) return arrow(key, shift);
  if (key === "Enter" && event.target.closest("button, summary, a")) return undefined;
  return KEYS[key.toLowerCase()];
}

/** Arrows lead from mark to mark, move a new one, and with Shift its end; without any they scroll the text. */
function arrow(key, shift) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  const mark = marks.find(chosen);
  if (!mark) return marks.list.length && !shift ? () => choose([...marks.list].sort((a, b) => a.start - b.start)[0].key) : undefined;
  if (shift) return step && (() => stretch("end", step));
  if (isNew && step) return () => { change(() => marks.shift(chosen, step)); isNew = true; };
  const entity = entityAt(document.querySelector(".entity.chosen"));
  return () => { isNew = false; choose(target(key, entity).key); };
}

find("marked").addEventListener("pointerdown", () => { selected = null; });
find("marked").addEventListener("click", ({ target: element }) => {
  if (!getSelection().isCollapsed) return;
  isNew = false;
  choose(entityAt(element)?.key ?? null);
});
find("accept").addEventListener("click", () => judge("accept"));
find("reject").addEventListener("click", () => judge("remove"));
find("leave").addEventListener("click", () => choose(null));
find("undo").addEventListener("click", undo);
find("save").addEventListener("click", save);
find("accept-all").addEventListener("click", () => change(() => marks.acceptAll()));
find("before").addEventListener("click", () => go(place - 1));
find("after").addEventListener("click", () => go(place + 1));
find("chosen").addEventListener("click", ({ target: { dataset } }) => { if (dataset.border) stretch(dataset.border, Number(dataset.step)); });
find("type-form").addEventListener("submit", (event) => {
  event.preventDefault();
  list(find("type-name").value.trim());
  find("type-form").reset();
  showChosen(marks.find(chosen));
});
document.addEventListener("selectionchange", look);
document.addEventListener("keydown", press);
addEventListener("beforeunload", (event) => { if (!isSaved) event.preventDefault(); });
onDrawer();
onHelp();
onNotice(service.useToken);
start();
