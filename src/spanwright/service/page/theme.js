// Light or dark: as the system says, or as chosen here before.

const KEY = "spanwright-theme";
const THEMES = ["auto", "light", "dark"];

function remembered() {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "auto";
  } catch {
    return "auto"; // a browser may forbid storage
  }
}

function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // It lasts until the page is closed, then.
  }
}

function apply(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  button.textContent = `Theme: ${theme}`;
  button.onclick = () => {
    const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    remember(next);
    apply(next);
  };
}

apply(remembered());
