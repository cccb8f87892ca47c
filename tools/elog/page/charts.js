// SPDX-License-Identifier: GPL-2.0-only
/*
 * The charts: events over time, latency over time, distribution.
 */
'use strict';

/* ------------------------------------------------------------------------
 * Events over time: areas on top of each other
 */

function rate_chart(parent) {
	const { bins, step } = data.time,
		rates = data.rates;
	const legend = make('ul', { class: 'legend', 'aria-label': 'Colors' });
	const values = Array.from({ length: bins }, (_, bin) => bin_start(bin) + step / 2);
	/* The sum of the first so many, the longest sum first: it is drawn first. */
	const sums = [],
		per_second = (number) => (number * 1e9) / step;
	let sum = new Array(bins).fill(0);

	for (const rate of rates) {
		sum = sum.map((number, bin) => number + rate.bins[bin]);
		sums.unshift(sum.map(per_second));
	}
	/* Steps: each bin begins with its value, and the last one has an end. */
	const edges = Array.from({ length: bins + 1 }, (_, bin) => bin_start(bin));
	const color = (i) =>
		i === rates.length - 1 && rates[i].others ? colors.series[6] : colors.series[i % 6];
	const paint = () =>
		legend.replaceChildren(
			...rates.map((rate, i) => make('li', {}, swatch(color(i)), rate.name)),
			...[loss_key()].filter(Boolean)
		);

	add_chart(parent, {
		label: 'Events a second over time, by event',
		height: 240,
		timed: true,
		values,
		points: () => [edges, ...sums.map((one) => [...one, one[bins - 1]])],
		options: () => {
			paint();
			return {
				padding: [14, 22, 0, 0],
				scales: {
					x: x_scale(),
					y: {
						range: (u, min, max) => [
							0,
							max > 0 ? max * 1.05 : 1,
						],
					},
				},
				axes: [
					time_axis(),
					axis({
						size: 58,
						values: (u, v) =>
							v.map((value) => short(value, true)),
						label: 'events/s',
						labelSize: 18,
						labelFont: font(),
						labelGap: 0,
					}),
				],
				series: [
					{},
					...sums.map((_, i) => ({
						fill: color(rates.length - 1 - i),
						stroke: color(rates.length - 1 - i),
						width: 0,
						paths: uPlot.paths.stepped({ align: 1 }),
						points: { show: false },
					})),
				],
				hooks: { draw: [draw_losses] },
			};
		},
		describe: (plot) => {
			const bin = cursor_bin(plot);
			const total = rates.reduce((all, rate) => all + rate.bins[bin], 0);

			return [
				time_row(bin),
				['all', short(per_second(total)) + '/s'],
				...rates.map((rate, i) => [
					make('span', {}, swatch(color(i)), ' ', rate.name),
					short(per_second(rate.bins[bin])) + '/s',
				]),
				...loss_rows(bin),
			];
		},
	});
	parent.append(
		legend,
		make(
			'p',
			{ class: 'hint' },
			'Each column is ' +
				duration(step) +
				'. Drag to zoom, double-click to see everything; ' +
				'or use the keyboard: arrows, +, \u2212, 0.'
		)
	);
}

/* ------------------------------------------------------------------------
 * Latency over time
 */

/* Rows are about the same size on a logarithmic scale: the position of a value, in rows. */
function row_of(rows, value) {
	let row = 0;

	while (row + 2 < rows.length && rows[row + 1] <= value) row++;
	return (
		row +
		Math.min(1, Math.max(0, (value - rows[row]) / (rows[row + 1] - rows[row] || 1)))
	);
}

/* Labels at the powers of ten, or at each row that is one of them. */
function row_splits(rows, most) {
	const powers = [],
		some = []; /* of ten; and 2 and 5 times that */

	rows.forEach((value, row) => {
		if (row && value === rows[row - 1]) return;
		if (/^10*$/.test(String(value))) powers.push(row);
		if (/^[125]0*$/.test(String(value))) some.push(row);
	});
	return powers.length > most ? powers : some.length > 1 ? some : rows.map((_, row) => row);
}

function heat_chart(parent, span) {
	const { bins, step } = data.time,
		rows = span.rows,
		splits = row_splits(rows, 1);
	const values = Array.from({ length: bins }, (_, bin) => bin_start(bin) + step / 2);
	const most = span.heat.reduce((all, [, , ...counts]) => Math.max(all, ...counts), 1);
	const columns = new Map(span.heat.map(([bin, row, ...counts]) => [bin, { row, counts }]));
	const ramp = make('span', { class: 'ramp' });
	const dashes = [6, 3];
	const draw = (u) => {
		const context = u.ctx;

		context.save();
		context.beginPath();
		context.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
		context.clip();
		for (const [bin, { row, counts }] of columns) {
			const x0 = Math.round(u.valToPos(bin_start(bin), 'x', true));
			const x1 = Math.round(u.valToPos(bin_start(bin + 1), 'x', true));

			counts.forEach((number, i) => {
				if (!number) return;
				const y0 = Math.round(u.valToPos(row + i, 'y', true));
				const y1 = Math.round(u.valToPos(row + i + 1, 'y', true));

				context.fillStyle = heat_color(
					most > 1 ? Math.log(number) / Math.log(most) : 1
				);
				context.fillRect(x0, y1, Math.max(1, x1 - x0), y0 - y1);
			});
		}
		context.restore();
	};
	const position = (value) => (value === null ? null : row_of(rows, value));
	/* Steps: a group of columns has one percentile. */
	const edges = Array.from({ length: bins + 1 }, (_, bin) => bin_start(bin));
	const steps = (groups) =>
		edges.map((_, bin) =>
			position(groups[Math.floor(Math.min(bin, bins - 1) / span.group)])
		);
	const line = (color, width, dash) => ({
		stroke: color,
		width,
		dash,
		points: { show: false },
		paths: uPlot.paths.stepped({ align: 1 }),
	});
	const of = span.group > 1 ? ' of ' + duration(step * span.group) : '';

	add_chart(parent, {
		label: `Latency of ${span.name} over time: pairs by duration, and percentiles`,
		height: 300,
		timed: true,
		values,
		points: () => [
			edges,
			...[span.p50_groups, span.p99_groups].flatMap((groups) => [
				steps(groups),
				steps(groups),
			]),
		],
		options: () => {
			ramp.style.background = `linear-gradient(90deg, ${colors.heat})`;
			return {
				padding: [14, 22, 0, 0],
				scales: { x: x_scale(), y: { range: () => [0, rows.length - 1] } },
				axes: [
					time_axis(),
					axis({
						size: 58,
						splits: () => splits,
						values: (u, v) =>
							v.map((row) => duration(rows[row], true)),
						label: 'duration',
						labelSize: 18,
						labelFont: font(),
						labelGap: 0,
					}),
				],
				/* Each line has an edge, to be seen on the map. */
				series: [
					{},
					line(colors.page, 4.5),
					line(colors.p50, 1.8),
					line(colors.page, 4),
					line(colors.p99, 1.8, dashes),
				],
				hooks: { drawAxes: [draw], draw: [draw_losses] },
			};
		},
		describe: (plot) => {
			const bin = cursor_bin(plot),
				column = columns.get(bin);
			const row = Math.floor(plot.posToVal(plot.cursor.top, 'y'));
			const out = [time_row(bin)],
				group = Math.floor(bin / span.group);

			if (!column) return [...out, ['no pairs', ''], ...loss_rows(bin)];
			out.push(
				[
					'pairs',
					String(
						column.counts.reduce(
							(all, number) => all + number,
							0
						)
					),
				],
				['p50' + of, duration(span.p50_groups[group])],
				['p99' + of, duration(span.p99_groups[group])]
			);
			if (column.counts[row - column.row])
				out.push([
					duration(rows[row], true) +
						' .. ' +
						duration(rows[row + 1], true),
					String(column.counts[row - column.row]),
				]);
			return [...out, ...loss_rows(bin)];
		},
	});
	parent.append(
		make(
			'ul',
			{ class: 'legend', 'aria-label': 'Colors' },
			make('li', {}, '1 pair', ramp, plural(most, 'pair')),
			make(
				'li',
				{},
				make('span', { class: 'line', style: 'border-color:var(--p50)' }),
				'p50'
			),
			make(
				'li',
				{},
				make('span', {
					class: 'line dashed',
					style: 'border-color:var(--p99)',
				}),
				'p99'
			),
			loss_key()
		)
	);
}

/* ------------------------------------------------------------------------
 * Distribution
 */

/* The label of each percentile where it is, if there is room. */
function draw_percentiles(u, span) {
	const context = u.ctx,
		{ left, top, width, height } = u.bbox,
		ratio = devicePixelRatio;
	let free = left;

	context.save();
	context.font = font(12 * ratio);
	context.lineWidth = 1.5 * ratio;
	for (const name of ['p50', 'p90', 'p99', 'p99.9']) {
		const x = Math.round(u.valToPos(row_of(span.rows, span[name]), 'x', true));
		const text = context.measureText(name).width;

		context.strokeStyle = context.fillStyle = name === 'p50' ? colors.p50 : colors.p99;
		context.setLineDash(name === 'p50' ? [] : [6 * ratio, 3 * ratio]);
		context.beginPath();
		context.moveTo(x, top);
		context.lineTo(x, top + height);
		context.stroke();
		const at = Math.min(x - text / 2, left + width - text);
		if (at >= free) {
			context.fillText(name, at, top - 5 * ratio);
			free = at + text + 6 * ratio;
		}
	}
	context.restore();
}

function distribution_chart(parent, span) {
	const rows = span.rows,
		all = span.pairs;
	const values = span.hist.map((_, row) => row + 0.5);
	const chart = { log: false };
	const scale = (number) => (chart.log ? (number ? Math.log10(number) + 0.3 : 0) : number);
	const draw = (u) => {
		const context = u.ctx,
			bottom = u.bbox.top + u.bbox.height;

		context.save();
		context.fillStyle = colors.series[0];
		span.hist.forEach((number, row) => {
			const x0 = Math.round(u.valToPos(row, 'x', true)),
				x1 = Math.round(u.valToPos(row + 1, 'x', true));
			const y = Math.round(u.valToPos(scale(number), 'y', true));

			if (number)
				context.fillRect(
					x0,
					Math.min(y, bottom - devicePixelRatio),
					Math.max(1, x1 - x0 - devicePixelRatio),
					Math.max(devicePixelRatio, bottom - y)
				);
		});
		context.restore();
		draw_percentiles(u, span);
	};
	const linear = { values: (u, v) => v.map((value) => short(value, true)) };
	const logarithmic = {
		splits: (u, i, min, max) =>
			Array.from(
				{ length: Math.max(1, Math.floor(max + 0.7)) },
				(_, power) => power + 0.3
			),
		values: (u, v) => v.map((value) => short(10 ** Math.round(value - 0.3), true)),
	};

	add_chart(
		parent,
		Object.assign(chart, {
			label: `Distribution of the durations of ${span.name}`,
			height: 220,
			values,
			points: () => [values, span.hist.map(scale)],
			options: (width) => ({
				padding: [20, 22, 0, 0],
				scales: {
					x: { time: false, range: () => [0, rows.length - 1] },
					y: {
						range: (u, min, max) => [
							0,
							max > 0 ? max * 1.03 : 1,
						],
					},
				},
				axes: [
					axis({
						size: 34,
						splits: () => row_splits(rows, width < 600 ? 1 : 4),
						values: (u, v) =>
							v.map((row) => duration(rows[row], true)),
					}),
					axis({
						size: 58,
						label: 'pairs',
						labelSize: 18,
						labelFont: font(),
						labelGap: 0,
						...(chart.log ? logarithmic : linear),
					}),
				],
				series: [{}, { paths: () => null, points: { show: false } }],
				hooks: { draw: [draw] },
			}),
			describe: (plot) => {
				const row = Math.max(
					0,
					Math.min(
						rows.length - 2,
						Math.floor(plot.posToVal(plot.cursor.left, 'x'))
					)
				);
				const below = span.hist
					.slice(0, row + 1)
					.reduce((sum, number) => sum + number, 0);

				return [
					[
						duration(rows[row], true) +
							' .. ' +
							duration(rows[row + 1], true),
						'',
					],
					['pairs', String(span.hist[row])],
					['share', ((100 * span.hist[row]) / all).toFixed(1) + '%'],
					['not slower', ((100 * below) / all).toFixed(1) + '%'],
				];
			},
		})
	);
	const button = make(
		'button',
		{
			type: 'button',
			class: 'quiet',
			'aria-pressed': 'false',
			onclick: () => {
				chart.log = !chart.log;
				button.setAttribute('aria-pressed', String(chart.log));
				chart.build();
			},
		},
		'Logarithmic counts'
	);
	parent.append(make('p', { class: 'hint' }, button));
}
