# SPDX-License-Identifier: GPL-2.0
"""That the schemas refuse what is no document, and leave nothing unsaid."""
import glob
import json
import os

import jsonschema

from commands import SCHEMAS, problem, run
from documents import NAMES, PARAMETERS, is_object, kinds, load, parts, validator

# Keys that are there with an option, or where there is something to say
OPTIONAL = ("warnings", "error", "details", "id", "io_p50_ns", "io_p99_ns", "pinned_max_bytes", "per_cpu", "rates", "latency", "dry_run", "plan", "changes")
OPTIONAL_OF = {"session": ("changed", "counters"), "export": ("told_size_bytes", "used_by", "io_mode", "peer", "export"), "event": ("data", "access", "io_mode"),
               "client": ("changed", "counters", "peer"), "config": ("peers", "exports"), "path": ("changed", "role", "counters"),
               "device": ("changed", "counters", "queue", "openers", "io_mode"), "map": ("openers", "io_mode"), "show": ("openers", "used_by", "io_mode", "peer", "export"),
               "status": ("openers", "used_by", "io_mode", "peer", "export"), "stats-latency": ("devices",), "plan": ("unmet", "access")}
# What is not configured has no key
CONFIGURED = ("name", "paths", "session", "device_path")


def short(doc):
    """The document with one element in each list."""
    if isinstance(doc, dict):
        return {k: short(v) for k, v in doc.items()}
    return [short(v) for v in doc[:1]] if isinstance(doc, list) else doc


# Strings of which the schemas list all
CLOSED = ("schema", "time", "backend", "code", "family", "link_layer", "status", "since")
# Numbers that may be less than nothing; a setting is a string or a number
NEGATIVE = ("max_reconnect_attempts", "no_path_timeout_ms", "errno")
EITHER = ("old", "new")


def odd(key, v, listed):
    """What cannot be in the place of this scalar."""
    if isinstance(v, bool):
        yield from (1, "true")
    elif isinstance(v, str):
        if key not in EITHER:
            yield 7
        yield from (True, ["x"])
        if key in CLOSED or str(key).endswith("_hex"):
            yield "nobody knows"
    elif isinstance(v, int):
        if key not in EITHER:
            yield "7"
        yield from (True, 0.5)
        if key not in NEGATIVE:
            yield -1
    # what is not known is not in a list
    if listed or key in ("schema", "tool", "time", "backend", "changed", "dry_run", "message", "code"):
        yield None


def mutants(doc, topic, at=()):
    """Copies of the document, what was done to them, and where."""
    if isinstance(doc, dict):
        named = at and (topic, at[-1]) in NAMES
        if not named:
            yield dict(doc, nobody_knows=1), "more", at
            yield dict(doc, nobody_knows_hex="00"), "more", at
        for k in doc:
            if not named:
                yield {n: v for n, v in doc.items() if n != k}, "less", at + (k,)
            yield dict(doc, **{k: {"of": "another type"}}), "type", at + (k,)
    elif isinstance(doc, list) and doc:
        yield [{"of": "another type"}] if not isinstance(doc[0], dict) else ["no object"], "type", at + (0,)
    elif not isinstance(doc, list):
        edge = topic == "event" and len(at) == 3 and at[0] == "changes"
        for v in (0.5, [7]) if edge else odd(([k for k in at if isinstance(k, str)] or [""])[-1], doc, isinstance(at[-1], int)):
            yield v, "odd", at + (v,)
    for k, v in doc.items() if isinstance(doc, dict) else enumerate(doc) if isinstance(doc, list) else ():
        for m, how, where in mutants(v, topic, at + (k,)):
            copy_ = dict(doc) if isinstance(doc, dict) else list(doc)
            copy_[k] = m
            yield copy_, how, where


def variants(doc, topic):
    """The document with one element in each list; for each kind of result one of them."""
    seen = set()
    for r in doc.get("results", ()) if topic == "check" else ():
        kind = str(sorted(r["data"])) if topic == "check" and not r["id"].startswith("modules.") else r.get("command", "modules")
        if kind not in seen:
            seen.add(kind)
            yield short(dict(doc, results=[r]))
    if not seen:
        yield short(doc)


def may_lack(topic, where):
    """These keys are there with an option, or where there is something to say."""
    name = where[-1]
    if topic == "config" and len(where) > 1 and name not in CONFIGURED or (topic, *where[2:-1]) == PARAMETERS:
        return True
    return name in OPTIONAL + OPTIONAL_OF.get(topic, ()) or str(name).endswith("_hex")


def excused(doc, topic, how, where):
    """What may be so: a key that need not be there, or any text as a place or a parameter."""
    if (topic, *where[2:3]) == PARAMETERS and doc["results"][0]["id"].startswith("modules."):
        return how != "odd"
    return how == "less" and may_lack(topic, where) or how == "type" and (topic, where[-1]) == NAMES[1] or \
        (topic, *where[2:3]) == NAMES[1] and where[-1] is None


def refuses(whole):
    """One key more, one less, a value that cannot be, at each place of the document: the schemas notice."""
    topic = whole["schema"].removeprefix("rnbdadm.").removesuffix("/1")
    loose = jsonschema.Draft202012Validator(load(topic))
    count = 0
    for doc in variants(whole, topic):
        for m, how, where in mutants(doc, topic):
            place = "/".join(map(str, where)) or "the document"
            count += 1
            if not excused(doc, topic, how, where) and validator(topic).is_valid(m) and not list(parts(m, topic)):
                problem(topic, "the schemas take", how, place)
            if how == "more" and not loose.is_valid(m):
                problem(topic, "the schema does not take another key in", place)
    return count


def unsaid(schema):
    """Whether the schema takes anything, or does not say what is in a list or an object."""
    if isinstance(schema, bool) or not schema.keys() & {"type", "enum", "const", "$ref", "oneOf", "anyOf", "allOf"}:
        return schema is not False
    return "array" in kinds(schema) and "items" not in schema or \
        is_object(schema) and not schema.keys() & {"properties", "additionalProperties"}


def parts_of(schema, name):
    """The schemas in a schema, by the name of the place."""
    for key in ("properties", "patternProperties", "$defs"):
        yield from schema.get(key, {}).items()
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield name, schema[key]
    for key in ("oneOf", "anyOf", "allOf"):
        for one in schema.get(key, ()):
            yield name, one


def open_places(schema, topic, name="the document"):
    if unsaid(schema):
        yield topic, name
    for n, part in parts_of(schema, name) if isinstance(schema, dict) else ():
        yield from open_places(part, topic, n)


def schemas(binary, rec):
    defs = {}
    for file in sorted(glob.glob(os.path.join(SCHEMAS, "*.json"))):
        topic = os.path.basename(file)[:-5]
        schema = load(topic)
        jsonschema.Draft202012Validator.check_schema(schema)
        if schema["$id"] != "urn:rnbdadm:%s:1" % topic or \
                schema["properties"]["schema"]["const"] != "rnbdadm.%s/1" % topic:
            problem(file, "names itself", schema["$id"])
        for name, body in schema["$defs"].items():
            if defs.setdefault(name, body) != body:
                problem(file, "defines", name, "in another way")
        for where in open_places(schema, topic):
            problem(file, "does not say what is in", where[1])
        for name in schema["$defs"]:
            if '"#/$defs/%s"' % name not in json.dumps(schema):
                problem(file, "does not use", name)
        common = ["--nl-replay", os.path.join(rec, "two-sessions.nl"), "--test-root", os.path.join(rec, "root")]
    tried = 0
    for cmd in ("session list", "path list", "device list", "stats --per-cpu", "stats --latency",
                "stats latency", "unmap rnbd0", "metadata", "version",
                "status", "server export list", "server client list", "remap rnbd0 rnbd2 --recreate -n", "resize rnbd0 +1G -n",
                "session set cl1@srv1 --mp-policy rr -n", "server export close sdb --all --force -n",
                "server client disconnect cl7@here --force -n", "path add cl1@srv1 10.9.9.9 -n",
                "recover cl1@srv1 -n",
                "wait cl1@srv1 --for present", "check"):
        text = run(binary, *common, *cmd.split(), "-j").stdout
        doc = json.loads(text)
        tried += refuses(doc)
    print(tried, "mutations")
