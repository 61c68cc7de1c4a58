// Elements and texts. Text from outside becomes text nodes and attributes only, never markup.

// Characters that are invisible or turn the direction of text.
const CONTROLS =
  /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff])/u;

export const find = (id) => document.getElementById(id);

export const count = (number) => number.toLocaleString("en");

/** A number of things in words: "1 entity", "1,200 entities". */
export const counted = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`;

export function make(name, style = "", ...children) {
  const element = document.createElement(name);
  if (style) element.className = style;
  element.append(...children);
  return element;
}

/** A name from outside, which cannot turn the direction of the text around it. */
export const named = (text, style = "") => written(make("bdi", style), text);

/**
 * Append text to an element, which is returned. A control character stays in the text, where it belongs, but its
 * number is drawn in its place, and it has no effect outside its own element. A carriage return before a line feed
 * is not drawn, as it belongs to the end of the line.
 */
export function written(parent, text) {
  if (!CONTROLS.test(text)) {
    parent.append(text);
    return parent;
  }
  text.split(CONTROLS).forEach((part, place, parts) => {
    if (place % 2) parent.append(control(part, parts[place + 1]));
    else if (part) parent.append(part);
  });
  return parent;
}

function control(character, after) {
  const element = make("span", "control", character);
  const number = character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  if (character !== "\r" || !after.startsWith("\n")) element.dataset.code = `U+${number}`;
  return element;
}
