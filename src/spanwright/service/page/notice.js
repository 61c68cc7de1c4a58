// What went wrong, and what can be done about it.

import { find } from "./elements.js";

let retry = null;

/** Listen to the buttons of the notice; a token is handed on before the next try. */
export function onNotice(useToken) {
  find("again").addEventListener("click", () => retry?.());
  find("notice-close").addEventListener("click", hideNotice);
  find("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    useToken(find("token").value);
    find("token").value = "";
    retry?.();
  });
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
