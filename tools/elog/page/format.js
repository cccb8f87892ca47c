// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers and times as elog prints them, and elements. Text from the file only becomes
 * text of the page: nothing here parses HTML.
 */
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);

/* An element, with properties ("class" and "aria-..." are attributes) and children. */
function make(name, properties, ...children) {
	const element = document.createElement(name);

	for (const [key, value] of Object.entries(properties || {})) {
		if (value === null || value === undefined || value === false) continue;
		if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
		else element.setAttribute(key, value === true ? '' : value);
	}
	element.append(...children.filter((child) => child !== null && child !== undefined));
	return element;
}

const byId = (id) => document.getElementById(id);

/* Three digits and a unit, as elog latency prints a duration. */
function duration(ns, exact) {
	const units = ['ns', 'us', 'ms', 's'];
	const sign = ns < 0 ? '-' : '';
	let value = Math.abs(ns),
		unit = 0;

	while (unit < 3 && value >= 999.5) {
		value /= 1000;
		unit++;
	}
	let text = value.toFixed(
		unit === 0 && exact ? 0 : value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
	);
	if (text.includes('.') && (exact || !unit)) text = text.replace(/\.?0+$/, '');
	return sign + text + units[unit];
}

/* A count whose digits are in groups; as text it is the plain number. */
function count(number) {
	const digits = String(number),
		parts = [];

	for (let end = digits.length; end > 0; end -= 3)
		parts.unshift(
			make('span', { class: 'group' }, digits.slice(Math.max(0, end - 3), end))
		);
	return make('span', {}, ...parts);
}

/* A number with three digits: 950, 1.20k, 35.0M; @exact: for an axis, 1.2k. */
function short(number, exact) {
	const units = ['', 'k', 'M', 'G', 'T'];
	let unit = 0;

	if (number < 0.995) return String(Number(number.toPrecision(2)));
	while (unit < 4 && number >= 999.5) {
		number /= 1000;
		unit++;
	}
	let text = number.toFixed(number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2);
	if ((exact || !unit) && text.includes('.')) text = text.replace(/\.?0+$/, '');
	return text + units[unit];
}

const plural = (number, noun) => number + ' ' + noun + (number === 1 ? '' : 's');

/*
 * Times are ns since data.time.start. Its day and the ns of that day are in the zone
 * that elog printed with, so that all times agree with those of elog show --time wall.
 */
function clock(ns, digits) {
	const unit = 10 ** (9 - digits);
	let of_day = Math.round((data.time.day_ns + ns) / unit) * unit;
	let days = Math.floor(of_day / 864e11);

	of_day -= days * 864e11;
	const second = Math.floor(of_day / 1e9);
	const pad = (number, width) => String(number).padStart(width, '0');
	let text =
		pad(Math.floor(second / 3600), 2) +
		':' +
		pad(Math.floor(second / 60) % 60, 2) +
		':' +
		pad(second % 60, 2);
	if (digits) text += '.' + pad(Math.round((of_day - second * 1e9) / unit), digits);
	return {
		time: text,
		date: new Date((data.time.day + days) * 864e5).toISOString().slice(0, 10),
	};
}

/* The decimals of a second that tell apart times which are @step ns from each other. */
const decimals = (step) => Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(Math.max(1, step)))));

/* A command that can be copied. */
function command(text) {
	const code = make('code', {}, text);
	const button = make(
		'button',
		{
			type: 'button',
			class: 'copy',
			'aria-label': 'Copy the command ' + text,
			onclick: () => {
				const range = document.createRange();

				range.selectNodeContents(code);
				getSelection().removeAllRanges();
				getSelection().addRange(range);
				if (navigator.clipboard)
					navigator.clipboard.writeText(text).then(
						() => say('Copied'),
						() => {}
					);
			},
		},
		'Copy'
	);

	return make('p', { class: 'command' }, code, button);
}

/* Tell a screen reader. */
function say(text) {
	byId('said').textContent = text;
}

const empty = (text) => make('p', { class: 'empty' }, text);

/* A table in a box that scrolls. @columns: [title, class]. */
function table(columns, label, ...bodies) {
	const head = make(
		'tr',
		{},
		...columns.map(([title, name]) =>
			make('th', { scope: 'col', class: name || null }, title)
		)
	);

	return make(
		'div',
		{ class: 'scroll' },
		make('table', { 'aria-label': label }, make('thead', {}, head), ...bodies)
	);
}

const cell = (text, name) => make('td', { class: name || null }, text);
