// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/size.h"
#include "base/text.h"

static const char letters[] = "BKMGTPE";

bool parse_size(const char *s, uint64_t *bytes)
{
	uint64_t v = 0, mul = 1, base = 1024;
	int power = 0;

	if (*s < '0' || *s > '9')
		return false;
	for (; *s >= '0' && *s <= '9'; s++) {
		if (v > (UINT64_MAX - (*s - '0')) / 10)
			return false;
		v = v * 10 + (*s - '0');
	}
	if (!strcmp(s, "s")) {
		mul = 512;
	} else if (*s && strcmp(s, "B")) {
		if (!strchr("KMGTP", *s))
			return false;
		power = (int)(strchr(letters, *s) - letters);
		if (!strcmp(s + 1, "B"))
			base = 1000;
		else if (s[1] && strcmp(s + 1, "iB"))
			return false;
		while (power--)
			mul *= base;
	}
	if (v > UINT64_MAX / mul)
		return false;
	*bytes = v * mul;
	return true;
}

/* As many decimals as three digits that say something take, and one at least. */
static int decimals(double v)
{
	int n = 1;

	for (; v > 0 && v < 9.995; v *= 10)
		n++;
	return n;
}

char *size_text(uint64_t bytes, char unit)
{
	double v = (double)bytes;
	size_t i = 0;

	if (unit == 'B')
		return xasprintf("%llu", (unsigned long long)bytes);
	if (unit) {
		for (; letters[i] != unit; i++)
			v /= 1024;
		return xasprintf("%.*f %ciB", decimals(v), v, letters[i]);
	}
	if (bytes < 1024)
		return xasprintf("%llu B", (unsigned long long)bytes);
	/* what would print as 1024.0 belongs to the next unit */
	for (; v >= 1023.95 && letters[i + 1]; i++)
		v /= 1024;
	return xasprintf("%.1f %ciB", v, letters[i]);
}

char *ns_text(uint64_t ns)
{
	if (ns < 1000)
		return xasprintf("%llu ns", (unsigned long long)ns);
	if (ns < 1000000)
		return xasprintf("%llu us", (unsigned long long)(ns / 1000));
	if (ns < 1000000000)
		return xasprintf("%.1f ms", (double)ns / 1e6);
	return xasprintf("%.1f s", (double)ns / 1e9);
}
