"""Records of logs: answers of models, as harnesses, batch endpoints and trainers write them.

Each function reads one record of a log as an ``Answer``; ``captious.data.layouts`` says how the logs are recognized.
lmms-eval writes ``*_samples_TASK.jsonl`` with ``--log_samples``: an object per answer, with ``filtered_resps`` or
``resps``, and either the fields that its task passes to metrics, ``{"answer", "pred", "image_id"}``, or ``doc`` and
``target``. VLMEvalKit writes ``MODEL_DATASET.xlsx``, .tsv or .json, with ``index``, ``question``, ``answer`` and
``prediction``. Endpoints write one object a request, with an error or a status in place of a failed answer.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from captious.data.ids import ImageId, as_image_id
from captious.data.rows import list_from_text
from captious.errors import CaptionFileError
from captious.files import RAISE_LIMIT, UnpackedSizeError, check_size
from captious.words import shortened

#: Names of fields that hold the image, the first that is there.
_IDS = ("image_id", "video_id", "img_id", "question_id", "id", "index")
#: Names of fields of ``doc`` that hold references, the first that is there.
_REFERENCES = (
    "annotations_captions",
    "caption_str",
    "reference_strs",
    "references",
    "answers",
    "answer",
    "captions",
    "caption",
    "enCap",
)


@dataclass(frozen=True)
class Answer:
    """One record of a log.

    Args:
        id: the image, or whatever the answer is about; None if the log does not say.
        texts: the answers, usually one.
        references: human captions, if the log has them.
        prompt: what the model was asked; empty if the log does not say.
        failure: why there is no answer; empty if there is one.
        is_cut: whether it ended at the limit of tokens.
    """

    id: ImageId | None
    texts: Sequence[str] = ()
    references: Sequence[str] = ()
    prompt: str = ""
    failure: str = ""
    is_cut: bool = False


# Harnesses.


def lmms_eval(sample: Mapping[str, Any]) -> Answer:
    """Read an answer of lmms-eval. All metrics of a task are passed the same fields."""
    answer: Mapping[str, Any] = next(
        (value for value in sample.values() if isinstance(value, Mapping) and {"answer", "pred"} <= value.keys()), {}
    )
    doc = sample["doc"] if isinstance(sample.get("doc"), Mapping) else {}
    responses = sample["filtered_resps"] if "filtered_resps" in sample else sample["resps"]
    text, failure = _first_text(responses), "" if responses else "no answer"
    if "answer" in answer:
        references = answer["answer"]
    else:
        name = next((name for name in _REFERENCES if name in doc), None)
        references = sample.get("target") if name is None else doc[name]
    prompt = next((sample[name] for name in ("input", "input_text", "arguments") if name in sample), "")
    return Answer(_id({**doc, **answer}), [text], _texts(references), _first_text(prompt) if prompt else "", failure)


def vlmevalkit(row: Mapping[str, Any]) -> Answer:
    """Read a row of VLMEvalKit."""
    prediction = row["prediction"]
    text = "" if prediction is None else str(prediction)
    return Answer(_id(row), [text], _texts(row.get("answer")), str(row.get("question") or ""))


def inspect(sample: Mapping[str, Any]) -> Answer:
    """Read a sample of Inspect."""
    image, output = as_image_id(sample["id"]), sample.get("output") or {}
    references, prompt = _texts(sample.get("target")), message_text(sample.get("input") or "")
    if failure := sample.get("error") or output.get("error"):
        return Answer(image, (), references, prompt, _reason(failure))
    choices = output.get("choices") or ()
    texts = [message_text(choice["message"]["content"]) for choice in choices]
    return Answer(image, texts, references, prompt, "" if texts else "no output")


def inspect_document(content: bytes, where: str) -> Mapping[str, Any]:
    """Return an .eval file of Inspect as the document that its .json logs are.

    Args:
        content: the file, a zip archive of JSON files.
        where: the file in messages.

    Raises:
        CaptionFileError: not such a file, or too large.
    """
    import zipfile

    hint = "convert it: inspect log convert LOG.eval --to json --output-dir FOLDER"
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            check_size(sum(entry.file_size for entry in archive.infolist()), len(content))
            names = archive.namelist()
            header = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
            samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
            if header is None:
                raise ValueError("it has no header.json")
            return {**json.loads(archive.read(header)), "samples": [json.loads(archive.read(name)) for name in samples]}
    except UnpackedSizeError as error:
        raise CaptionFileError(f"the file is too large: {error}", where=where, hint=RAISE_LIMIT) from error
    except (zipfile.BadZipFile, OSError, ValueError, TypeError, RecursionError, NotImplementedError, EOFError) as error:
        raise CaptionFileError(f"this log of Inspect cannot be read: {error}", where=where, hint=hint) from error


# Batch endpoints.


def openai_batch(line: Mapping[str, Any]) -> Answer:
    """Read a line of the output of a batch of OpenAI, or of what follows it, such as vLLM and Mistral."""
    image = _request(line)
    if line.keys().isdisjoint(("response", "error")):
        raise KeyError("response")
    response: Mapping[str, Any] = line.get("response") or {}
    body: Mapping[str, Any] = response.get("body") or {}
    failure = line.get("error") or body.get("error")
    status = response.get("status_code", 200)
    if failure or status != 200 or not body:
        reason = _reason(failure) if failure else "no response"
        return Answer(image, failure=reason if status in (None, 200) else f"{reason} (status {status})")
    if "output" in body:  # of the endpoint /v1/responses
        messages = [item for item in body["output"] if item.get("type") == "message"]
        texts = [message_text(message["content"]) for message in messages]
        is_cut = body.get("status") == "incomplete"
    else:
        choices = body["choices"]
        contents = [choice["text"] if "text" in choice else choice["message"]["content"] for choice in choices]
        if None in contents:
            refusal = choices[0].get("message", {}).get("refusal")
            ended = f"no text (finish_reason {choices[0].get('finish_reason')})"
            return Answer(image, failure=_reason(refusal) if refusal else ended)
        texts = [message_text(content) for content in contents]
        is_cut = any(choice.get("finish_reason") == "length" for choice in choices)
    return Answer(image, texts, failure="" if texts else "no text", is_cut=is_cut)


def anthropic_batch(line: Mapping[str, Any]) -> Answer:
    """Read a line of the results of a batch of Anthropic's messages."""
    image, result = _request(line), line["result"]
    if result["type"] != "succeeded":
        error = result.get("error") or result["type"]
        return Answer(image, failure=_reason(error.get("error", error) if isinstance(error, Mapping) else error))
    message = result["message"]
    text, stop = message_text(message["content"]), message.get("stop_reason")
    return Answer(image, [text], failure="" if text else f"no text (stop_reason {stop})", is_cut=stop == "max_tokens")


def vllm(output: Mapping[str, Any]) -> Answer:
    """Read an output of vLLM."""
    outputs, prompt = output["outputs"] or (), output.get("prompt")
    failure = "" if outputs else "no output"
    if any(one.get("finish_reason") in ("abort", "error") for one in outputs):
        failure = "aborted"
    texts = [_text(one["text"]) for one in outputs]
    prompt = prompt if isinstance(prompt, str) else ""
    is_cut = any(one.get("finish_reason") == "length" for one in outputs)
    return Answer(as_image_id(output.get("request_id")), texts, prompt=prompt, failure=failure, is_cut=is_cut)


# Trainers.


def llama_factory(line: Mapping[str, Any]) -> Answer:
    """Read a line of generated_predictions.jsonl of LLaMA-Factory, which has no ids."""
    return Answer(None, [_text(line["predict"])], _texts(line["label"]), _text(line.get("prompt") or ""))


def ms_swift(line: Mapping[str, Any]) -> Answer:
    """Read a line of the results of ms-swift; its first image is the id."""
    images, messages = line.get("images") or [None], line.get("messages") or ()
    first = images[0] if isinstance(images, list) else images
    path = first.get("path") if isinstance(first, Mapping) else first
    asked = [message.get("content") for message in messages if message.get("role") == "user"]
    prompt = message_text(asked[-1]) if asked else _text(line.get("query") or "")
    image, references = as_image_id(path), _texts(line.get("labels", line.get("label")))
    if line["response"] is None:
        return Answer(image, (), references, prompt, "no response")
    return Answer(image, [_text(line["response"])], references, prompt)


def _request(line: Mapping[str, Any]) -> ImageId:
    image = as_image_id(line["custom_id"])
    if image is None:
        raise ValueError(f"custom_id is {line['custom_id']!r:.40}")
    return image


def _reason(failure: Any) -> str:
    """Return the reason in an error object."""
    if isinstance(failure, Mapping):
        failure = next((failure[name] for name in ("message", "code", "type") if failure.get(name)), failure)
    return f"{failure}"[:120]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"an answer is {value!r:.40}, not text")
    return value


def message_text(content: Any) -> str:
    """Return the text of a message: a string, or the text parts of a list; thoughts are left out."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(isinstance(part, Mapping) for part in content):
        raise TypeError(f"a message is {content!r:.40}, neither text nor a list of parts")
    if content and all("role" in part for part in content):  # a conversation, of which the last turn counts
        return message_text(content[-1].get("content") or "")
    return "".join(_text(part["text"]) for part in content if part.get("type") in ("text", "output_text"))


def _id(fields: Mapping[str, Any]) -> ImageId | None:
    ids = (as_image_id(fields[name]) for name in _IDS if fields.get(name) is not None)
    return next((id for id in ids if id is not None), None)


def _first_text(value: Any) -> str:
    """Return the first text in nested lists."""
    while isinstance(value, Sequence) and not isinstance(value, str):
        if not value:
            return ""
        value = value[0]
    if not isinstance(value, str):
        raise TypeError(f"an answer or a prompt is {shortened(value)}, not text")
    return value


def _texts(value: Any) -> list[str]:
    """Return references from a list, or from text that may be a list as text; none if there are none."""
    if value is None or value == "":
        return []
    if isinstance(value, str) and (texts := list_from_text(value)) is not None:
        return texts
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"references are {shortened(texts)}, not a list of texts")
    return texts
