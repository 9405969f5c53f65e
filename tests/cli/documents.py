# SPDX-License-Identifier: GPL-2.0
"""What a document must be: valid against its schema, with no key beyond those that the schema lists."""
import datetime
import json
import os

import jsonschema

from commands import SCHEMAS

# Objects whose keys are names of something, by topic: the schema says what their values are
NAMES = (("event", "changes"), ("config", "sources"))
# In "data" keys that the schema does not list are parameters of modules
PARAMETERS = ("check", "data")


def kinds(schema):
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []


def is_object(schema):
    return "object" in kinds(schema)


def closed(schema, topic, name=""):
    """The schema with no key beyond those it lists."""
    if isinstance(schema, dict):
        out = {k: closed(v, topic, k) for k, v in schema.items()}
        if is_object(out) and "properties" in out:
            out.setdefault("additionalProperties", {"type": ["string", "null"]} if (topic, name) == PARAMETERS else False)
            # the bytes of a text that is listed
            hexed = out.get("patternProperties", {}).pop("_hex$", None)
            texts = [k for k, v in out["properties"].items() if "string" in kinds(v)]
            if hexed and texts:
                out["patternProperties"]["^(%s)_hex$" % "|".join(texts)] = hexed
        return out
    return [closed(s, topic) for s in schema] if isinstance(schema, list) else schema


def load(topic):
    with open(os.path.join(SCHEMAS, topic + ".json")) as f:
        return json.load(f)


def pick(schema):
    """No key need be there."""
    for v in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        pick(v)
    if isinstance(schema, dict):
        schema.pop("required", None)


validators = {}
formats = jsonschema.FormatChecker(())


@formats.checks("date-time", ValueError)
def is_time(v):
    return not isinstance(v, str) or datetime.datetime.strptime(v, "%Y-%m-%dT%H:%M:%S.%fZ" if "." in v else "%Y-%m-%dT%H:%M:%SZ")


def validator(topic, fields=False):
    """Of the closed schema; where -F picked @fields of the objects, they need not have all."""
    if (topic, fields) not in validators:
        schema = closed(load(topic), topic)
        for name, body in schema["$defs"].items() if fields else ():
            if name != "error":
                pick(body)
        validators[topic, fields] = jsonschema.Draft202012Validator(schema, format_checker=formats)
    return validators[topic, fields]


def no_twice(pairs):
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key comes twice")
    return out


def check_document(text, schema=None, fields=False):
    """Problems of one document, as a list of words."""
    try:
        doc = json.loads(text, object_pairs_hook=no_twice)
    except ValueError as e:
        return None, ["not one JSON document: %s: %.200r" % (e, text)]
    name = doc.get("schema", "")
    if schema and name != schema:
        return doc, ["the schema is %r, not %r" % (name, schema)]
    topic, _, major = name.removeprefix("rnbdadm.").partition("/")
    if major != "1" or not os.path.exists(os.path.join(SCHEMAS, topic + ".json")):
        return doc, ["no schema %r" % name]
    return doc, list(complaints(doc, validator(topic, fields))) + list(parts(doc, topic))


def complaints(doc, schema):
    for e in schema.iter_errors(doc):
        yield "%s: %s" % ("/".join(map(str, e.absolute_path)), e.message)


def parts(doc, topic):
    """What is wrong in a part that has another schema, or none."""
    for r in doc.get("results", ()) if topic == "check" else ():
        more = set(r["data"]) - set(load("check")["$defs"]["result"]["properties"]["data"]["properties"])
        if more and not r["id"].startswith("modules."):
            yield "%s: data: %s" % (r["id"], more)


def each(text):
    """One document, or one in each line."""
    try:
        json.loads(text)
        return [text]
    except ValueError:
        return text.splitlines()


def check_printed(text, fields=False):
    """Each document in what was printed, and its problems. A schema is one of another kind."""
    for one in each(text):
        if '"$schema"' not in one or "$schema" not in json.loads(one):
            yield check_document(one, None, fields)
