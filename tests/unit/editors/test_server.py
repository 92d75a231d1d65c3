"""The language server, spoken to over its standard streams as an editor speaks to it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pygls")

TEXT = """let N = 8;  // 𝒩 sessions
stage svc : fifo;
stage think : delay;
workload { arrive closed(N); }
session { loop { set t0 = now; run svc (~exp(1)); observe response = now - t0; run think (~exp(4)); } }
"""
URI = "file:///somewhere/m.sq"


class Client:
    """As much of an editor as it takes: messages with a length in front, answers by their number."""

    def __init__(self) -> None:
        words = [sys.executable, "-m", "serq", "lsp", "--stdio"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.number = 0
        self.version = 0

    def send(self, method: str, params: object, **more: object) -> None:
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params} | more).encode()
        assert self.process.stdin
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b": ")
            if name == b"Content-Length":
                length = int(value)
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def ask(self, method: str, params: object) -> Any:
        self.number += 1
        self.send(method, params, id=self.number)
        while (message := self.receive()).get("id") != self.number:
            pass
        assert "error" not in message, message
        return message["result"]

    def told(self, method: str) -> dict[str, Any]:
        """The parameters of the next message of that kind."""
        while (message := self.receive()).get("method") != method:
            pass
        params: dict[str, Any] = message["params"]
        return params

    def write(self, text: str) -> list[dict[str, Any]]:
        """Put this text into the document; the diagnostics that come back."""
        self.version += 1
        if self.version == 1:
            document = {"uri": URI, "languageId": "serq", "version": 1, "text": text}
            self.send("textDocument/didOpen", {"textDocument": document})
        else:
            document = {"uri": URI, "version": self.version}
            self.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        found = self.told("textDocument/publishDiagnostics")
        assert found["uri"] == URI
        diagnostics: list[dict[str, Any]] = found["diagnostics"]
        return diagnostics

    def at(self, method: str, line: int, character: int) -> Any:
        place = {"line": line, "character": character}
        return self.ask(f"textDocument/{method}", {"textDocument": {"uri": URI}, "position": place})

    def labels(self, text: str, mark: str = "|") -> list[str]:
        """What is offered at the mark in a text."""
        before, after = text.split(mark)
        self.write(before + after)
        line, character = before.count("\n"), len(before) - before.rfind("\n") - 1
        return [item["label"] for item in self.at("completion", line, character)["items"]]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    out = Client()
    options = {"processId": None, "rootUri": None, "capabilities": {}}
    capabilities = out.ask("initialize", options)["capabilities"]
    assert capabilities["hoverProvider"]
    assert capabilities["completionProvider"]["triggerCharacters"] == ["~"]
    out.send("initialized", {})
    yield out
    out.ask("shutdown", None)
    out.send("exit", None)
    assert out.process.wait(60) == 0


def place(line: int, start: int, end: int) -> dict[str, dict[str, int]]:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


def test_diagnostics_come_and_go(client: Client) -> None:
    assert client.write(TEXT) == []
    (fault,) = client.write(TEXT.replace("run svc", "run svd"))
    assert fault["code"] == "SQ102"
    assert fault["severity"] == 1
    assert fault["range"] == place(4, 35, 38)
    assert "did you mean `svc`?" in fault["message"]
    (warning,) = client.write(TEXT + "let unused = 1;\n")
    assert (warning["severity"], warning["range"]["start"]["line"]) == (2, 5)
    assert client.write(TEXT) == []


def test_several_faults_at_once_with_their_second_places(client: Client) -> None:
    faults = client.write(TEXT + "stage N : fifo;\nlet M = X;\n")
    assert [fault["range"]["start"]["line"] for fault in faults] == [5, 6]
    (related,) = faults[0]["relatedInformation"]
    assert related["location"] == {"uri": URI, "range": place(0, 4, 5)}


def test_columns_are_counted_as_the_protocol_counts(client: Client) -> None:
    (fault,) = client.write('workload { arrive none; trace "𝒩.csv" orderd; } session { observe x = 1; end; }')
    assert fault["range"]["start"]["character"] == len('workload { arrive none; trace "??.csv" ')


def test_hover(client: Client) -> None:
    client.write(TEXT)
    shown = client.at("hover", 4, 36)
    assert shown["contents"]["kind"] == "markdown"
    assert "stage `svc`, line 2" in shown["contents"]["value"]
    assert "stage svc : fifo;" in shown["contents"]["value"]
    assert shown["range"] == place(4, 35, 38)
    assert (
        "release" in client.at("hover", 4, 12)["contents"]["value"]
        or "`loop" in client.at("hover", 4, 12)["contents"]["value"]
    )
    assert "the present time" in client.at("hover", 4, 27)["contents"]["value"]
    assert client.at("hover", 4, 8) is None


def test_where_a_name_is_given(client: Client) -> None:
    client.write(TEXT)
    assert client.at("definition", 3, 25) == {"uri": URI, "range": place(0, 4, 5)}
    assert client.at("definition", 3, 2) is None


def test_stages_behind_run_and_laws_behind_a_tilde(client: Client) -> None:
    head, tail = TEXT.split("run svc", 1)
    assert client.labels(f"{head}run s|{tail}") == ["svc", "think"]
    assert client.labels(TEXT.replace("~exp(4)", "~e|xp(4)"))[:2] == ["exp", "det"]


def test_keywords_where_they_may_stand(client: Client) -> None:
    offered = client.labels(TEXT.replace("set t0", "| set t0", 1))
    assert {"hold", "branch", "loop", "observe"} <= set(offered)
    assert not {"pool", "cap", "horizon", "svc"} & set(offered)
    assert {"pool", "run", "gauge"} <= set(client.labels(TEXT + "\n|"))
    assert set(client.labels("pool kv { | }")) == {
        "cap", "block", "evict", "preempt", "queue", "admit", "pin", "spill",
    }  # fmt: skip


def test_names_in_an_expression(client: Client) -> None:
    offered = client.labels(TEXT.replace("now - t0", "now - |"))
    assert offered[:4] == ["N", "svc", "think", "t0"]
    assert {"min", "queue", "serial"} <= set(offered)


def test_no_names_where_one_is_given(client: Client) -> None:
    assert client.labels(TEXT + "let |") == []


def test_words_in_a_text_that_cannot_be_followed(client: Client) -> None:
    assert "session" in client.labels("lett N = 8;\n|")


def test_layout(client: Client) -> None:
    client.write("let   N=8 ;")
    options = {"tabSize": 2, "insertSpaces": True}
    (edit,) = client.ask("textDocument/formatting", {"textDocument": {"uri": URI}, "options": options})
    assert edit == {"range": place(0, 0, 11), "newText": "let N = 8;\n"}
    client.write("let N = ;")
    assert client.ask("textDocument/formatting", {"textDocument": {"uri": URI}, "options": options}) == []
