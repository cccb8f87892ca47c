#!/usr/bin/env node
// SPDX-License-Identifier: GPL-2.0-only
//
// Prints events as they happen, and counts them, with the JSON stream of elog capture.
//
//	node follow.js -e 'myjob/*' -- ./job
//
// JSON.parse() makes doubles of numbers: integers above 2^53 lose digits. A session is text.
'use strict';

const { spawn } = require('child_process');
const readline = require('readline');

const elog = spawn('elog', ['capture', '-q', '--format', 'json', ...process.argv.slice(2)],
	{ stdio: ['inherit', 'pipe', 'inherit'] });
const counts = new Map();

readline.createInterface({ input: elog.stdout }).on('line', (line) => {
	let item;

	try {
		item = JSON.parse(line);
	} catch (error) {
		console.log(line);	// what the command itself prints
		return;
	}
	if (item.lost !== undefined) {
		console.error(`${item.lost} events lost`);
		return;
	}
	const name = `${item.provider}/${item.event}`;

	counts.set(name, (counts.get(name) || 0) + 1);
	console.log(item.time, name, item.fields);
});

// elog ends when it gets the signal, and prints what was emitted until then.
process.on('SIGINT', () => {});
elog.on('error', (error) => {
	console.error(`cannot start elog: ${error.message}`);
	process.exitCode = 1;
});
elog.on('close', (status) => {
	for (const [name, count] of counts)
		console.log(`${count} ${name}`);
	process.exitCode = process.exitCode || status;
});
