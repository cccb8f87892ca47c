// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all charts have: colors, axes, a cursor that the mouse and the keyboard move, and
 * zoom. The x axis of charts over time is ns since the earliest event; they zoom together.
 */
'use strict';

const charts = []; /* all that are drawn: { plot, box, build, timed } */
let colors = {};

function read_colors() {
	const style = getComputedStyle(document.documentElement);
	const get = (name) => style.getPropertyValue('--' + name).trim();

	colors = { series: get('series').split(' '), heat: get('heat').split(' ') };
	for (const name of [
		'page',
		'text',
		'muted',
		'grid',
		'line',
		'loss',
		'bar',
		'p50',
		'p99',
		'accent',
	])
		colors[name] = get(name);
}

/* A color of the heat map for a share from 0 to 1. */
function heat_color(share) {
	const stops = colors.heat,
		at = Math.min(share, 0.9999) * (stops.length - 1);
	const low = Math.floor(at),
		rest = at - low;
	const channel = (color, i) => parseInt(color.slice(1 + 2 * i, 3 + 2 * i), 16);
	const mix = [0, 1, 2].map((i) =>
		Math.round(channel(stops[low], i) * (1 - rest) + channel(stops[low + 1], i) * rest)
	);

	return `rgb(${mix})`;
}

const bin_start = (bin) => data.time.first + bin * data.time.step;
const bin_at = (ns) =>
	Math.max(
		0,
		Math.min(data.time.bins - 1, Math.floor((ns - data.time.first) / data.time.step))
	);

/* ------------------------------------------------------------------------
 * Axes
 */

/* Round steps, ns. */
function time_step(span, most) {
	const minute = 60e9,
		hour = 3600e9,
		day = 24 * hour;
	const steps = [];

	for (let unit = 1; unit < 10e9; unit *= 10) steps.push(unit, 2 * unit, 5 * unit);
	steps.push(
		10e9,
		15e9,
		30e9,
		minute,
		2 * minute,
		5 * minute,
		10 * minute,
		15 * minute,
		30 * minute,
		hour,
		2 * hour,
		3 * hour,
		6 * hour,
		12 * hour
	);
	for (let unit = day; unit < 1e7 * day; unit *= 10) steps.push(unit, 2 * unit, 5 * unit);
	return steps.find((step) => span / step <= most) || steps[steps.length - 1];
}

const font = (size) => `${size || 12}px system-ui, "DejaVu Sans", sans-serif`;
const axis = (more) => ({
	stroke: colors.muted,
	font: font(),
	grid: { stroke: colors.grid, width: 1 },
	ticks: { stroke: colors.line, width: 1, size: 5 },
	...more,
});

/* Multiples of a round step in the zone of the times. Short spans count from the start. */
function time_axis() {
	let step = 1,
		date = '',
		relative;

	return axis({
		size: 46,
		splits: (u, i, min, max) => {
			const splits = [];

			step = time_step(
				max - min,
				Math.max(2, u.bbox.width / devicePixelRatio / 96)
			);
			relative = max - min < 1e6;
			const base = relative ? 0 : data.time.day_ns;

			for (
				let at = Math.ceil((base + min) / step) * step;
				at - base <= max;
				at += step
			)
				splits.push(at - base);
			return splits;
		},
		values: (u, splits) => {
			date = '';
			return splits.map((ns) => {
				if (relative) return '+' + duration(ns, true);
				const { time, date: day } = clock(
					ns,
					step >= 1e9 ? 0 : decimals(step)
				);
				const head = day === date ? '' : '\n' + day;

				date = day;
				return (
					(step >= 864e11
						? ''
						: step >= 60e9
							? time.slice(0, 5)
							: time) + head
				);
			});
		},
	});
}

/* ------------------------------------------------------------------------
 * A chart that the mouse and the keyboard can read
 */

function place_tip(tip, plot, left, top) {
	const width = plot.over.clientWidth,
		box = tip.getBoundingClientRect();
	const x = plot.over.offsetLeft + left;

	tip.style.left = Math.max(0, left > width / 2 ? x - box.width - 12 : x + 12) + 'px';
	tip.style.top =
		Math.max(
			0,
			plot.over.offsetTop + Math.min(top, plot.over.clientHeight - box.height)
		) + 'px';
}

/*
 * @chart: { label, height, options(width), values, describe(plot) }: describe returns
 * the rows of the tooltip at the cursor, or null; @values: the x values of the points.
 */
function add_chart(parent, chart) {
	const tip = make('div', { class: 'tip', hidden: true });
	const box = make(
		'div',
		{
			class: 'chart',
			tabindex: '0',
			role: 'group',
			'aria-roledescription': 'chart',
			'aria-label':
				chart.label +
				'. Left and right move the cursor' +
				(chart.timed ? ', plus and minus zoom, 0 shows everything.' : '.'),
		},
		tip
	);
	let point = -1,
		typed = false;

	parent.append(box);
	chart.box = box;
	const moved = (plot) => {
		const { left, top } = plot.cursor;
		const rows =
			left >= 0 && document.activeElement && plot.cursor.left >= 0
				? chart.describe(plot)
				: null;

		tip.hidden = !rows;
		if (!rows) return;
		tip.replaceChildren(
			make(
				'table',
				{},
				make(
					'tbody',
					{},
					...rows.map((row) =>
						make(
							'tr',
							{},
							...row.map((text) => make('td', {}, text))
						)
					)
				)
			)
		);
		place_tip(tip, plot, left, top);
		if (typed)
			say(
				rows
					.map((row) =>
						row
							.map((part) =>
								part.textContent === undefined
									? part
									: part.textContent
							)
							.join(' ')
					)
					.join(', ')
			);
		typed = false;
	};
	chart.build = () => {
		const width = chart.width || box.clientWidth;
		const scale = chart.plot ? { ...chart.plot.scales.x } : null;
		const options = chart.options(width);

		if (chart.plot) chart.plot.destroy();
		options.width = width;
		options.height = chart.height;
		options.legend = { show: false };
		options.cursor = {
			y: false,
			drag: { x: !!chart.timed, y: false },
			points: { show: false },
			...(options.cursor || {}),
		};
		options.hooks = { ...options.hooks, setCursor: [moved] };
		if (chart.timed) options.hooks.setScale = [(u, key) => key === 'x' && zoom_all(u)];
		chart.plot = new uPlot(options, chart.points(), box);
		if (scale && chart.timed)
			chart.plot.setScale('x', { min: scale.min, max: scale.max });
	};
	box.addEventListener('keydown', (event) => {
		const plot = chart.plot,
			{ min, max } = plot.scales.x,
			last = chart.values.length - 1;
		const moves = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 };

		if (event.ctrlKey || event.altKey || event.metaKey) return;
		if (chart.timed && ['+', '=', '-', '0', 'Escape'].includes(event.key)) {
			const middle = point >= 0 ? chart.values[point] : (min + max) / 2;
			const half = (max - min) * (event.key === '-' ? 1 : 0.25);

			if (event.key === '0' || event.key === 'Escape') show_all(plot);
			else plot.setScale('x', clamp(middle - half, middle + half));
		} else if (event.key in moves || event.key === 'Home' || event.key === 'End') {
			const first = chart.values.findIndex((value) => value >= min);
			const step = moves[event.key] * (event.shiftKey ? 10 : 1);

			point =
				event.key === 'Home'
					? 0
					: event.key === 'End'
						? last
						: point < 0 ||
							  chart.values[point] < min ||
							  chart.values[point] > max
							? Math.max(0, first)
							: Math.max(0, Math.min(last, point + step));
			typed = true;
			plot.setCursor({ left: plot.valToPos(chart.values[point], 'x'), top: 10 });
		} else {
			return;
		}
		event.preventDefault();
	});
	box.addEventListener('blur', () => chart.plot.setCursor({ left: -10, top: -10 }));
	charts.push(chart);
	chart.build();
	return chart;
}

/* The whole range of time, ns. One instant has a width as well. */
function whole() {
	const { first, step, bins } = data.time;

	return { min: first, max: first + step * bins };
}

function clamp(min, max) {
	const all = whole(),
		least = Math.min(4 * data.time.step, all.max - all.min);

	if (max - min < least) {
		min = (min + max - least) / 2;
		max = min + least;
	}
	return { min: Math.max(all.min, min), max: Math.min(all.max, max) };
}

function show_all(plot) {
	plot.setScale('x', whole());
}

function zoom_all(from) {
	const { min, max } = from.scales.x;

	for (const { plot, timed } of charts)
		if (
			timed &&
			plot &&
			plot !== from &&
			(plot.scales.x.min !== min || plot.scales.x.max !== max)
		)
			plot.setScale('x', { min, max });
}

const x_scale = () => ({
	time: false,
	range: (u, min, max) => {
		const all = whole();

		/* What a double click resets to is the range of the data. */
		return min === null || max - min >= all.max - all.min - data.time.step * 1.5
			? [all.min, all.max]
			: [min, max];
	},
});

/* ------------------------------------------------------------------------
 * Losses, in both charts over time
 */

function draw_losses(u) {
	const context = u.ctx,
		{ left, top, width, height } = u.bbox,
		ratio = devicePixelRatio;
	const draw_line = (x, color, pixels, dash) => {
		context.strokeStyle = color;
		context.lineWidth = pixels * ratio;
		context.setLineDash(dash);
		context.beginPath();
		context.moveTo(x, top);
		context.lineTo(x, top + height);
		context.stroke();
	};

	context.save();
	context.beginPath();
	context.rect(left, top - 8 * ratio, width, height + 8 * ratio);
	context.clip();
	context.fillStyle = colors.loss;
	for (const loss of data.losses) {
		const x = Math.round(
			u.valToPos(bin_start(loss.bin) + data.time.step / 2, 'x', true)
		);

		draw_line(x, colors.page, 4, []);
		draw_line(x, colors.loss, 1.5, [4 * ratio, 3 * ratio]);
		context.beginPath();
		context.moveTo(x - 5 * ratio, top - 8 * ratio);
		context.lineTo(x + 5 * ratio, top - 8 * ratio);
		context.lineTo(x, top);
		context.fill();
	}
	context.restore();
}

function loss_rows(bin) {
	const loss = data.losses.find((one) => one.bin === bin);

	return loss
		? [['\u25bc lost', String(loss.lost)]].concat(
				Object.entries(loss.causes).map(([cause, number]) => [
					'  ' + cause,
					String(number),
				])
			)
		: [];
}

function time_row(bin) {
	const { time, date } = clock(bin_start(bin), decimals(data.time.step));

	return [date, time];
}

function cursor_bin(plot) {
	return bin_at(plot.posToVal(plot.cursor.left, 'x'));
}

const loss_key = () =>
	data.losses.length
		? make(
				'li',
				{},
				make('span', {
					class: 'line dashed',
					style: 'border-color:var(--loss)',
				}),
				'\u25bc events were lost'
			)
		: null;

const swatch = (name) => make('span', { class: 'swatch', style: 'background:' + name });

/* ------------------------------------------------------------------------
 * Size, theme, paper
 */

function rebuild_all(width) {
	read_colors();
	for (const chart of charts) {
		chart.width = width;
		chart.build();
	}
}

/* Charts of another kind of pairs replace those of the one before. */
function remove_charts(parent) {
	for (let i = charts.length - 1; i >= 0; i--) {
		if (!parent.contains(charts[i].box)) continue;
		charts[i].plot.destroy();
		charts.splice(i, 1);
	}
	parent.replaceChildren();
}
