"""What the site has besides the files of docs/: generated references, and pages of the repository's root."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))

import commands_page
import python_page
import settings_page

ROOT = Path(__file__).resolve().parents[2]
ROOT_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}
"""Files of the repository's root that are pages of the site, by the names they have there."""
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#|/)([^)#\s]*)(#[^)\s]*)?(?=\))")
"""A relative link of Markdown: its path and its anchor."""
HTML_LINK = re.compile(r'(?<=src=")(?!https?:)([^"]+)(?=")')
FETCHED, OWN = "https://unpkg.com/iframe-worker/shim", "assets/search-frame.js"
"""What the theme would fetch for the search in files, and what stands in for it."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List pages of docs/ that mkdocs.yml does not name under How-to, so that a new page is never lost."""
    named = set(re.findall(r"[\w/-]+\.md", str(config.nav)))
    more = sorted(page.name for page in (ROOT / "docs").glob("*.md") if page.name not in named)
    how_to = next(section["How-to"] for section in config.nav or () if "How-to" in section)
    if more:
        how_to.append({"More": more})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and those of the root."""
    texts = {
        "reference/settings.md": settings_page.text(),
        "reference/commands.md": commands_page.text(),
        "reference/python.md": python_page.text(),
    }
    for name, target in ROOT_PAGES.items():
        texts[target] = (ROOT / name).read_text(encoding="utf-8")
    for target, text in texts.items():
        files.append(File.generated(config, target, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: MkDocsConfig, files: Files) -> str:
    """Lead links between docs/ and the rest of the repository to where the site has their targets."""
    place = page.file.src_uri
    source = next((name for name, target in ROOT_PAGES.items() if target == place), f"docs/{place}")
    folder = (ROOT / source).parent
    depth = place.count("/")

    def moved(match: re.Match[str]) -> str:
        path = match.group(1)
        anchor = (match.group(2) or "") if match.re is LINK else ""
        if not path:
            return match.group(0)
        target = (folder / path).resolve()
        if not target.is_relative_to(ROOT) or not target.exists():
            return match.group(0)  # mkdocs reports it
        return "../" * depth + _on_site(target.relative_to(ROOT).as_posix(), config) + anchor

    markdown = HTML_LINK.sub(moved, LINK.sub(moved, markdown))
    return re.sub(r"\[([^\]]+)\]\((?:\.\./)*repository:[^)]*\)", r"\1", markdown)


def on_post_page(output: str, page: Any, config: MkDocsConfig) -> str:
    """Let the search in files come from the site itself; the theme would fetch a script from elsewhere."""
    return output.replace(FETCHED, "../" * page.file.src_uri.count("/") + OWN)


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """The same for the page of addresses that are not there."""
    return output_content.replace(FETCHED, f"/{OWN}")


def _on_site(path: str, config: MkDocsConfig) -> str:
    """The page or file of the site for a file of the repository; `repository:` where the site has none."""
    if path in ROOT_PAGES:
        return ROOT_PAGES[path]
    if path.startswith("docs/") and (ROOT / path).is_file():
        return path.removeprefix("docs/")
    return f"repository:{path}"
