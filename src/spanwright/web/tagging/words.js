// Words and sentences, by the patterns of `text/words.py` and `text/sentences.py`, which the export writes down.

import { ABBREVIATION, BORDER, CLOSING, LIMITS, LOWER, SPACE, UPPER, WORD } from "./patterns.js";

const word = new RegExp(WORD, "gu");
const border = new RegExp(BORDER, "gu");
const abbreviation = new RegExp(`^(?:${ABBREVIATION})$`, "iu");
const blanks = new RegExp(`[${SPACE}]+`, "u");
const leading = new RegExp(`^[${SPACE}]+`, "u");
const trailing = new RegExp(`[${SPACE}]+$`, "u");
const lower = new RegExp(`^[${LOWER}]`, "u");
const upper = new RegExp(`^[${UPPER}]$`, "u");
const closing = new RegExp(`[${CLOSING}]+$`, "u");

/** The words of a text, as [start, end] in UTF-16 units. */
export function words(text) {
  return Array.from(text.matchAll(word), ({ index, 0: found }) => [index, index + found.length]);
}

/** The sentences of a text, as [start, end]. */
export function sentences(text) {
  const ranges = [];
  let start = text.length - text.replace(leading, "").length;
  const wrapped = new Set(wrappedBreaks(text));
  for (const match of text.matchAll(border)) {
    const { index, groups: { gap } } = match;
    const end = index + match[0].length;
    if (gap === undefined && wrapped.has(index)) continue;
    if (gap && isAbbreviation(text, start, index)) {
      const lineBreak = gap.indexOf("\n");
      if (lineBreak < 0 || wrapped.has(end - gap.length + lineBreak)) continue;
    }
    append(ranges, text, start, end);
    start = end;
  }
  append(ranges, text, start, text.length);
  return ranges;
}

const bare = (text) => text.replace(trailing, "");

function append(ranges, text, start, end) {
  const last = start + bare(text.slice(start, end)).length;
  if (start < last) ranges.push([start, last]);
}

/** The positions of the line breaks that end no sentence. */
function* wrappedBreaks(text) {
  for (const lines of paragraphs(text)) {
    const width = Math.max(...lines.map(([start, end]) => points(text.slice(start, end))));
    if (width > LIMITS.widest) continue;
    const full = lines.slice(1).map((after, at) => isFull(text, lines[at], after, width));
    const isWrapped = width >= LIMITS.narrowest && full.filter(Boolean).length > 1;
    for (const [at, after] of lines.slice(1).entries()) {
      const line = lines[at];
      const next = text.slice(line[1], after[1]).replace(leading, "");
      const goesOn = lower.test(next) || (isWrapped && full[at]);
      if (goesOn && !isEnded(text, line)) yield text.indexOf("\n", line[1]);
    }
  }
}

function* paragraphs(text) {
  let lines = [];
  let start = 0;
  for (const line of text.includes("\n") ? text.split("\n") : []) {
    const end = start + bare(line).length;
    if (start < end) lines.push([start, end]);
    else {
      if (lines.length > 1) yield lines;
      lines = [];
    }
    start += line.length + 1;
  }
  if (lines.length > 1) yield lines;
}

const points = (text) => Array.from(text).length;

function isFull(text, line, after, width) {
  const [first] = text.slice(...after).replace(leading, "").split(blanks, 1);
  return points(text.slice(...line)) + 1 + Math.min(points(first), LIMITS.longest_token) > width;
}

function isEnded(text, line) {
  const whole = text.slice(...line).replace(closing, "");
  const before = whole.replace(/[.!?。！？]+$/u, "");
  return before !== whole && !isAbbreviation(text, line[0], line[0] + before.length);
}

function isAbbreviation(text, start, stop) {
  const tokens = text.slice(Math.max(start, stop - LIMITS.longest_token), stop + 1).split(blanks);
  const token = tokens.filter(Boolean).at(-1).slice(0, -1).replace(/^[(["']+/u, "");
  return upper.test(token) || abbreviation.test(token);
}
