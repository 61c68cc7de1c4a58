"""Which documents are passages of one article.

The article of a document is the first of these that there is:

- `metadata["doc_id"]`, which the sentences of GENIA's JSON lines have, and any document of JSON lines may;
- the id that the file gave. Of several documents with one id, readers number the later ones (`7`, `7#2`):
  they are of the article `7`, by `metadata["given_id"]` or because `7` is a document, too;
- none for documents whose id a reader made up, such as the sentences of a column file without document marks.

Ids may mean different things in two files, where both count from 0, say. So the same article in both is one
only if texts agree: see `same_articles`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from spanwright.text import Document

Article = str | None

_NUMBERED = re.compile(r"(.+)#\d+", re.DOTALL)


def given_id(document: Document) -> Article:
    """The id of the article as far as the document alone shows it; None if a reader made it up."""
    article = document.metadata.get("doc_id")
    if isinstance(article, str | int):
        return str(article)
    if document.generated_id:
        return None
    return str(document.metadata.get("given_id", document.id))


def articles(ids: Sequence[Article]) -> list[Article]:
    """The article of each document, by what `given_id` says of all of them."""
    known = set(ids)

    def article(id: Article) -> Article:
        numbered = _NUMBERED.fullmatch(id) if id is not None and "#" in id else None
        return numbered[1] if numbered and numbered[1] in known else id

    return [article(id) for id in ids]


def same_articles(alike: Iterable[tuple[Article, Collection[Article]]]) -> set[str]:
    """The articles of a corpus that are the articles of these names in another one, too.

    `alike` has, for each document of the corpus, its article and those of the documents with nearly the same
    text in the other. One document is enough, but not if its text stands in other articles as well.
    """
    return {article for article, others in alike if article is not None and set(others) - {None} == {article}}
