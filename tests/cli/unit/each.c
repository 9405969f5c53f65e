// SPDX-License-Identifier: GPL-2.0
/*
 * each LINES CODES [ARG]...: the tool for each line of a file, the arguments before its words; "STATUS LINE" of each goes
 * to CODES. All in one process: valgrind translates what they share once.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wordexp.h>

int rnbdadm_main(int argc, char **argv);

static int run(const char *line, int nargs, char **args)
{
	char **argv;
	int n = 0;
	wordexp_t w;

	if (wordexp(line, &w, WRDE_NOCMD))
		return 125;
	argv = calloc(nargs + w.we_wordc + 2, sizeof(*argv));
	argv[n++] = "rnbdadm";
	for (int i = 0; i < nargs; i++)
		argv[n++] = args[i];
	for (size_t i = 0; i < w.we_wordc; i++)
		argv[n++] = w.we_wordv[i];
	n = rnbdadm_main(n, argv);
	free(argv);
	wordfree(&w);
	return n;
}

int main(int argc, char **argv)
{
	FILE *lines = argc > 2 ? fopen(argv[1], "r") : NULL, *codes = argc > 2 ? fopen(argv[2], "w") : NULL;
	char *line = NULL;
	size_t size = 0;
	int out = dup(STDOUT_FILENO);

	if (out < 0 || !lines || !codes)
		return 2;
	while (getline(&line, &size, lines) > 0) {
		line[strcspn(line, "\n")] = '\0';
		fprintf(codes, "%d %s\n", run(line, argc - 3, argv + 3), line);
		/* its end closes it */
		if (dup2(out, STDOUT_FILENO) < 0)
			return 2;
	}
	free(line);
	fclose(lines);
	return fclose(codes) ? 2 : 0;
}
