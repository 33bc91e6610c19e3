#!/usr/bin/env python3
"""Checks that dashboards and alerts ask only for series that a running pgweir shows.

usage: check_series.py METRICS [--promtool PATH] [--idle]

METRICS is a file or a URL with Prometheus' text format. Every metric named in metrics/dashboards/*.json
and metrics/alerts.yaml must have a sample there, with every label the expression matches or groups by.
With --idle a family that is announced by its TYPE line but has no sample yet is enough (a proxy that
has served nothing). With --promtool the rules and the page are checked by promtool, too.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Labels that Prometheus or PromQL adds: they are on no sample of the page.
ADDED_LABELS = {"instance", "job", "le"}
METRIC = re.compile(r"\bpgweir_[a-z_]+\b")
HISTOGRAM_PARTS = ("_bucket", "_sum", "_count")


# Families that have samples only where a feature is used: being named on the page is enough.
OFTEN_EMPTY = "pgweir_migration_"


def read_metrics(source):
    if re.match(r"https?://", source):
        with urllib.request.urlopen(source, timeout=10) as answer:
            return answer.read().decode()
    return pathlib.Path(source).read_text()


def parse_page(text):
    """Returns ({sample name: set of label names}, {family: type})."""
    samples, types = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            types[name] = kind
        elif line and not line.startswith("#"):
            name = re.match(r"[a-zA-Z_:][a-zA-Z0-9_:]*", line)[0]
            labels = set(re.findall(r'([a-zA-Z_]\w*)="(?:[^"\\]|\\.)*"', line[len(name):]))
            samples.setdefault(name, set()).update(labels)
    return samples, types


def dashboard_expressions(path):
    dashboard = json.loads(path.read_text())
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield f"{path.name}: {panel['title']}", target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield f"{path.name}: variable {variable['name']}", variable["definition"]


def alert_expressions(path):
    name = "?"
    for line in path.read_text().splitlines():
        if found := re.match(r"\s*- alert: (\w+)", line):
            name = found[1]
        elif found := re.match(r"\s*expr: (.*)", line):
            yield f"{path.name}: {name}", found[1]


def metrics_in(expression):
    """Yields (metric, labels matched in its selector)."""
    for found in METRIC.finditer(expression):
        selector = re.match(r"\s*\{([^}]*)\}", expression[found.end():])
        matched = re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector[1]) if selector else []
        yield found[0], set(matched)


def labels_grouped_by(expression):
    groups = re.findall(r"\bby\s*\(([^)]*)\)", expression)
    return {label.strip() for group in groups for label in group.split(",") if label.strip()}


def family_of(metric, types):
    for part in HISTOGRAM_PARTS:
        if metric.endswith(part) and types.get(metric.removesuffix(part)) == "histogram":
            return metric.removesuffix(part)
    return metric


def faults_of(expression, samples, types, idle):
    used = list(metrics_in(expression))
    if not used:
        yield "names no pgweir metric"
    shown_labels = set()
    complete = True
    for metric, matched in used:
        if metric in samples:
            shown_labels |= samples[metric]
            for label in sorted(matched - samples[metric] - ADDED_LABELS):
                yield f"{metric} has no label {label}"
        elif (idle or metric.startswith(OFTEN_EMPTY)) and family_of(metric, types) in types:
            complete = False
        else:
            complete = False
            yield f"{metric} is not shown"
    if complete:
        for label in sorted(labels_grouped_by(expression) - shown_labels - ADDED_LABELS):
            yield f"groups by {label}, which none of its metrics has"


def promtool_faults(promtool, page, alerts):
    for arguments, given in ((["check", "rules", str(alerts)], None), (["check", "metrics"], page)):
        done = subprocess.run([promtool, *arguments], input=given, capture_output=True, text=True)
        if done.returncode != 0:
            yield f"promtool {' '.join(arguments)}: {done.stdout}{done.stderr}".strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("metrics", help="file or URL of a metrics page")
    parser.add_argument("--promtool", help="check with this promtool, too")
    parser.add_argument("--idle", action="store_true", help="a family without samples is enough")
    options = parser.parse_args()

    page = read_metrics(options.metrics)
    samples, types = parse_page(page)
    alerts = ROOT / "metrics/alerts.yaml"
    expressions = list(alert_expressions(alerts))
    for dashboard in sorted((ROOT / "metrics/dashboards").glob("*.json")):
        expressions += dashboard_expressions(dashboard)

    faults = [
        f"{place}: {fault}"
        for place, expression in expressions
        for fault in faults_of(expression, samples, types, options.idle)
    ]
    if options.promtool:
        faults += promtool_faults(options.promtool, page, alerts)
    for fault in faults:
        print(fault)
    print(f"{len(expressions)} expressions, {len(samples)} series names on the page, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
