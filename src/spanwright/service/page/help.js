// The keys of the page in a dialog, which a button or "?" opens.

import { find } from "./elements.js";

const TYPING = "input, textarea, select";

export function onHelp() {
  find("open-help").addEventListener("click", () => find("help").showModal());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || event.target.closest?.(TYPING) || find("help").open) return;
    event.preventDefault();
    find("help").showModal();
  });
}
