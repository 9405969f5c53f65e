// SPDX-License-Identifier: GPL-2.0
/* Sizes and durations, in and out. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/size.h"
#include "tap.h"

static const struct { const char *text; uint64_t bytes; } good[] = {
	{ "0", 0 }, { "1", 1 }, { "1000", 1000 }, { "010", 10 }, { "512B", 512 }, { "1s", 512 },
	{ "3s", 1536 }, { "1K", 1024 }, { "1KiB", 1024 }, { "1KB", 1000 }, { "1M", 1 << 20 },
	{ "2MiB", 2 << 20 }, { "2MB", 2000000 }, { "10G", 10ULL << 30 }, { "1GB", 1000000000 },
	{ "1T", 1ULL << 40 }, { "1TiB", 1ULL << 40 }, { "1P", 1ULL << 50 },
	{ "16383P", 16383ULL << 50 }, { "18446744073709551615", UINT64_MAX },
	{ "9223372036854775808", 1ULL << 63 },
};

static const char *const bad[] = {
	"", "K", "-1", "+1", " 1", "1 ", "1k", "1g", "1b", "1KK", "1Ki", "1KIB", "1iB", "0x10", "1.5G",
	"1e3", "18446744073709551616", "16384P", "99999999999999999999999", "1E", "1S", "G1", "1GiBB",
};

static const struct { uint64_t bytes; char unit; const char *text; } out[] = {
	{ 0, 0, "0 B" }, { 1023, 0, "1023 B" }, { 1024, 0, "1.0 KiB" }, { 1536, 0, "1.5 KiB" },
	{ 64ULL << 20, 0, "64.0 MiB" }, { 20ULL << 30, 0, "20.0 GiB" }, { 1ULL << 40, 0, "1.0 TiB" },
	{ (1 << 20) - 1, 0, "1.0 MiB" }, { 1048524, 0, "1023.9 KiB" }, { UINT64_MAX, 0, "16.0 EiB" },
	{ 123373486080ULL, 0, "114.9 GiB" }, { 1ULL << 30, 'B', "1073741824" },
	{ 1ULL << 30, 'K', "1048576.0 KiB" }, { 1ULL << 30, 'M', "1024.0 MiB" }, { 1ULL << 30, 'G', "1.00 GiB" },
	{ 20ULL << 30, 'G', "20.0 GiB" }, { 1ULL << 30, 'T', "0.000977 TiB" }, { 20ULL << 30, 'T', "0.0195 TiB" },
	{ 512, 'T', "0.000000000466 TiB" }, { 1, 'T', "0.000000000000909 TiB" }, { 0, 'T', "0.0 TiB" }, { 0, 'K', "0.0 KiB" },
	{ 1024, 'M', "0.000977 MiB" }, { 10239, 'K', "10.0 KiB" }, { (1 << 20) - 1, 'M', "1.00 MiB" },
	{ UINT64_MAX, 'B', "18446744073709551615" },
};

static const struct { uint64_t ns; const char *text; } times[] = {
	{ 0, "0 ns" }, { 999, "999 ns" }, { 42110, "42 us" }, { 999999, "999 us" }, { 1500000, "1.5 ms" },
	{ 2500000000, "2.5 s" },
};

int main(void)
{
	uint64_t v;
	char *s;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		v = 1;
		ok(parse_size(good[i].text, &v) && v == good[i].bytes, "'%s' is %" PRIu64, good[i].text,
		   good[i].bytes);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ok(!parse_size(bad[i], &v), "'%s' is no size", bad[i]);
	for (size_t i = 0; i < sizeof(out) / sizeof(*out); i++) {
		s = size_text(out[i].bytes, out[i].unit);
		ok(!strcmp(s, out[i].text), "%" PRIu64 " in %c is '%s', not '%s'", out[i].bytes,
		   out[i].unit ? out[i].unit : '-', out[i].text, s);
		free(s);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		s = ns_text(times[i].ns);
		ok(!strcmp(s, times[i].text), "%" PRIu64 " ns is '%s'", times[i].ns, s);
		free(s);
	}
	return tap_done();
}
