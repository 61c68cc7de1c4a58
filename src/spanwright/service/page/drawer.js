// On narrow screens the side is a drawer at the bottom, which a button opens; on wide ones it is always there.

import { find } from "./elements.js";

export function onDrawer() {
  const [side, opener] = [find("side"), find("open-side")];
  const turn = (open) => {
    side.classList.toggle("open", open);
    opener.setAttribute("aria-expanded", open);
    if (open) find("close-side").focus();
    else if (side.contains(document.activeElement)) opener.focus();
  };
  opener.addEventListener("click", () => turn(!side.classList.contains("open")));
  find("close-side").addEventListener("click", () => turn(false));
  find("scrim").addEventListener("click", () => turn(false));
  side.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !side.classList.contains("open")) return;
    event.stopPropagation();
    turn(false);
  });
}
