// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_browser.cjs MODULES BROWSER IMAGES PAGE... - opens pages of elog report in Chromium,
 * as a reader would, and prints what is wrong. IMAGES: a folder for screenshots. MODULES has
 * puppeteer-core.
 */
'use strict';

const path = require('path');
const puppeteer = require(require.resolve('puppeteer-core', { paths: [process.argv[2]] }));
const [, , , browser_path, images, ...pages] = process.argv;
let failed = false;

function check(what, holds) {
	if (holds) return;
	failed = true;
	console.log(what);
}

/* Opens a page. Only the page itself may be requested, and nothing be printed. */
async function open(browser, file, theme) {
	const page = await browser.newPage(),
		name = path.basename(file);

	page.on('pageerror', (error) => check(`${name}: ${error.message}`, false));
	page.on('console', (line) => check(`${name}: console: ${line.text()}`, false));
	page.on('request', (request) =>
		check(
			`${name}: requests ${request.url()}`,
			request.url() === 'file://' + file || request.url().startsWith('data:')
		)
	);
	await page.setViewport({ width: 1280, height: 900 });
	await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
	await page.goto('file://' + file, { timeout: 0 });
	await page.waitForSelector(':root[data-ready]', { timeout: 0 });
	return page;
}

const data_of = (page) => page.$eval('#data', (element) => JSON.parse(element.textContent));
const text_of = (page, selector) => page.$eval(selector, (element) => element.textContent);

async function check_names(page, name) {
	const bare = await page.evaluate(
		() =>
			[...document.querySelectorAll('button, .chart, table')].filter(
				(element) =>
					!(
						element.textContent.trim() &&
						element.tagName === 'BUTTON'
					) && !element.getAttribute('aria-label')
			).length
	);

	check(`${name}: ${bare} buttons, charts and tables have no name`, !bare);
	check(`${name}: no language`, await page.$(':root[lang=en]'));
	check(
		`${name}: something of the file is a part of the page`,
		await page.evaluate(
			() =>
				!window.owned &&
				document.scripts.length === 2 &&
				!document.querySelector('img, b b, header b')
		)
	);
}

/* A click lists the events of a session; Enter hides them. */
async function check_sessions(page) {
	const slow = (await data_of(page)).spans[0].slowest;
	const rows = () =>
		page.$$eval('#slow0:not([hidden]) tbody tr', (list) =>
			list.map((row) => row.textContent)
		);

	check('sessions are listed before a click', !(await rows()).length);
	await page.click('.slow .open');
	const listed = await rows();

	check(`a click lists ${listed.length} events`, listed.length === slow[0].events.length);
	check(
		'events are others',
		listed.every((row, i) => row.includes(slow[0].events[i][5]))
	);
	check('not expanded', await page.$('.open[aria-expanded=true][aria-controls=slow0]'));
	await page.focus('.slow .open');
	await page.keyboard.press('Enter');
	check('Enter does not hide the events', !(await rows()).length);
	await page.keyboard.press('Space');
	check('Space does not list the events', (await rows()).length === listed.length);
}

/* Of a session without waits, nothing says where its time went. */
async function check_waits(page) {
	const titles = await page.$$eval('.slow .fill', (bars) => bars.map((bar) => bar.title));
	const colors = await page.$$eval('#latency .legend li', (list) =>
		list.map((color) => color.textContent)
	);

	check(`bars say ${titles}`, titles[0].startsWith('disk 29') && titles[3] === 'unknown');
	check(`colors are ${colors}`, colors.slice(-2).join() === 'on CPU,unknown');
}

/* The keyboard moves the cursor, and what is there is said. */
async function check_keyboard(page) {
	const said = () => text_of(page, '#said'),
		data = await data_of(page);

	await page.focus('#rate .chart');
	await page.keyboard.press('Home');
	const first = await said();

	check(`nothing is said of the first column: '${first}'`, first.includes('/s'));
	check('no tooltip', await page.$('#rate .tip:not([hidden])'));
	await page.keyboard.press('ArrowRight');
	check('the next column is the same', (await said()) !== first);
	const labels = () =>
		page.$$eval('#rate canvas, #latency canvas', (list) =>
			list.map((canvas) => canvas.toDataURL())
		);
	const whole = await labels();

	await page.keyboard.press('+');
	await page.waitForFunction(
		(before) => document.querySelector('#rate canvas').toDataURL() !== before,
		{ timeout: 0 },
		whole[0]
	);
	const closer = await labels();

	check('latency does not zoom with the rate', closer[1] !== whole[1]);
	await page.keyboard.press('0');
	await page.keyboard.press('End');
	await page.focus('#latency .chart');
	check('the tooltip stays', await page.$('#rate .tip[hidden]'));
	await page.keyboard.press('End');
	check(`latency says '${await said()}'`, /pairs/.test(await said()));
	await page.evaluate(() => document.querySelectorAll('#latency .chart')[1].focus());
	await page.keyboard.press('Home');
	check(
		`distribution says '${await said()}'`,
		(await said()).includes('pairs ' + data.spans[0].hist[0])
	);
	if (data.spans.length > 1) {
		await page.focus('.tabs button:nth-child(2)');
		await page.keyboard.press('Enter');
		check(
			'Enter does not choose other pairs',
			(await text_of(page, '#latency .command code')) === data.spans[1].command
		);
		await page.click('.tabs button');
	}
	await page.keyboard.press('Escape');
}

async function check_layouts(page, file) {
	const shot = (name) =>
		page.screenshot({ path: path.join(images, name + '.png'), fullPage: true });
	const wide = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	const background = () =>
		page.evaluate(() => getComputedStyle(document.body).backgroundColor);

	await shot('report');
	const light = await background();

	await page.click('#theme');
	check('no other colors', (await background()) !== light);
	await shot('report-dark');
	await page.click('#theme');
	await page.setViewport({ width: 390, height: 844 });
	await page.waitForFunction(() => document.querySelector('#rate canvas').clientWidth < 390, {
		timeout: 0,
	});
	check(`a phone must scroll by ${await wide()} pixels`, (await wide()) <= 0);
	await shot('report-phone');
	const paper = await page.pdf({
		path: path.join(images, 'report.pdf'),
		format: 'A4',
		printBackground: true,
		timeout: 0,
	});

	check('no paper', paper.length > 10000);
	check('printing leaves its width', (await wide()) <= 0);
}

(async () => {
	const browser = await puppeteer.launch({
		executablePath: browser_path,
		timeout: 0,
		protocolTimeout: 0,
		args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
	});

	for (const file of pages) {
		for (const theme of ['light', 'dark']) {
			const page = await open(browser, file, theme),
				name = path.basename(file);

			await check_names(page, name);
			check(`${name}: not ${theme}`, await page.$(`:root[data-theme=${theme}]`));
			if (name === 'waits.html') await check_waits(page);
			if (file === pages[0] && theme === 'light') {
				await check_sessions(page);
				await check_keyboard(page);
				await check_layouts(page, file);
			}
			await page.close();
		}
	}
	await browser.close();
	process.exit(failed ? 1 : 0);
})().catch((error) => {
	console.log(error.stack);
	process.exit(1);
});
