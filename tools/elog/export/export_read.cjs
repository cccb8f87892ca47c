// SPDX-License-Identifier: GPL-2.0-only
//
// Reads what elog export wrote, with readers that are not ours, and prints the same lines
// for each: "events N", "bytes SUM" (of that field), "lost N", and "span NAME N SUM".
//
//	node export_read.cjs MODULES READER PATH
//
// READER is duckdb-parquet, duckdb-jsonl, duckdb-csv, hyparquet, arrow or perfetto; or parents,
// for "START NAME PARENT" of the spans in a trace of Perfetto; or waits, for "START DURATION NAME
// TRACK PARENT" of what threads waited for, in microseconds, and what is known of it; or tables or
// slices, for a line of JSON for each event of Parquet or Perfetto: see export_truth.py.
// MODULES is where npm has installed them; for perfetto, the folder of trace_processor.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');
const { createRequire } = require('module');
const { pathToFileURL } = require('url');

const [modules, reader, input] = process.argv.slice(2);
const load = createRequire(path.join(path.resolve(modules), '/'));

function print(events, bytes, lost, spans) {
  console.log(`events ${events}\nbytes ${bytes}\nlost ${lost}`);
  for (const [name, count, sum] of [...spans].sort()) console.log(`span ${name} ${count} ${sum}`);
}

// Sums rows of tables, which are a function from a file to objects.
async function sumTables(rowsOf) {
  let events = 0, bytes = 0n, lost = 0n;
  const spans = new Map();
  for (const file of fs.readdirSync(input)) {
    for (const row of await rowsOf(path.join(input, file))) {
      if (file === 'eventlog.lost.parquet') {
        lost += BigInt(row.count);
      } else if (file === 'eventlog.spans.parquet') {
        const span = spans.get(row.name) ?? [0, 0n];
        spans.set(row.name, [span[0] + 1, span[1] + BigInt(row.duration)]);
      } else {
        events++;
        bytes += BigInt(row.bytes ?? 0);
      }
    }
  }
  print(events, bytes, lost, [...spans].map(([name, [count, sum]]) => [name, count, sum]));
}

async function hyparquet() {
  const import_ = (name) => import(pathToFileURL(load.resolve(name)));
  const { parquetReadObjects, asyncBufferFromFile } = await import_('hyparquet');
  const { compressors } = await import_('hyparquet-compressors');
  await sumTables(async (file) => parquetReadObjects({
    file: await asyncBufferFromFile(file), compressors }));
}

async function arrow() {
  const { readParquet } = load('parquet-wasm/node');
  const { tableFromIPC } = load('apache-arrow');
  await sumTables((file) => [...tableFromIPC(
    readParquet(new Uint8Array(fs.readFileSync(file))).intoIPCStream())]);
}

async function duckdb(format) {
  const { DuckDBInstance } = load('@duckdb/node-api');
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const rows = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson();
  const one = async (sql) => (await rows(sql))[0][0] ?? 0;
  const has = (name) => fs.existsSync(path.join(input, name));
  if (format === 'parquet') {
    const tables = fs.readdirSync(input).filter((name) => !name.startsWith('eventlog.'));
    let events = 0n, bytes = 0n;
    for (const name of tables) {
      const table = `'${path.join(input, name)}'`;
      const columns = (await rows(`describe select * from ${table}`)).map((row) => row[0]);
      events += BigInt(await one(`select count(*) from ${table}`));
      if (columns.includes('bytes')) bytes += BigInt(await one(`select sum(bytes) from ${table}`));
    }
    const losses = `'${path.join(input, 'eventlog.lost.parquet')}'`;
    const spans = `'${path.join(input, 'eventlog.spans.parquet')}'`;
    print(events, bytes, has('eventlog.lost.parquet') ?
      await one(`select sum("count") from ${losses}`) : 0, has('eventlog.spans.parquet') ?
      await rows(`select name, count(*), sum(duration) from ${spans} group by 1`) : []);
    return;
  }
  // Fields in JSON are taken by name: the first lines do not have all of them.
  const table = format === 'jsonl' ?
    `(select provider, span, duration::bigint duration, fields
      from read_json('${input}', columns = {provider: 'varchar', span: 'varchar',
        duration: 'bigint', fields: 'json'}))` :
    `(select provider, span, duration::bigint duration, fields::json fields
      from read_csv('${input}', header = true))`;
  print(await one(`select count(*) from ${table} where provider <> 'eventlog'`),
    await one(`select sum((fields->>'bytes')::bigint) from ${table}`),
    await one(`select sum((fields->>'count')::bigint) from ${table} where provider = 'eventlog'`),
    await rows(`select span, count(*), sum(duration) from ${table} where span is not null
                group by 1`));
}

// Perfetto's engine is made for a worker of a browser: give it what it needs of one.
async function startEngine() {
  const folder = path.resolve(modules);
  const { EngineBase } = await import(pathToFileURL(path.join(folder, 'engine.mjs')));
  let bundle = fs.readFileSync(path.join(folder, 'engine_bundle.node.js'), 'utf8');
  const patches = [
    ['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
    ['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.wasmBytes,'],
    ['const wasmBridge = new wasm_bridge_1.WasmBridge();',
      'const wasmBridge = globalThis.wasmBridge = new wasm_bridge_1.WasmBridge();'],
  ];
  for (const [from, to] of patches) {
    if (!bundle.includes(from)) throw new Error(`the engine has no '${from}'`);
    bundle = bundle.replace(from, to);
  }
  const set = (name, value) => Object.defineProperty(globalThis, name,
    { value, configurable: true, writable: true });
  set('self', globalThis);
  set('WorkerGlobalScope', function WorkerGlobalScope() {});
  set('location', { href: `${pathToFileURL(folder)}/` });
  set('wasmBytes', new Uint8Array(fs.readFileSync(path.join(folder, 'trace_processor.wasm'))));
  console.warn = () => {};
  console.error = () => {};
  vm.runInThisContext(bundle);
  const channel = new MessageChannel();
  globalThis.wasmBridge.initialize(channel.port1);
  class Engine extends EngineBase {
    mode = 'WASM';
    id = 'check';
    constructor(port) {
      super();
      this.port = port;
      port.onmessage = (message) => {
        if (message.data instanceof Uint8Array) this.onRpcResponseBytes(message.data);
      };
    }
    rpcSendRequestBytes(data) { this.port.postMessage(data); }
  }
  return new Engine(channel.port2);
}

async function openTrace() {
  const engine = await startEngine();
  await engine.parse(new Uint8Array(fs.readFileSync(input)));
  await engine.notifyEof();
  return async (sql) => {
    const result = await engine.query(sql), all = [];
    for (const row = result.iter({}); row.valid(); row.next())
      all.push(result.columns().map((column) => row.get(column)));
    return all;
  };
}

async function parents() {
  const rows = await openTrace();
  for (const row of await rows(`select slice.ts, slice.name, ifnull(above.name, '-') from slice
      left join slice above on above.id = slice.parent_id
      where slice.dur > 0 order by slice.ts`))
    console.log(row.join(' '));
}

async function equal() {
  const rows = await openTrace();
  await printStats(rows);
  for (const row of await rows(`select slice.ts, slice.dur, slice.name, ifnull(above.name, '-')
      from slice left join slice above on above.id = slice.parent_id
      where slice.track_id in (select id from track where name = 'sessions')
      order by slice.ts, slice.id`))
    console.log(row.join(' '));
}

async function threads() {
  const rows = await openTrace();
  await printStats(rows);
  for (const row of await rows(`select extract_arg(slice.arg_set_id, 'debug.n'), thread.name,
      tid, process.name, pid from slice join thread_track on thread_track.id = slice.track_id
      join thread using (utid) left join process using (upid) order by ts`))
    console.log(row.join(' '));
}

const print_event = (provider, event, session, fields) =>
  console.log(JSON.stringify({ provider, event, session, fields }));

async function tables() {
  const { DuckDBInstance } = load('@duckdb/node-api');
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  for (const name of fs.readdirSync(input)) {
    const table = path.join(input, name).replaceAll("'", "''");
    const found = await connection.runAndReadAll(`select * from '${table}'`);
    for (const row of found.getRowObjectsJson()) {
      const { provider, event, session } = row;
      // The fields are behind the columns of all events.
      const names = Object.keys(row);
      print_event(provider, event, session, Object.fromEntries(
        names.slice(names.indexOf('keywords') + 1).map((key) => [key, row[key]])));
    }
  }
}

async function slices() {
  const rows = await openTrace();
  await printStats(rows);
  const all = new Map();
  for (const [id, provider, event, key, type, string, real, int] of await rows(`select slice.id,
      slice.category, slice.name, args.flat_key, value_type, string_value, real_value, int_value
      from slice left join args using (arg_set_id) order by slice.id, args.id`)) {
    if (!all.has(id)) all.set(id, { provider, event, session: null, fields: {} });
    if (!key?.startsWith('debug.')) continue;
    const slice = all.get(id), name = key.slice('debug.'.length);
    // What is no number is a null in the engine.
    const value = type === 'string' ? string : type === 'real' ? String(real ?? 'nan') : String(int);
    if (name === 'session')
      slice.session = `0x${BigInt.asUintN(64, BigInt(int)).toString(16)}`;
    else if (name in slice.fields)
      throw new Error(`${event} has ${name} twice`);
    else if (name !== 'host' && name !== 'machine_id')
      slice.fields[name] = value;
  }
  for (const slice of all.values())
    print_event(slice.provider, slice.event, slice.session, slice.fields);
}

async function printStats(rows) {
  for (const [name, value] of await rows(
    "select name, value from stats where value > 0 and severity <> 'info'"))
    console.log(`stats: ${name} ${value}`);
}

async function waits() {
  const rows = await openTrace();
  await printStats(rows);
  const argument = (name) => `ifnull(extract_arg(slice.arg_set_id, 'debug.${name}'), '-')`;
  for (const row of await rows(`select slice.ts / 1000, slice.dur / 1000, slice.name,
        ifnull(track.name, 'thread'), ifnull(above.name, '-'), ${argument('session')},
        ${argument('instance')}, ${argument('call_name')}, ${argument('by_session_name')},
        ${argument('blocked')}
      from slice join track on track.id = slice.track_id
      left join slice above on above.id = slice.parent_id
      where slice.category = 'sched' order by slice.ts, slice.id`))
    console.log(row.join(' '));
  for (const row of await rows(`select 'flow', away.ts / 1000, away.name, above.name,
        woken.ts / 1000, woken.name
      from flow join slice away on away.id = flow.slice_out
      join slice woken on woken.id = flow.slice_in
      left join slice above on above.id = away.parent_id order by away.ts`))
    console.log(row.join(' '));
  for (const row of await rows(`select 'times', slice.ts / 1000, slice.name,
        group_concat(replace(args.key, 'debug.elog_why_', '') || ' ' || args.int_value, ' ')
      from slice join args using (arg_set_id)
      where args.key like 'debug.elog_why_%' group by slice.id order by slice.ts, slice.id`))
    console.log(row.join(' '));
  for (const row of await rows(`select 'outlives', slice.name from slice
      join slice above on above.id = slice.parent_id
      where slice.ts < above.ts or slice.ts + slice.dur > above.ts + above.dur`))
    console.log(row.join(' '));
}

async function perfetto() {
  const rows = await openTrace();
  await printStats(rows);
  const unknown = (await rows(`select count(*) from slice
    where extract_arg(arg_set_id, 'debug.host') is null`))[0][0];
  if (unknown) console.log(`without host ${unknown}`);
  const argument = (name) => `sum(extract_arg(arg_set_id, 'debug.${name}'))`;
  // A span is two events.
  const where = "from slice where category <> 'eventlog'";
  print(Number((await rows(`select count(*) ${where}`))[0][0]) +
    Number((await rows(`select count(*) ${where} and track_id in
      (select id from track where name = 'sessions')`))[0][0]),
    (await rows(`select ${argument('bytes')} ${where}`))[0][0] ?? 0,
    (await rows(`select ${argument('count')} from slice where category = 'eventlog'`))[0][0] ?? 0,
    await rows(`select slice.name, count(*), sum(dur) ${where} and track_id in
      (select id from track where name = 'sessions') group by 1`));
}

const readers = {
  hyparquet, arrow, perfetto, parents, equal, threads, waits, tables, slices,
  'duckdb-parquet': () => duckdb('parquet'),
  'duckdb-jsonl': () => duckdb('jsonl'),
  'duckdb-csv': () => duckdb('csv'),
};
readers[reader]().then(() => process.exit(0), (error) => {
  console.log(error);
  process.exit(1);
});
