// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sections of the page: facts, totals, pairs and their slowest sessions, tables.
 */
'use strict';

/* ------------------------------------------------------------------------
 * The head
 */

/* The date of the end only if it is another one. */
function time_range() {
	const digits = Math.max(3, Math.min(9, decimals(data.time.step)));
	const start = clock(0, digits),
		end = clock(data.time.span, digits);

	return (
		`${start.date} ${start.time} to ${start.date === end.date ? '' : end.date + ' '}` +
		`${end.time} (UTC${data.time.zone}), ${duration(data.time.span)}`
	);
}

function facts() {
	const list = byId('facts'),
		time = data.time;
	const add = (name, ...what) =>
		what.some(Boolean) && list.append(make('dt', {}, name), make('dd', {}, ...what));
	const several = data.files.length > 1;

	byId('title').textContent =
		data.files[0].name + (several ? ` and ${data.files.length - 1} more` : '');
	document.title = 'elog report: ' + byId('title').textContent;
	if (several) add('Files', data.files.map((file) => file.name).join(', '));
	const distinct = (key) =>
		[...new Set(data.files.map((file) => file[key]).filter(Boolean))].join(', ');

	add('Host', [distinct('host'), distinct('kernel')].filter(Boolean).join(', kernel '));
	add('Captured by', distinct('command'));
	if (time.bins) add('Time', time_range());
	if (data.selection) add('Selection', make('code', {}, data.selection));
}

function notes() {
	for (const text of data.damage) byId('notes').append(make('p', { class: 'note' }, text));
}

function totals() {
	const seconds = data.time.span / 1e9,
		span = data.spans[0];
	const rates = data.rates.length
		? data.rates[0].bins.map((_, bin) =>
				data.rates.reduce((sum, rate) => sum + rate.bins[bin], 0)
			)
		: [];
	const peak = rates.length ? (Math.max(...rates) * 1e9) / data.time.step : 0;
	const add = (name, value, more, kind) =>
		byId('totals').append(
			make(
				'li',
				{ class: kind || null },
				make('span', { class: 'name' }, name),
				make('b', {}, value),
				make('small', {}, more)
			)
		);

	add(
		'Events',
		count(data.events),
		plural(data.event_rows.length + data.more_events, 'kind') +
			', ' +
			plural(data.processes.length + data.more_processes, 'process').replace(
				'processs',
				'processes'
			)
	);
	if (seconds)
		add('Rate', short(data.events / seconds) + '/s', 'at most ' + short(peak) + '/s');
	add(
		data.lost ? '\u25bc Lost' : 'Lost',
		count(data.lost),
		data.lost
			? plural(data.losses.length, 'place') +
					': ' +
					Object.keys(data.causes).join(', ')
			: 'no event was lost',
		data.lost ? 'loss' : null
	);
	if (span && span.pairs) {
		add('p50', duration(span.p50), span.name);
		add('p99', duration(span.p99), span.name);
		add('Slowest', duration(span.max), span.name);
	}
}

/* ------------------------------------------------------------------------
 * The slowest sessions
 */

const severe = (level) => ['critical', 'error', 'warning'].includes(level);

function event_row(slow, event) {
	const [ns, name, cpu, thread, level, fields] = event;
	const inside = ns >= 0 && ns <= slow.latency;
	const edge = ns === 0 || ns === slow.latency;
	const tick = make('i');
	const share = slow.latency ? ns / slow.latency : 0;

	tick.style.left = 100 * Math.max(0, Math.min(1, share)) + '%';
	return make(
		'tr',
		{ class: edge ? 'edge' : inside ? null : 'outside' },
		cell((ns < 0 ? '' : '+') + duration(ns)),
		cell(make('span', { class: 'track' }, inside ? tick : ''), 'wide'),
		make(
			'td',
			{ class: 'left' },
			name,
			' ',
			make(
				'span',
				{
					class: 'level' + (severe(level) ? ' severe' : ''),
				},
				level && level !== 'info' ? level : ''
			)
		),
		cell(cpu === null ? '-' : String(cpu), 'wide'),
		cell(thread, 'left'),
		cell(fields, 'wrap mono')
	);
}

function session_detail(slow) {
	const parts = [];

	const words = waits_in_words(slow);

	if (words) parts.push(make('p', {}, 'Time: ' + words));
	if (slow.events.length) {
		const rows = slow.events.map((event) => event_row(slow, event));

		parts.push(
			table(
				[
					['since start'],
					['', 'wide'],
					['event', 'left'],
					['CPU', 'wide'],
					['thread', 'left'],
					['fields', 'left'],
				],
				'Events of session ' + slow.session,
				make('tbody', {}, ...rows)
			)
		);
		if (slow.before || slow.after)
			parts.push(
				make(
					'p',
					{ class: 'muted' },
					'Not listed: ' +
						[
							slow.before ? slow.before + ' before' : '',
							slow.after ? slow.after + ' after' : '',
						]
							.filter(Boolean)
							.join(', ')
				)
			);
	} else {
		parts.push(
			make(
				'p',
				{ class: 'muted' },
				data.listed
					? 'No event of this session was found again.'
					: 'The standard input cannot be read again to list the events.'
			)
		);
	}
	if (slow.command) parts.push(command(slow.command));
	return parts;
}

/* What the slowest sessions waited for, the longest in all first. */
function causes_of(slowest) {
	const sums = {};

	for (const { waits } of slowest)
		for (const [cause, time] of Object.entries(waits || {}))
			sums[cause] = (sums[cause] || 0) + time;
	return Object.keys(sums).sort((a, b) => sums[b] - sums[a]);
}

const cause_color = (i) => `var(--s${Math.min(i, 6)})`;
const unknown_color = 'var(--line)';

/*
 * Threads that work at the same time have more time than the session took. Without a wait, perhaps
 * no thread said that it works on it.
 */
function waits_in_words(slow) {
	if (!slow.waits) return slow.causes.length ? 'unknown' : '';
	const waits = Object.entries(slow.waits).sort((a, b) => b[1] - a[1]);
	const sum = waits.reduce((all, [, time]) => all + time, 0);
	const words = waits.map(([cause, time]) => `${cause} ${duration(time)}`);

	if (sum < slow.thread_time) words.push('on CPU ' + duration(slow.thread_time - sum));
	if (slow.thread_time > slow.latency)
		words.push(`of ${duration(slow.thread_time)} of threads at the same time`);
	return words.join(', ');
}

/* A part of the bar for each cause; the rest of it was on a CPU, if there are any. */
function fill_bar(bar, slow) {
	bar.style.width = (100 * slow.latency) / (slow.slowest || 1) + '%';
	const words = waits_in_words(slow);

	if (words) bar.setAttribute('title', words);
	if (words && !slow.waits) bar.style.background = unknown_color;
	if (!slow.waits) return;
	slow.causes.forEach((cause, i) => {
		const part = make('span', { style: `background:${cause_color(i)}` });

		part.style.width = (100 * (slow.waits[cause] || 0)) / (slow.thread_time || 1) + '%';
		bar.append(part);
	});
}

function causes_legend(causes, slowest) {
	return make(
		'ul',
		{ class: 'legend', 'aria-label': 'Colors' },
		...causes.map((cause, i) => make('li', {}, swatch(cause_color(i)), cause)),
		make('li', {}, swatch('var(--bar)'), 'on CPU'),
		...(slowest.every(({ waits }) => waits)
			? []
			: [make('li', {}, swatch(unknown_color), 'unknown')])
	);
}

function slow_row(slow, number, columns) {
	const id = 'slow' + number;
	const detail = make(
		'tr',
		{ id, class: 'session', hidden: true },
		make('td', { colspan: columns })
	);
	const toggle = () => {
		const open = button.getAttribute('aria-expanded') !== 'true';

		if (open && !detail.firstChild.firstChild)
			detail.firstChild.append(...session_detail(slow));
		button.setAttribute('aria-expanded', String(open));
		detail.hidden = !open;
	};
	const button = make(
		'button',
		{
			type: 'button',
			class: 'open mono',
			'aria-expanded': 'false',
			'aria-controls': id,
			'aria-label': `Events of session ${slow.session}`,
		},
		(slow.instance ? slow.instance + ':' : '') + slow.session
	);
	const row = make(
		'tr',
		{ onclick: toggle },
		cell(button, 'left'),
		cell(duration(slow.latency)),
		cell(slow.time.slice(11), 'wide'),
		cell(slow.thread, 'left'),
		cell(make('span', { class: 'fill' }), 'share wide')
	);

	fill_bar(row.querySelector('.fill'), slow);
	return make('tbody', { class: 'one' }, row, detail);
}

/* ------------------------------------------------------------------------
 * Pairs
 */

function percentiles(span) {
	const titles = ['pairs', 'min', 'mean', 'p50', 'p90', 'p99', 'p99.9', 'max'];
	const row = make(
		'tr',
		{},
		cell(count(span.pairs)),
		...titles.slice(1).map((name) => cell(duration(span[name])))
	);

	return table(
		titles.map((title) => [title]),
		'Percentiles of ' + span.name,
		make('tbody', {}, row)
	);
}

function unpaired(span) {
	return make(
		'p',
		{ class: 'hint' },
		'Not paired: ' +
			plural(span.starts - span.pairs, 'start') +
			' and ' +
			plural(span.ends - span.pairs, 'end') +
			'.'
	);
}

function show_span(parent, span) {
	remove_charts(parent);
	parent.append(percentiles(span), unpaired(span));
	if (span.command) parent.append(command(span.command));
	parent.append(make('h3', {}, 'Latency over time'));
	heat_chart(parent, span);
	parent.append(make('h3', {}, 'Distribution'));
	distribution_chart(parent, span);
	parent.append(make('h3', {}, 'Slowest sessions'));
	const columns = [
		['session', 'left'],
		['took'],
		['start', 'wide'],
		['thread', 'left'],
		['', 'wide'],
	];
	const slowest = span.slowest.length ? span.slowest[0].latency : 0;

	parent.append(make('p', { class: 'hint' }, 'Select a session to list its events.'));
	const causes = causes_of(span.slowest);

	if (causes.length) parent.append(causes_legend(causes, span.slowest));
	const rows = table(
		columns,
		'Slowest sessions of ' + span.name,
		...span.slowest.map((slow, i) => slow_row({ ...slow, slowest, causes }, i, columns.length))
	);

	rows.classList.add('slow');
	parent.append(rows);
}

function latency() {
	const parent = byId('latency'),
		spans = data.spans.filter((span) => span.pairs);
	const box = make('div');

	if (!spans.length) {
		parent.append(
			empty(
				data.events
					? 'No pairs of events were found: none is named X_start and X_end, ' +
							'X_begin and X_end, or X_open and X_close, ' +
							'in one session. ' +
							'The option --span START:END names others.'
					: 'There are no events.'
			)
		);
		return;
	}
	if (spans.length > 1) {
		const buttons = spans.map((span) =>
			make(
				'button',
				{
					type: 'button',
					'aria-pressed': 'false',
					onclick: () => choose(span),
				},
				`${span.name} (${short(span.pairs)})`
			)
		);
		const choose = (span) => {
			buttons.forEach((button, i) =>
				button.setAttribute('aria-pressed', String(spans[i] === span))
			);
			show_span(box, span);
		};

		parent.append(
			make(
				'div',
				{ class: 'tabs', role: 'group', 'aria-label': 'Pairs of events' },
				...buttons
			),
			box
		);
		choose(spans[0]);
	} else {
		parent.append(make('h3', {}, spans[0].name), box);
		show_span(box, spans[0]);
	}
	if (data.more_spans)
		parent.append(
			make(
				'p',
				{ class: 'hint' },
				plural(data.more_spans, 'other kind') + ' of pairs not shown.'
			)
		);
}

/* ------------------------------------------------------------------------
 * Tables
 */

/* A row with a bar for its share of all events. */
function share_row(events, most, ...cells) {
	const fill = make('span', { class: 'fill' });
	const share = data.events ? (100 * events) / data.events : 0;

	fill.style.width = (100 * events) / (most || 1) + '%';
	return make(
		'tr',
		{},
		...cells,
		cell(count(events)),
		cell(share && share < 0.05 ? '<0.1%' : share.toFixed(1) + '%'),
		cell(fill, 'share wide')
	);
}

function events_table() {
	const parent = byId('events'),
		most = data.event_rows.length ? data.event_rows[0].events : 0;

	if (!data.events) {
		parent.append(empty('There are no events.'));
		return;
	}
	parent.append(
		table(
			[
				['event', 'left'],
				['level', 'left wide'],
				['bytes', 'wide'],
				['events'],
				['share'],
				['', 'wide'],
			],
			'Events by number',
			make(
				'tbody',
				{},
				...data.event_rows.map((row) =>
					share_row(
						row.events,
						most,
						cell(row.name, 'left'),
						make(
							'td',
							{ class: 'left wide' },
							make(
								'span',
								{
									class:
										'level' +
										(severe(row.level)
											? ' severe'
											: ''),
								},
								row.level || '?'
							)
						),
						cell(count(row.bytes), 'wide')
					)
				)
			)
		)
	);
	if (data.more_events)
		parent.append(
			make(
				'p',
				{ class: 'hint' },
				plural(data.more_events, 'other kind') + ' of events not listed.'
			)
		);
	if (data.commands.events) parent.append(command(data.commands.events));
}

function processes_table() {
	const parent = byId('processes'),
		most = data.processes.length ? data.processes[0].events : 0;

	if (!data.processes.length) {
		parent.append(empty('There are no events.'));
		return;
	}
	parent.append(
		table(
			[
				['process', 'left'],
				['name', 'left'],
				['bytes', 'wide'],
				['events'],
				['share'],
				['', 'wide'],
			],
			'Processes by number of events',
			make(
				'tbody',
				{},
				...data.processes.map((row) =>
					share_row(
						row.events,
						most,
						cell(String(row.pid), 'left'),
						cell(row.name || '-', 'left'),
						cell(count(row.bytes), 'wide')
					)
				)
			)
		)
	);
	if (data.more_processes)
		parent.append(
			make('p', { class: 'hint' }, data.more_processes + ' more not listed.')
		);
	if (data.other_processes)
		parent.append(
			make(
				'p',
				{ class: 'hint' },
				data.other_processes + ' events are of further processes.'
			)
		);
	if (data.commands.processes) parent.append(command(data.commands.processes));
}

/* What each instance has lost, if the capture had several. */
function instances_table() {
	return table(
		[['instance', 'left'], ['events'], ['lost'], ['why', 'left']],
		'Instances',
		make(
			'tbody',
			{},
			...data.instances.map((instance) =>
				make(
					'tr',
					{},
					cell(instance.instance || '(root)', 'left'),
					cell(count(instance.events)),
					cell(count(instance.lost)),
					cell(
						Object.entries(instance.causes)
							.map(([cause, number]) => `${cause} ${number}`)
							.join(', '),
						'left'
					)
				)
			)
		)
	);
}

function losses_table() {
	const parent = byId('losses'),
		digits = data.time.bins ? decimals(data.time.step) : 0;

	if (data.instances.length) parent.append(instances_table());

	if (data.invalid)
		parent.append(
			make('p', { class: 'note' }, plural(data.invalid, 'invalid record') + ' of producers.')
		);
	if (!data.lost) {
		parent.append(empty(data.events ? 'No events were lost.' : 'There are no losses.'));
		return;
	}
	parent.append(
		table(
			[['time', 'left'], ['lost'], ['why', 'left']],
			'Losses over time',
			make(
				'tbody',
				{},
				...data.losses.map((loss) =>
					make(
						'tr',
						{},
						cell(
							clock(bin_start(loss.bin), digits).time,
							'left'
						),
						cell(count(loss.lost)),
						cell(
							Object.entries(loss.causes)
								.map(
									([cause, number]) =>
										`${cause} ${number}`
								)
								.join(', '),
							'left'
						)
					)
				)
			)
		)
	);
	parent.append(
		make(
			'p',
			{ class: 'hint' },
			'Times are those of the columns of the charts, ' +
				duration(data.time.step) +
				' each. A pair that began before a loss is not measured: ' +
				'its end may be missing.'
		)
	);
	if (data.commands.losses) parent.append(command(data.commands.losses));
}

/* ------------------------------------------------------------------------
 * All of it
 */

function set_theme(theme) {
	document.documentElement.dataset.theme = theme;
	byId('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
	byId('theme').setAttribute(
		'aria-label',
		`Use ${theme === 'dark' ? 'light' : 'dark'} colors`
	);
}

const preference = matchMedia('(prefers-color-scheme: dark)');
let theme = preference.matches ? 'dark' : 'light',
	wide = byId('main').clientWidth;

function change_theme(name) {
	theme = name;
	set_theme(theme);
	rebuild_all();
}

set_theme(theme);
read_colors();
facts();
notes();
totals();
if (data.time.bins) rate_chart(byId('rate'));
else byId('rate').append(empty('There are no events.'));
if (data.commands.show) byId('rate').append(command(data.commands.show));
latency();
events_table();
processes_table();
losses_table();
byId('footer').append('Made by ' + data.tool + '. Times are in the zone ' + data.time.zone + '.');

byId('theme').addEventListener('click', () => change_theme(theme === 'dark' ? 'light' : 'dark'));
preference.addEventListener('change', () => change_theme(preference.matches ? 'dark' : 'light'));
/* Not at once: drawing changes the size of what is observed. */
new ResizeObserver(() =>
	requestAnimationFrame(() => {
		if (Math.abs(byId('main').clientWidth - wide) < 2) return;
		wide = byId('main').clientWidth;
		rebuild_all();
	})
).observe(byId('main'));
/* Paper is white and has a width of its own. */
addEventListener('beforeprint', () => {
	set_theme('light');
	rebuild_all(680);
});
addEventListener('afterprint', () => {
	set_theme(theme);
	rebuild_all();
});
document.documentElement.dataset.ready = 'true';
