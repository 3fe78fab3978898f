"""Links in README.md and docs/ lead somewhere; code that the method's page names is there."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^()\s]+)\)")


def links(page):
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return LINK.findall(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for link in links(page):
        url = urlsplit(link)
        if url.scheme:  # nothing outside is asked
            assert url.scheme == "https" and re.fullmatch(r"([\w-]+\.)+[a-z]{2,}", url.netloc), link
        elif url.path:
            assert (page.parent / url.path).exists(), f"{page.name}: {link}"
        else:
            headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
            assert url.fragment in {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}, link


def test_the_method_names_code_that_is_there():
    rows = re.findall(r"^\|.*\|$", (ROOT / "docs" / "method.md").read_text(), re.MULTILINE)
    named = []
    for row in rows:
        folder, text = Path("proverl/reward"), ""  # of a file named without one
        for word in re.findall(r"`([\w/.]+)`", row):
            if word.endswith(".py"):
                folder = Path(word).parent if "/" in word else folder
                (file,) = ROOT.glob(f"packages/*/src/{folder / Path(word).name}")
                text += file.read_text()
            elif text and not word.startswith("trainer."):
                assert re.search(rf"def {word.rpartition('.')[2]}\b", text), row
            named.append(word)
    assert len(named) > 20
