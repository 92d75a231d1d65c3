"""Other people's traces: every trap of their columns and units, on files of our own and on public samples."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import serq
from shared_data import shared

from serq.base.errors import InputError, LoadError
from serq.traces.convert import FORMATS, Conversion, convert, write
from serq.traces.formats.turns import Turn
from serq.traces.reader import read_trace


def converted(path: Path, form: str, **options: bool) -> tuple[list[Turn], Conversion]:
    result = Conversion()
    turns = convert(path, form, options.get("start", False), options.get("keep_failed", False), result)
    return list(turns), result


def file_of(folder: Path, text: str, name: str = "in") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


# -- Azure and Vidur -------------------------------------------------------------------------------------------------

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"


def test_azure_times_have_seven_digits_and_lines_end_in_crlf(tmp_path: Path) -> None:
    text = AZURE + "2023-11-16 23:59:59.9799600,4808,10\r\n2023-11-17 00:00:00.0781490,110,0\r\n"
    turns, _ = converted(file_of(tmp_path, text), "azure")
    assert turns == [Turn("0", 1, 4808, 10, start=0.0), Turn("1", 1, 110, 0, start=0.098189)]


def test_azure_times_may_have_a_zone_and_any_number_of_digits(tmp_path: Path) -> None:
    text = AZURE + "2024-05-10 00:00:00.009930+00:00,9,1\n2024-05-10T02:00:01+02:00,9,1\n2024-05-10 00:00:01Z,9,1\n"
    turns, _ = converted(file_of(tmp_path, text), "azure")
    assert [turn.start for turn in turns] == [0.0, 0.99007, 0.99007]


def test_azure_may_have_further_columns(tmp_path: Path) -> None:
    text = "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2025-01-01 00:00:00.0000000,3,77,5\n"
    turns, _ = converted(file_of(tmp_path, text), "azure")
    assert (turns[0].new, turns[0].out) == (77, 5)


def test_the_azure_trace_is_what_vidur_made_of_it() -> None:
    ours, _ = converted(shared("traces", "azure2023_code_first5000.csv"), "azure")
    theirs, _ = converted(shared("traces", "vidur_splitwise_code.csv"), "vidur")
    assert len(ours) == 5000
    assert [replace(turn, start=None) for turn in ours] == [replace(turn, start=None) for turn in theirs[:5000]]
    assert [turn.start for turn in ours] == pytest.approx([turn.start for turn in theirs[:5000]], rel=1e-15, abs=1e-12)


def test_vidur_lengths_have_no_arrivals() -> None:
    turns, result = converted(shared("traces", "vidur_arxiv_lengths_first4000.csv"), "vidur")
    assert turns[0] == Turn("0", 1, 3772, 54, start=None)
    assert len(turns) == 4000
    assert not any("--start" in remark for remark in result.remarks)


# -- Mooncake --------------------------------------------------------------------------------------------------------


def test_mooncake_counts_milliseconds_and_calls_of_one_instant_keep_their_order(tmp_path: Path) -> None:
    rows = [
        {"timestamp": t, "input_length": 513 + i, "output_length": 4, "hash_ids": [0, i]}
        for i, t in enumerate([0, 0, 277])
    ]
    path = file_of(tmp_path, "\n".join(map(json.dumps, rows)) + "\n\n")
    turns, result = converted(path, "mooncake")
    assert [(turn.session, turn.new, turn.start) for turn in turns] == [("0", 513, 0), ("1", 514, 0), ("2", 515, 0.277)]
    assert any("hash_ids are left out" in remark for remark in result.remarks)


def test_mooncake_sample() -> None:
    turns, _ = converted(shared("traces", "mooncake_conversation_first700.jsonl"), "mooncake")
    assert len(turns) == 700
    assert (turns[0].new, turns[0].out, turns[3].start) == (6758, 500, 0.0)


# -- TraceLab --------------------------------------------------------------------------------------------------------


def test_tracelab_input_is_new_tokens_and_waits_are_milliseconds(tmp_path: Path) -> None:
    text = (
        "session_id,arrival_time,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n"
        "7,250,0,0,512,64,100\n7,250,1,576,128,64,0\n8,300,0,0,10,1,5\n7,250,2,0,300,9,0\n"
    )
    turns, _ = converted(file_of(tmp_path, text), "tracelab")
    assert turns == [
        Turn("7", 1, 512, 64, 0.1, False, 0.25),
        Turn("7", 2, 704, 64, 0.0, False, 0.25),
        Turn("8", 1, 10, 1, 0.005, False, 0.3),
        Turn("7", 3, 300, 9, 0.0, True, 0.25),  # nothing of the prompt before is left
    ]


def test_tracelab_samples() -> None:
    turns, result = converted(shared("traces", "tracelab_multi_session_large.csv"), "tracelab")
    assert (result.rows, result.sessions) == (303, 48)
    assert turns[1] == Turn("0", 2, 2518 + 348, 131, 0.154, False, 0.117)
    single, _ = converted(shared("traces", "tracelab_single_session.csv"), "tracelab")
    assert (single[1].new, single[1].start) == (18333 + 13570, None)


def test_tracelab_rounds_as_json_lines() -> None:
    """The think time is from the last output of a round to the last input of the next."""
    turns, _ = converted(shared("traces", "tracelab_sanitized_round_trace.jsonl"), "tracelab")
    assert len(turns) == 19
    assert [turn.new for turn in turns[:2]] == [32272, 35740]
    assert turns[0].think == pytest.approx(50.938 - 31.647)
    assert turns[4].think == pytest.approx(43.333 - 23.420)  # a user's message, no tool
    assert [turn.think for turn in turns if turn.session.startswith("claude:92")][-1] == 0


# -- Weka ------------------------------------------------------------------------------------------------------------


def weka(*requests: dict[str, object]) -> str:
    return json.dumps({"id": "c", "block_size": 64, "requests": requests})


def test_weka_think_time_stands_with_the_request_that_follows(tmp_path: Path) -> None:
    text = weka(
        {"t": 0.0, "in": 100, "out": 5, "api_time": 5.57, "think_time": 0.0},
        {"t": 12.0, "in": 200, "out": 6, "api_time": 4.0, "think_time": 7.0},
    )
    turns, result = converted(file_of(tmp_path, text), "weka")
    assert turns == [Turn("c", 1, 100, 5, 7.0), Turn("c", 2, 200, 6, 0.0)]
    assert "think: the recorded think_time of the next request" in result.remarks


def test_weka_gaps_without_the_service_time_where_no_think_time_is_recorded(tmp_path: Path) -> None:
    text = weka({"t": 0.0, "in": 100, "out": 5, "api_time": 5.57}, {"t": 12.0, "in": 200, "out": 6, "api_time": 4.0})
    turns, result = converted(file_of(tmp_path, text), "weka")
    assert turns[0].think == pytest.approx(6.43)
    assert any("less api_time" in remark for remark in result.remarks)


def test_weka_gaps_are_called_what_they_are(tmp_path: Path) -> None:
    turns, result = converted(
        file_of(tmp_path, weka({"t": 0, "in": 9, "out": 5}, {"t": 12, "in": 9, "out": 5})), "weka"
    )
    assert turns[0].think == 12
    assert any("hold the service time" in remark for remark in result.remarks)


def test_weka_subagents_are_sessions_and_lost_prefixes_are_forced_misses(tmp_path: Path) -> None:
    call = {"t": 0, "in": 640, "out": 5, "api_time": 1, "think_time": 2}
    text = weka(
        call | {"hash_ids": [1, 2, 3]},
        {"type": "subagent", "t": 3, "requests": [call, call]},
        call | {"hash_ids": [9, 2, 3]},
        call | {"hash_ids": [9, 2, 4]},
    )
    turns, result = converted(file_of(tmp_path, text), "weka")
    assert [(turn.session, turn.turn, turn.forced) for turn in turns] == [
        ("c/1", 1, False), ("c/1", 2, False), ("c", 1, False), ("c", 2, True), ("c", 3, False),
    ]  # fmt: skip
    assert any(remark.startswith("1 turns keep only a part") for remark in result.remarks)
    assert any("subagents" in remark for remark in result.remarks)


def test_a_directory_of_conversations(tmp_path: Path) -> None:
    for name in "ba":
        (tmp_path / f"{name}.json").write_text(json.dumps({"requests": [{"t": 0, "in": 1, "out": 1}]}))
    assert [turn.session for turn in converted(tmp_path, "weka")[0]] == ["a", "b"]


@pytest.mark.parametrize("text", ["", "[]", '{"requests": 3}', '{"requests": [', "\x00"])
def test_what_is_no_weka_trace(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        converted(file_of(tmp_path, text), "weka")
    assert caught.value.code == "SQ705"


# -- BurstGPT --------------------------------------------------------------------------------------------------------

BURST = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"


def test_burstgpt_think_time_is_what_the_answer_leaves_of_the_gap(tmp_path: Path) -> None:
    text = BURST + (
        "5,1,3.5,ChatGPT,472,18,490,Conversation log\n"
        "6,2,1,GPT-4,100,10,110,Conversation log\n"
        "20,1,2,ChatGPT,600,20,620,Conversation log\n"
        "21,1,9,ChatGPT,700,30,730,Conversation log\n"
        "21,,1,ChatGPT,7,3,10,API log\n"
    )
    turns, result = converted(file_of(tmp_path, text), "burstgpt")
    assert turns == [
        Turn("1", 1, 472, 18, 11.5, start=5),
        Turn("1", 2, 600, 20, 0.0, start=20),  # the next call came a second before the answer was complete
        Turn("call-5", 1, 7, 3, start=21),
        Turn("2", 1, 100, 10, start=6),
        Turn("1", 3, 700, 30, start=21),
    ]
    assert any(remark.startswith("1 calls were sent before the answer") for remark in result.remarks)


def test_burstgpt_failed_calls_are_left_out_or_kept(tmp_path: Path) -> None:
    path = file_of(tmp_path, BURST + "5,1,0,ChatGPT,472,0,472,Conversation log\n6,2,1,GPT-4,9,10,19,Conversation log\n")
    turns, result = converted(path, "burstgpt")
    assert [turn.session for turn in turns] == ["2"]
    assert any("1 failed calls" in remark for remark in result.remarks)
    kept, _ = converted(path, "burstgpt", keep_failed=True)
    assert [turn.out for turn in kept] == [0, 10]


def test_old_burstgpt_files_have_no_sessions(tmp_path: Path) -> None:
    text = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,API log\n"
    turns, result = converted(file_of(tmp_path, text), "burstgpt")
    assert turns == [Turn("0", 1, 472, 18, start=5)]
    assert any("names no sessions" in remark for remark in result.remarks)


# -- all of them -----------------------------------------------------------------------------------------------------

SAMPLES = {
    "azure": "azure2023_conv_first5000.csv",
    "mooncake": "mooncake_synthetic_first600.jsonl",
    "vidur": "vidur_splitwise_conv_first5000.csv",
    "tracelab": "tracelab_multi_session.csv",
    "weka": "weka_trace_0019.json",
}


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("form", SAMPLES)
def test_what_is_written_is_a_trace(form: str, suffix: str, tmp_path: Path) -> None:
    source, result = shared("traces", SAMPLES[form]), Conversion()
    out = tmp_path / f"trace.{suffix}"
    write(out, convert(source, form, True, False, result), keep_start=True)
    corpus = read_trace(out)
    turns, _ = converted(source, form)
    assert sum(corpus.turns(i) for i in range(len(corpus))) == len(turns) == result.rows
    first = turns[0]
    assert corpus.turn(0, 1)["new"] == first.new
    assert corpus.turn(0, 1)["think"] == first.think
    assert corpus.start[len(corpus) - 1] == pytest.approx(result.last_start)


@pytest.mark.parametrize("form", FORMATS)
def test_missing_and_empty_files(form: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        converted(tmp_path / "none", form)
    with pytest.raises((InputError, LoadError)):
        converted(file_of(tmp_path, ""), form)


def test_a_file_with_faults_leaves_no_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = file_of(tmp_path, AZURE + "2023-11-16 18:17:03.9,5,5\n2023-11-16 18:17:03.9,x,5\n", "bad.csv")
    done = serq(capsys, "trace", "convert", bad, "--from", "azure", "--out", tmp_path / "out.csv")
    assert done.status == 3
    assert f"{bad}:3:23: error[SQ711]" in done.err
    assert not (tmp_path / "out.csv").exists()


def test_the_columns_are_the_traces_and_what_was_done_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = file_of(tmp_path, AZURE + "2023-11-16 18:17:03.9,5,5\n2023-11-16 18:17:04.0,6,5\n")
    done = serq(capsys, "trace", "convert", source, "--from", "azure")
    assert done.status == 0
    assert done.out == "session,turn,new,out,think,forced\n0,1,5,5,0,0\n1,1,6,5,0,0\n"
    assert "--start keeps them" in done.err
    started = serq(capsys, "trace", "convert", source, "--from", "azure", "--start", "--quiet")
    assert (started.err, started.out.splitlines()[2]) == ("", "1,1,6,5,0,0,0.1")
    report = serq(capsys, "trace", "convert", source, "--from", "azure", "--json", "--out", tmp_path / "o.csv")
    assert json.loads(report.out)["turns"] == 2


def test_names_with_commas_are_quoted(tmp_path: Path) -> None:
    text = "session_id,round_idx,prefix_len,input_len,output_len,tool_wait_after_ms\n" + '"a,""b""",0,0,5,1,0\n'
    out = tmp_path / "out.csv"
    write(out, convert(file_of(tmp_path, text), "tracelab", False, False, Conversion()), keep_start=False)
    assert next(iter(csv.DictReader(out.open())))["session"] == 'a,"b"'
    assert list(read_trace(out).names) == ['a,"b"']
