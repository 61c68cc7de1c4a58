from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from running import Outcome, run

import making
import spanwright
from spanwright.cli.main import app
from spanwright.formats.files import read, write
from spanwright.text import Document

TEST = making.documents(5, prefix="test")
SMALL = (*making.SMALL, "training.epochs=3")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train, dev and test files."""
    folder = tmp_path_factory.mktemp("corpus")
    write(making.documents(60), folder / "train.jsonl")
    write(making.documents(8, prefix="dev"), folder / "dev.jsonl")
    write(TEST, folder / "test.jsonl")
    return folder


def train(corpus: Path, out: Path, encoder: str, *arguments: object) -> Outcome:
    settings = [argument for change in SMALL for argument in ("--set", change)]
    files = ("--train", corpus / "train.jsonl", "--dev", corpus / "dev.jsonl")
    return run("train", "plain", *files, "--out", out, "--encoder", encoder, *settings, *arguments)


@pytest.fixture(scope="module")
def trained(
    corpus: Path, tiny_encoder: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Outcome, Path]:
    """What `train` printed, and the folder of the run."""
    out = tmp_path_factory.mktemp("runs") / "run"
    return train(corpus, out, tiny_encoder, "--test", corpus / "test.jsonl"), out


@pytest.fixture(scope="module")
def model(trained: tuple[Outcome, Path]) -> Path:
    return trained[1] / "model"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A folder with the texts of the test documents, one file each."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for document in TEST:
        (folder / f"{document.id}.txt").write_text(document.text)
    return folder


def found(path: Path, format: str | None = None) -> dict[str, set[tuple[int, int, str]]]:
    """The entities in a file by document."""
    return {
        document.id: {(entity.start, entity.end, entity.type) for entity in document.entities}
        for document in read(path, format=format).documents
    }


@pytest.fixture(scope="module")
def answer(model: Path) -> dict[str, set[tuple[int, int, str]]]:
    """What the model finds in the test documents."""
    tagged = spanwright.load(model).tag(TEST)
    return {d.id: {(e.start, e.end, e.type) for e in d.entities} for d in tagged}


def test_training_ends_with_a_model_and_says_where(trained: tuple[Outcome, Path]) -> None:
    outcome, run_folder = trained
    assert outcome.code == 0, outcome.stderr
    assert f"model: {run_folder / 'model'}" in outcome.stderr
    assert (run_folder / "model" / "spanwright.json").is_file()


def test_training_shows_the_data_and_what_candidates_can_reach(trained: tuple[Outcome, Path]) -> None:
    shown = trained[0].stderr
    for line in ("recall ceiling", "candidate spans up to 2 words; decoding non-crossing", "learning rates:"):
        assert line in shown
    assert "training documents removed because they stand in dev or test: 0" in shown
    assert "epoch 3: dev precision" in shown


def test_training_prints_the_scores_of_dev_and_test(trained: tuple[Outcome, Path]) -> None:
    outcome, run_folder = trained
    scores = json.loads((run_folder / "scores.json").read_text())
    for split in ("dev", "test"):
        assert f"{100 * scores[split]['micro']['f1']:.1f}" in outcome.stdout
    assert outcome.stdout.count("micro") == 2


def test_a_finished_run_is_not_overwritten_but_can_be_resumed(
    corpus: Path, tiny_encoder: str, trained: tuple[Outcome, Path]
) -> None:
    again = train(corpus, trained[1], tiny_encoder, "--test", corpus / "test.jsonl")
    assert again.code == 2
    assert "a run is there already; continue it with --resume" in again.error
    resumed = train(corpus, trained[1], tiny_encoder, "--test", corpus / "test.jsonl", "--resume")
    assert resumed.code == 0
    assert resumed.stdout == trained[0].stdout


def test_an_encoder_folder_may_be_called_like_a_number(
    corpus: Path, tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_encoder, tmp_path / "2024")
    monkeypatch.chdir(tmp_path)
    assert train(corpus, Path("run"), "2024", "--set", "training.epochs=1").code == 0


def test_types_and_folders_with_brackets_are_shown_as_they_are(
    corpus: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    """Square brackets are markup to the library that draws on the terminal, and `[/]` would end it."""
    for name in ("train", "dev"):
        text = (corpus / f"{name}.jsonl").read_text().replace('"Cell"', '"[/Cell]"')
        (tmp_path / f"{name}.jsonl").write_text(text)
    outcome = train(tmp_path, tmp_path / "run [/1]", tiny_encoder, "--set", "training.epochs=1")
    assert outcome.code == 0, outcome.stderr
    assert "[/Cell]" in outcome.stderr and "[/Cell]" in outcome.stdout
    assert f"model: {tmp_path}/run [/1]/model" in outcome.stderr


def test_types_of_dev_that_train_lacks_are_named_in_a_warning(
    corpus: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    shutil.copy(corpus / "train.jsonl", tmp_path)
    text = (corpus / "dev.jsonl").read_text()
    count = text.count('"Gene"')
    (tmp_path / "dev.jsonl").write_text(text.replace('"Gene"', '"[Drug]"'))
    outcome = train(tmp_path, tmp_path / "run", tiny_encoder, "--set", "training.epochs=1")
    assert outcome.code == 0
    warning = f"warning: dev has types that train lacks; they count as misses: [Drug] ({count})"
    assert warning in outcome.stderr.splitlines()


def test_problems_in_reading_are_told_before_training(
    corpus: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    (tmp_path / "train.jsonl").write_text((corpus / "train.jsonl").read_text() + '{"id": \n')
    shutil.copy(corpus / "dev.jsonl", tmp_path)
    outcome = train(tmp_path, tmp_path / "run", tiny_encoder, "--set", "training.epochs=1")
    assert outcome.code == 0
    assert f"{tmp_path / 'train.jsonl'}:61: not JSON" in outcome.stderr
    strict = train(tmp_path, tmp_path / "strict", tiny_encoder, "--strict")
    assert strict.code == 2
    assert f"{tmp_path / 'train.jsonl'}:61: not JSON" in strict.error
    assert not (tmp_path / "strict").exists()


def test_a_file_is_tagged(
    model: Path, corpus: Path, tmp_path: Path, answer: dict[str, set[tuple[int, int, str]]]
) -> None:
    out = tmp_path / "tagged.jsonl"
    outcome = run("tag", model, corpus / "test.jsonl", "--out", out)
    assert outcome.code == 0, outcome.stderr
    assert found(out) == answer
    entities = sum(map(len, answer.values()))
    assert f"5 documents, {entities} entities" in outcome.stderr
    assert entities > 10


def test_a_folder_of_texts_is_tagged(
    model: Path, texts: Path, tmp_path: Path, answer: dict[str, set[tuple[int, int, str]]]
) -> None:
    assert run("tag", model, texts, "--out", tmp_path / "tagged.jsonl").code == 0
    assert found(tmp_path / "tagged.jsonl") == answer


def test_a_glob_that_the_shell_left_alone_is_tagged(
    model: Path, texts: Path, tmp_path: Path, answer: dict[str, set[tuple[int, int, str]]]
) -> None:
    assert run("tag", model, texts / "test-[01].txt", "--out", tmp_path / "tagged.jsonl").code == 0
    assert found(tmp_path / "tagged.jsonl") == {id: answer[id] for id in ("test-0", "test-1")}


def test_standard_input_is_tagged_line_by_line_to_standard_output(
    model: Path, answer: dict[str, set[tuple[int, int, str]]]
) -> None:
    lines = "\r\n".join(document.text for document in TEST).encode()
    outcome = run("tag", model, "-", stdin=lines)
    assert outcome.code == 0, outcome.stderr
    records = [json.loads(line) for line in outcome.stdout.splitlines()]
    assert [record["id"] for record in records] == [f"line-{number}" for number in range(1, 6)]
    assert [record["text"] for record in records] == [document.text for document in TEST]
    entities = [{(e["start"], e["end"], e["type"]) for e in record["entities"]} for record in records]
    assert entities == list(answer.values())


def test_bad_bytes_on_standard_input_are_told_and_cost_one_line(model: Path) -> None:
    outcome = run("tag", model, "-", stdin=b"one bcase\ntwo \xff bcase\nthree bcase\n")
    assert outcome.code == 0
    assert [json.loads(line)["id"] for line in outcome.stdout.splitlines()] == ["line-1", "line-3"]
    assert "standard input:2: byte 0xff at offset 4 of the line" in outcome.stderr


def test_pubtator_is_written(
    model: Path, corpus: Path, tmp_path: Path, answer: dict[str, set[tuple[int, int, str]]]
) -> None:
    assert run("tag", model, corpus / "test.jsonl", "--out", tmp_path / "tagged.pubtator").code == 0
    assert found(tmp_path / "tagged.pubtator") == answer


ANNOTATED = "7|t|one bcase\n7|a|\n7\t4\t9\tbcase\tGold\tD1\n7\tCID\tD1\tD2\n\n"


@pytest.mark.parametrize("out", ["tagged.pubtator", "tagged.jsonl", "tagged.bioc.xml", "tagged.brat"])
def test_nothing_that_was_annotated_is_in_a_tagged_file(model: Path, tmp_path: Path, out: str) -> None:
    (tmp_path / "in.pubtator").write_text(ANNOTATED, encoding="utf-8")
    assert run("tag", model, tmp_path / "in.pubtator", "--out", tmp_path / out).code == 0
    (tagged,) = read(tmp_path / out).documents
    assert (tagged.text, tagged.relations, tagged.annotation_notes) == ("one bcase", (), {})
    assert all(entity.type != "Gold" and not entity.concepts for entity in tagged.entities)


def test_confidences_that_a_format_has_no_place_for_are_told(
    model: Path, corpus: Path, tmp_path: Path, answer: dict[str, set[tuple[int, int, str]]]
) -> None:
    outcome = run("tag", model, corpus / "test.jsonl", "--out", tmp_path / "tagged.pubtator")
    assert f"{sum(map(len, answer.values()))} confidences" in outcome.stderr


def test_a_brat_folder_is_written_and_can_be_tagged_again(
    model: Path, corpus: Path, tmp_path: Path, answer: dict[str, set[tuple[int, int, str]]]
) -> None:
    folder = tmp_path / "brat"
    assert run("tag", model, corpus / "test.jsonl", "--out", folder, "--format", "brat").code == 0
    assert found(folder) == answer
    assert run("tag", model, folder, "--out", tmp_path / "again.jsonl").code == 0
    assert found(tmp_path / "again.jsonl") == answer


@pytest.mark.parametrize("out", ["tagged.conll", "-"])
def test_nested_entities_are_not_lost_silently_in_a_column_file(
    model: Path, corpus: Path, tmp_path: Path, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ("tag", model, corpus / "test.jsonl", "--out", out, "--format", "conll")
    refused = run(*arguments)
    assert refused.code == 2
    assert "conll cannot express the entity 'Gene'" in refused.error
    assert list(tmp_path.iterdir()) == []
    allowed = run(*arguments, "--lossy")
    assert allowed.code == 0
    assert "left out: the entity 'Gene'" in allowed.stderr
    if out != "-":
        assert "B-Cell" in (tmp_path / out).read_text()
    else:
        assert "B-Cell" in allowed.stdout


def test_tagged_files_can_be_evaluated_and_score_as_in_training(
    trained: tuple[Outcome, Path], corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "tagged.pubtator"
    assert run("tag", trained[1] / "model", corpus / "test.jsonl", "--out", out).code == 0
    outcome = run("evaluate", corpus / "test.jsonl", out, "--json")
    assert outcome.code == 0
    scores = json.loads((trained[1] / "scores.json").read_text())
    assert json.loads(outcome.stdout)["micro"] == scores["test"]["micro"]


def test_an_empty_text_is_tagged(model: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    outcome = run("tag", model, tmp_path / "empty.txt")
    assert outcome.code == 0
    assert json.loads(outcome.stdout) == {"id": "empty", "text": "", "entities": []}


def test_recipes_are_listed_with_what_they_are() -> None:
    outcome = run("recipes")
    assert outcome.code == 0
    assert any(line.split()[:2] == ["plain", "Span"] for line in outcome.stdout.splitlines())


def test_a_recipe_is_printed_so_that_it_can_be_used(tmp_path: Path) -> None:
    outcome = run("recipes", "plain")
    assert outcome.code == 0
    path = tmp_path / "mine.toml"
    path.write_text(outcome.stdout)
    assert outcome.stdout.startswith("# ")
    from spanwright.settings import load_settings

    assert load_settings(str(path)) == load_settings("plain")


def test_the_version_is_printed() -> None:
    outcome = run("--version")
    assert (outcome.code, outcome.stdout) == (0, f"spanwright {spanwright.__version__}\n")


def verbs() -> list[str]:
    """The names of all commands; those of a group stand after its name."""
    found = [str(command.name) for command in app.registered_commands]
    for group in app.registered_groups:
        assert group.typer_instance is not None
        commands = group.typer_instance.registered_commands
        found += [f"{group.name or group.typer_instance.info.name} {command.name}" for command in commands]
    return found


@pytest.mark.parametrize("verb", verbs())
def test_the_help_of_every_verb_has_an_example(verb: str) -> None:
    outcome = run(*verb.split(), "--help")
    assert outcome.code == 0
    assert f"Example: spanwright {verb} " in outcome.stdout


def test_the_help_lists_every_verb() -> None:
    outcome = run("--help")
    assert {"quickstart", "train", "tag", "evaluate", "recipes"} <= set(verbs())
    assert all(verb.split()[0] in outcome.stdout for verb in verbs())


def test_documents_keep_what_tagging_does_not_change(model: Path, tmp_path: Path) -> None:
    document = Document("7", "one bcase", corpus="made", metadata={"year": 1996})
    write([document], tmp_path / "in.jsonl")
    assert run("tag", model, tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl").code == 0
    (tagged,) = read(tmp_path / "out.jsonl").documents
    assert tagged.with_entities(()) == document
