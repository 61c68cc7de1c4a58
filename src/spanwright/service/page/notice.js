// What went wrong, and what can be done about it.

import { find, make } from "./elements.js";

let retry = null;

/** Make the notice and listen to its buttons; a token is handed on before the next try. */
export function onNotice(useToken) {
  find("notice").replaceChildren(named("p", "notice-text"), tokenForm(), button("again", "Try again"), button("notice-close", "✕"));
  find("notice-close").className = "plain";
  find("notice-close").setAttribute("aria-label", "Close the message");
  find("again").addEventListener("click", () => retry?.());
  find("notice-close").addEventListener("click", hideNotice);
  find("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    useToken(find("token").value);
    find("token").value = "";
    retry?.();
  });
}

function named(name, id, ...children) {
  const element = make(name, "", ...children);
  element.id = id;
  return element;
}

function button(id, text) {
  const element = named("button", id, text);
  element.type = "button";
  return element;
}

function tokenForm() {
  const label = make("label", "", "Access token");
  const input = named("input", "token");
  [label.htmlFor, input.type, input.autocomplete, input.required] = ["token", "password", "off", true];
  return named("form", "token-form", label, input, make("button", "", "Use it"));
}

/** Show a problem {status, message}; `again` repeats what failed. */
export function showNotice({ status, message }, again) {
  retry = again;
  find("notice").hidden = false;
  find("notice-text").textContent = message;
  find("token-form").hidden = status !== 401;
  find("again").hidden = status !== 503 && !(status === 0 && again);
  if (status === 401) find("token").focus();
}

export function hideNotice() {
  find("notice").hidden = true;
}
