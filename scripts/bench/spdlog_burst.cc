// SPDX-License-Identifier: GPL-2.0-only
//
// The asynchronous logger of spdlog, to compare with: see bursts.h. A message has two integers
// and a number with a fraction; a thread of spdlog writes it to a file in memory. spdlog formats
// in the thread that logs.
#include <memory>
#include <string>

#include <unistd.h>

#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>

extern "C" {
#include "bursts.h"
}

static std::shared_ptr<spdlog::logger> logger;

static void *open_log()
{
	return nullptr;
}

static void emit(void *, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		logger->info("an event with number {} of {}, {}", i, count, i * 0.5);
}

extern "C" const struct burst_log *spdlog_burst(void)
{
	static const struct burst_log log = { open_log, emit, nullptr };

	if (!logger) {
		const std::string file = "/dev/shm/elog-bench." + std::to_string(getpid());

		spdlog::init_thread_pool(1 << 18, 1);
		logger = spdlog::basic_logger_mt<spdlog::async_factory>("bench", file, true);
		unlink(file.c_str());
	}
	return &log;
}
