"""The counts of real dictionaries and ontologies."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanwright.formats.files import read
from spanwright.lexicons import LexiconLog, lexicon_from_documents, merge, read_lexicon
from spanwright.lexicons.obo import SCOPES, term_stanzas


@pytest.mark.parametrize(
    ("name", "terms", "obsolete", "synonyms"),
    [
        ("doid.obo", 9_344, 2_373, 15_269),
        # The file has one synonym more, of a relation.
        ("cl-basic.obo", 2_692, 157, 2_681),
        ("chebi_import.obo", 1_583, 0, 6_217),
    ],
)
def test_ontologies(corpora: Path, name: str, terms: int, obsolete: int, synonyms: int) -> None:
    path = corpora / "ontologies" / name
    log = LexiconLog()
    assert sum(len(stanza.synonyms) for stanza in term_stanzas(path, log)) == synonyms
    assert log.problems == []
    lexicon = read_lexicon(path, scopes=SCOPES)
    assert lexicon.log.problems == []
    assert lexicon.log.left_out.get("obsolete terms", 0) == obsolete
    assert len(lexicon) == lexicon.log.entries_read == terms - obsolete
    assert lexicon.log.entries == terms


def test_all_diseases_are_below_the_root_of_the_disease_ontology(corpora: Path) -> None:
    lexicon = read_lexicon(corpora / "ontologies" / "doid.obo", roots={"DOID:4": "Disease"})
    assert lexicon.types == ("Disease",)
    assert lexicon.log.entries == 9_344
    assert lexicon.concepts("Pterygium") == ("DOID:0002116",)
    assert lexicon.synonyms("pterygium") == ("surfer's eye",)


def test_medic(corpora: Path) -> None:
    lexicon = read_lexicon(corpora / "ontologies" / "medic_06Jul2012.txt", type="Disease")
    assert len(lexicon) == len(list(lexicon.terms("Disease"))) == lexicon.log.entries == 11_915
    assert lexicon.log.problems == []
    assert lexicon.synonyms("bluetongue") == ("Blue Tongue", "Tongue, Blue")


def test_the_core_dictionary_of_autoner(corpora: Path) -> None:
    lexicon = read_lexicon(corpora / "autoner_bc5cdr" / "dict_core.txt")
    assert len(list(lexicon.terms("Chemical"))) == 1_193
    assert len(list(lexicon.terms("Disease"))) == 1_289
    assert lexicon.log.entries == 2_482


def test_the_full_dictionary_of_autoner(corpora: Path) -> None:
    lexicon = read_lexicon(corpora / "autoner_bc5cdr" / "dict_full.txt")
    assert len(lexicon) == lexicon.log.entries == 6_877
    assert lexicon.types == ()


def test_coverage_of_ncbi_disease(corpora: Path) -> None:
    folder = corpora / "ncbi_disease" / "pubtator"
    medic = read_lexicon(corpora / "ontologies" / "medic_06Jul2012.txt", number_prefix="OMIM:")
    train = lexicon_from_documents(read(folder / "NCBItrainset_corpus.txt").documents)
    dev = read(folder / "NCBIdevelopset_corpus.txt").documents
    covered = [
        lexicon.coverage(dev).overall.mentions_covered for lexicon in (medic, train, merge(medic, train))
    ]
    assert covered == [471, 479, 606]


def test_a_tokenised_corpus_is_covered_like_the_original(corpora: Path) -> None:
    folder = corpora / "ncbi_disease"
    medic = read_lexicon(corpora / "ontologies" / "medic_06Jul2012.txt")
    original = medic.coverage(read(folder / "pubtator" / "NCBIdevelopset_corpus.txt").documents).overall
    tokenised = medic.coverage(read(folder / "brat_tokenised" / "dev").documents).overall
    assert tokenised.mentions_covered == original.mentions_covered
