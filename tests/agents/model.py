"""A model on loopback that does as a script says, for agents that speak Anthropic Messages, OpenAI Responses or OpenAI
Chat Completions.

A script is a generator. It is sent what the agent tells the model (a `Request`), and yields what the model answers:
a `Call` of a tool, or a text. When it ends, the model says "done", which ends the agent's turn.
"""

import http.server
import json
import threading
from dataclasses import dataclass


@dataclass
class Call:
    """A call of a tool. Of Responses only: `namespace`, and the kinds `custom`, whose argument is a text, and `search`,
    which looks for tools that were not offered at once."""

    name: str
    arguments: object
    namespace: str = ""
    kind: str = "function"


@dataclass
class Request:
    """What an agent tells the model: the names of tools, and all texts since the model's last answer."""

    tools: list
    text: str


def texts(value):
    """Every string in a JSON value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)


def since_answer(items, is_answer):
    """The texts of the items after the last that the model said."""
    answers = [index for index, item in enumerate(items) if is_answer(item)]
    return "\n".join(texts(items[answers[-1] + 1 if answers else 0:]))


class Messages:
    """https://docs.anthropic.com/en/api/messages-streaming"""

    path = "/v1/messages"

    @staticmethod
    def read(body):
        tools = [tool.get("name", "") for tool in body.get("tools", [])]
        return Request(tools, since_answer(body["messages"], lambda item: item["role"] == "assistant"))

    @staticmethod
    def events(answer, number):
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted",
                   "content": [], "stop_reason": None, "stop_sequence": None,
                   "usage": {"input_tokens": 1, "output_tokens": 1}}
        if isinstance(answer, Call):
            block = {"type": "tool_use", "id": f"toolu_{number}", "name": answer.name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(answer.arguments)}
            reason = "tool_use"
        else:
            block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": answer}
            reason = "end_turn"
        yield {"type": "message_start", "message": message}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None},
               "usage": {"output_tokens": 1}}
        yield {"type": "message_stop"}


class Responses:
    """https://platform.openai.com/docs/api-reference/responses-streaming"""

    path = "/v1/responses"

    @staticmethod
    def read(body):
        # Some models are told of their tools by an item.
        offers = [body, *(item for item in body["input"] if item["type"] == "additional_tools")]
        tools = [tool.get("name", "") for offer in offers for tool in offer.get("tools", [])]
        return Request(tools, since_answer(body["input"], lambda item: item["type"].endswith("_call")))

    @staticmethod
    def events(answer, number):
        if isinstance(answer, Call):
            item = {"id": f"item_{number}", "call_id": f"call_{number}", "name": answer.name}
            if answer.namespace:
                item["namespace"] = answer.namespace
            match answer.kind:
                case "function":
                    item |= {"type": "function_call", "arguments": json.dumps(answer.arguments)}
                case "custom":
                    item |= {"type": "custom_tool_call", "input": answer.arguments}
                case "search":
                    item |= {"type": "tool_search_call", "execution": "client", "arguments": answer.arguments}
        else:
            content = [{"type": "output_text", "text": answer, "annotations": []}]
            item = {"id": f"item_{number}", "type": "message", "role": "assistant", "content": content}
        response = {"id": f"resp_{number}", "object": "response", "model": "scripted"}
        usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1,
                 "output_tokens_details": None, "total_tokens": 2}
        yield {"type": "response.created", "response": response | {"status": "in_progress"}}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield {"type": "response.completed",
               "response": response | {"status": "completed", "output": [item], "usage": usage}}


class Completions:
    """https://platform.openai.com/docs/api-reference/chat-streaming"""

    path = "/v1/chat/completions"

    @staticmethod
    def read(body):
        tools = [tool["function"]["name"] for tool in body.get("tools", [])]
        return Request(tools, since_answer(body["messages"], lambda item: item["role"] == "assistant"))

    @staticmethod
    def events(answer, number):
        if isinstance(answer, Call):
            function = {"name": answer.name, "arguments": json.dumps(answer.arguments)}
            call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
            delta, reason = {"tool_calls": [call]}, "tool_calls"
        else:
            delta, reason = {"content": answer}, "stop"
        chunk = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
        choice = {"index": 0, "delta": {"role": "assistant"} | delta, "finish_reason": None}
        yield chunk | {"choices": [choice]}
        yield chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}],
                       "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}


class Model:
    """Serves `script` on a port of loopback, within `with`."""

    def __init__(self, wire, script):
        self.wire, self.script, self.number, self.lock = wire, script, 0, threading.Lock()
        # Whether the script came to its end, and what stopped it if not.
        self.is_over, self.error = False, None
        next(script)
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                if self.path.split("?")[0] != wire.path:
                    return self.send_error(404)
                events = model.answer(json.loads(body))
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for event in events:
                    name = f"event: {event['type']}\n" if "type" in event else ""
                    self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, body):
        with self.lock:
            self.number += 1
            request = self.wire.read(body)
            # Agents also ask for titles and the like; those requests offer no tools.
            answer = self.step(request) if request.tools else "ok"
            return list(self.wire.events(answer, self.number))

    def step(self, request):
        try:
            return self.script.send(request)
        except StopIteration:
            self.is_over = True
        except Exception as error:  # The agent is to end in any case; then this is told.
            self.error = error
        return "done"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
