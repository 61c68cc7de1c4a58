// The text that shall be tagged: typed, pasted, dropped or opened.

import { counted, find } from "./elements.js";
import { pointsIn } from "./offsets.js";

const LARGEST = 1024 * 1024; // bytes, as for the service; more would make the browser stall before the service could refuse it
const EXAMPLE = `Women who carry a BRCA1 mutation have a high risk of hereditary breast cancer. \
In MCF-7 breast cancer cells, tamoxifen lowered the expression of the estrogen receptor alpha gene, \
while an interleukin-6 receptor antibody did not change STAT3 in mouse T cells.

Patients with type 2 diabetes mellitus and chronic kidney disease were given metformin for twelve weeks. \
Plasma glucose fell, and neither lactic acidosis nor hepatitis B virus infection was seen.
`;

// What was opened, as long as nobody has changed it: a text field would rewrite its line ends and shift all offsets.
let source = { text: "", name: "" };

/** The text, and the name of its file without the ending ("" if it has none). */
export const written = () => source;

/** Tell of every change, and of files that cannot be read. */
export function onWriting(changed, problem) {
  const take = (text, name) => {
    find("text").value = text;
    source = { text, name };
    changed(`${counted(pointsIn(text), "character", "characters")}${name ? ` from ${name}` : ""}`);
  };
  const load = (file) => read(file).then((text) => take(text, file.name.replace(/\.[^.]*$/, "")), (error) => problem(error.message));
  find("text").addEventListener("input", () => {
    source = { text: find("text").value, name: source.name };
    changed(counted(pointsIn(source.text), "character", "characters"));
  });
  find("example").addEventListener("click", () => take(EXAMPLE, ""));
  find("open").addEventListener("click", () => find("file").click());
  find("file").addEventListener("change", ({ target }) => {
    if (target.files.length) load(target.files[0]);
    target.value = ""; // so that the same file can be opened again
  });
  onDrop(load);
}

/** A file may be dropped anywhere on the page. */
function onDrop(load) {
  const holdsFiles = (event) => event.dataTransfer?.types.includes("Files");
  const mark = (dropping) => document.body.classList.toggle("dropping", dropping);
  document.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    mark(true);
  });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) mark(false); });
  document.addEventListener("drop", (event) => {
    mark(false);
    if (!holdsFiles(event)) return;
    event.preventDefault();
    load(event.dataTransfer.files[0]);
  });
}

async function read(file) {
  if (file.size > LARGEST) throw new Error(`${file.name} has ${counted(file.size, "byte", "bytes")}; the page opens files of up to 1 MB. For longer texts there is the command spanwright tag.`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} cannot be read as text in UTF-8.`);
  }
}
