// SPDX-License-Identifier: GPL-2.0-only
//
// Reads the requests that otlp_receiver.py has stored, with OpenTelemetry's own generated
// decoder, and prints lines as export_read.cjs does: "events N", "bytes SUM" (of that field),
// "lost N", and "span NAME N SUM". Checks what all requests must have.
//
//	node otlp_read.cjs MODULES FOLDER [json]
//
// With json, prints one line for each log record and each span instead; integers that a double does
// not have are text.
'use strict';
const fs = require('fs');
const path = require('path');
const { createRequire } = require('module');

const [modules, folder, how] = process.argv.slice(2);
const load = createRequire(path.join(path.resolve(modules), '/'));
const { collector } =
  load('@opentelemetry/otlp-transformer/build/src/generated/root.js').opentelemetry.proto;
const logsType = collector.logs.v1.ExportLogsServiceRequest;
const tracesType = collector.trace.v1.ExportTraceServiceRequest;

const hex = (bytes) => Buffer.from(bytes ?? []).toString('hex');
const number = (long) => BigInt(String(long ?? 0));
const valueOf = (value) =>
  value.stringValue ?? value.boolValue ?? value.doubleValue ?? number(value.intValue);

function fail(text) {
  console.log(text);
  process.exit(1);
}

function attributes(list) {
  const map = {};
  for (const { key, value } of list) {
    if (key in map) fail(`the key ${key} is there twice`);
    map[key] = valueOf(value);
  }
  return map;
}

let events = 0, bytes = 0n, lost = 0n;
const spans = new Map(), lines = [];

function checkResource(resource, scope) {
  const map = attributes(resource.attributes);
  for (const key of ['service.name', 'host.name', 'eventlog.boot_id', 'os.type'])
    if (!map[key]) fail(`a resource has no ${key}`);
  if (scope.name !== 'eventlog' || !scope.version) fail('the scope has no name or no version');
  return map;
}

function readLog(log, resource) {
  const map = attributes(log.attributes);
  if (number(log.timeUnixNano) <= 0n || !log.body.stringValue) fail('a log record is empty');
  if ((log.traceId?.length ?? 0) % 16 || (log.spanId?.length ?? 0) % 8)
    fail('a log record has a bad id');
  if (resource['service.name'] === 'eventlog') {
    lost += map.count;
  } else {
    events++;
    bytes += map.bytes ?? 0n;
  }
  lines.push({ log: log.body.stringValue, severity: log.severityNumber, resource, trace:
    hex(log.traceId), span: hex(log.spanId), time: number(log.timeUnixNano), attributes: map });
}

function readSpan(span, resource) {
  const map = attributes(span.attributes);
  const duration = number(span.endTimeUnixNano) - number(span.startTimeUnixNano);
  if (span.traceId.length !== 16 || span.spanId.length !== 8 || duration < 0n)
    fail('a span has bad ids or times');
  const sum = spans.get(span.name) ?? [0, 0n];
  spans.set(span.name, [sum[0] + 1, sum[1] + duration]);
  const waits = (span.events ?? []).map((event) => ({ name: event.name,
    after: number(event.timeUnixNano) - number(span.startTimeUnixNano),
    attributes: attributes(event.attributes) }));
  const links = (span.links ?? []).map((link) => hex(link.spanId));
  lines.push({ span: hex(span.spanId), name: span.name, waits, links, resource, trace: hex(span.traceId),
    parent: hex(span.parentSpanId), time: number(span.startTimeUnixNano), duration,
    attributes: map });
}

for (const file of fs.readdirSync(folder).sort()) {
  const data = fs.readFileSync(path.join(folder, file));
  const isLogs = file.endsWith('.logs');
  const request = (isLogs ? logsType : tracesType).decode(data);
  for (const part of isLogs ? request.resourceLogs : request.resourceSpans) {
    for (const scope of isLogs ? part.scopeLogs : part.scopeSpans) {
      const resource = checkResource(part.resource, scope.scope);
      for (const log of scope.logRecords ?? []) readLog(log, resource);
      for (const span of scope.spans ?? []) readSpan(span, resource);
    }
  }
}
if (how === 'json') {
  for (const line of lines)
    console.log(JSON.stringify(line, (_, value) =>
      typeof value !== 'bigint' ? typeof value === 'number' && !Number.isFinite(value) ?
        String(value) : value : Number.isSafeInteger(Number(value)) ? Number(value) : String(value)));
} else {
  console.log(`events ${events}\nbytes ${bytes}\nlost ${lost}`);
  for (const [name, [count, sum]] of [...spans].sort())
    console.log(`span ${name} ${count} ${sum}`);
}
